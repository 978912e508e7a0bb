package decide

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Recollection is what the record of a request under a dynamic route keeps, so
// that the request can be replayed through another version of the route. Record
// has it as JSON.
type Recollection struct {
	// Subject is flow.HashSubject of who percentages are drawn for.
	Subject uint64          `json:"subject,string"`
	Inputs  []RecordedInput `json:"inputs,omitempty"`
	// Omitted counts the inputs that were left out, the longest first, to stay
	// within maxRecollected.
	Omitted int            `json:"omitted,omitempty"`
	Usage   *RecordedUsage `json:"usage,omitempty"` // nil: no limit looks at it
	// Request is nil where it is too long, or has names of a form that records
	// do not show.
	Request *RecordedRequest `json:"request,omitempty"`
}

// RecordedInput is what a request had at a part of it: no values where it had
// nothing there. Texts are hidden unless the workspace wants them in clear.
type RecordedInput struct {
	flow.Input
	Values []condition.Recorded `json:"values,omitempty"`
}

// RecordedUsage is what the key had used; nil where that was not known.
type RecordedUsage struct {
	Daily   *RecordedBucket `json:"daily,omitempty"`
	Weekly  *RecordedBucket `json:"weekly,omitempty"`
	Monthly *RecordedBucket `json:"monthly,omitempty"`
}

// RecordedBucket is the usage of one window.
type RecordedBucket struct {
	Requests int64       `json:"requests"`
	Cost     money.Nanos `json:"cost_nanos"`
}

// RecordedRequest is what a request asked of routing beside its model.
type RecordedRequest struct {
	Models       []string           `json:"models,omitempty"`
	Provider     policy.Preferences `json:"provider,omitzero"`
	Mode         policy.Mode        `json:"mode,omitempty"`
	Affinity     *bool              `json:"session_affinity,omitempty"`
	MaxAttempts  int                `json:"max_attempts,omitempty"`
	FirstByte    time.Duration      `json:"first_byte_ns,omitempty"`
	Parameters   []string           `json:"parameters,omitempty"`
	Needs        []catalog.Modality `json:"needs,omitempty"`
	InputTokens  int64              `json:"input_tokens,omitempty"`
	OutputTokens int64              `json:"output_tokens,omitempty"`
}

// Bounds of a recollection as JSON, in bytes, and of the inputs looked at.
const (
	maxRecollected      = 4 << 10
	maxRecordedRequest  = 2 << 10
	recollectionFixed   = 400 // all but the request and the inputs
	maxRecordedInputs   = 128
	maxRecordedNameSize = maxClip
)

// DecodeRecollection reads what a record has of it.
func DecodeRecollection(raw []byte) (Recollection, error) {
	var r Recollection
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("decode a recollection: %w", err)
	}
	return r, nil
}

// recollect keeps what the key's route wants to have of a request.
func (d *decision) recollect() {
	in, facts := d.in, &d.in.Facts
	if in.Policy == nil || in.Replayed != nil || facts.Child || facts.Owner != "" {
		return
	}
	recording, ok := in.Policy.Recording(facts.Key.Route)
	if !ok {
		return
	}
	request, size := recordedRequest(facts)
	r := Recollection{Subject: flow.HashSubject(facts.subject()), Request: request}
	r.Inputs, r.Omitted = recordedInputs(in, recording.Reads, maxRecollected-recollectionFixed-size)
	if recording.Usage {
		r.Usage = &RecordedUsage{Daily: bucketOf(&in.Usage.Daily), Weekly: bucketOf(&in.Usage.Weekly), Monthly: bucketOf(&in.Usage.Monthly)}
	}
	d.plan.Record.Recollection, _ = json.Marshal(&r) // of values that marshal
}

// recordedInputs looks up what there is at each input, hides its texts, and
// leaves the longest out, of equals the later, until the others have room.
func recordedInputs(in *Input, reads []flow.Input, room int) (kept []RecordedInput, omitted int) {
	omitted = max(0, len(reads)-maxRecordedInputs)
	reads = reads[:len(reads)-omitted]
	clear, hider := in.Policy.Settings().ReplayValues, in.Policy.Hider()
	facts := requestFacts{in: in}
	kept = make([]RecordedInput, len(reads))
	sizes, total := make([]int, len(reads)), 0
	bySize := make([]int, len(reads))
	for i, read := range reads {
		kept[i].Input, bySize[i] = read, i
		for _, v := range facts.Look(read.Source, read.Path) {
			if !clear {
				v = hider.Hide(v)
			}
			kept[i].Values = append(kept[i].Values, condition.Recorded{Value: v})
		}
		sizes[i] = sizeOf(&kept[i])
		total += sizes[i]
	}
	slices.SortFunc(bySize, func(a, b int) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(b, a)) })
	left := make([]bool, len(reads))
	for _, longest := range bySize {
		if total <= room {
			break
		}
		left[longest], omitted = true, omitted+1
		total -= sizes[longest]
	}
	at := -1
	kept = slices.DeleteFunc(kept, func(RecordedInput) bool { at++; return left[at] })
	return kept, omitted
}

// sizeOf is what v takes as JSON, with a comma.
func sizeOf(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return maxRecollected + 1
	}
	return len(raw) + 1
}

func bucketOf(b *flow.Bucket) *RecordedBucket {
	if !b.Known {
		return nil
	}
	return &RecordedBucket{Requests: b.Requests, Cost: b.Cost}
}

// recordedRequest is what is kept of a request, and its size as JSON. It is nil
// where it cannot be kept as it is: records show names only as clip leaves them.
func recordedRequest(f *Facts) (r *RecordedRequest, size int) {
	p := &f.Provider
	for _, names := range [...][]string{{f.Model, p.Region}, f.Models, p.Order, p.Only, p.Ignore, f.Parameters} {
		for _, name := range names {
			if len(name) > maxRecordedNameSize || clip(name) != name {
				return nil, 0
			}
		}
	}
	r = &RecordedRequest{
		Models: f.Models, Provider: f.Provider, Mode: f.Routing.Mode, Affinity: f.Routing.SessionAffinity,
		MaxAttempts: f.Routing.MaxAttempts, FirstByte: f.Timeouts.FirstByte, Parameters: f.Parameters, Needs: f.Needs,
		InputTokens: f.InputTokens, OutputTokens: f.OutputTokens,
	}
	if size = sizeOf(r); size > maxRecordedRequest {
		return nil, 0
	}
	return r, size
}
