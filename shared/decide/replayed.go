package decide

import (
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Replayed stands for what a request of the past had: the conditions of a route
// look at what is recorded of it, and its subject is known by a hash.
type Replayed struct {
	Inputs  []RecordedInput
	Subject uint64
	Hider   condition.Hider // that hid the texts
}

// Replay gives an input what is recorded of a request. What the record of any
// request has (its model, surface and seed) and the key's facts are not in it.
func (in *Input) Replay(r *Recollection, hider condition.Hider) {
	in.Replayed = &Replayed{Inputs: r.Inputs, Subject: r.Subject, Hider: hider}
	if u := r.Usage; u != nil {
		in.Usage = flow.Usage{Daily: u.Daily.bucket(), Weekly: u.Weekly.bucket(), Monthly: u.Monthly.bucket()}
	}
	if q, f := r.Request, &in.Facts; q != nil {
		f.Models, f.Provider, f.Parameters, f.Needs = q.Models, q.Provider, q.Parameters, q.Needs
		f.Routing = RoutingFields{Mode: q.Mode, SessionAffinity: q.Affinity, MaxAttempts: q.MaxAttempts}
		f.Timeouts = policy.Timeouts{FirstByte: q.FirstByte}
		f.InputTokens, f.OutputTokens = q.InputTokens, q.OutputTokens
	}
}

func (b *RecordedBucket) bucket() flow.Bucket {
	if b == nil {
		return flow.Bucket{}
	}
	return flow.Bucket{Known: true, Requests: b.Requests, Cost: b.Cost}
}

// Has reports whether there is an entry for an input, if only that nothing was
// there.
func (r *Replayed) Has(input flow.Input) bool {
	_, ok := r.find(input)
	return ok
}

func (r *Replayed) find(input flow.Input) (*RecordedInput, bool) {
	for i := range r.Inputs {
		if r.Inputs[i].Input == input {
			return &r.Inputs[i], true
		}
	}
	return nil, false
}

// replayedFacts is requestFacts of a request of the past.
type replayedFacts struct{ live requestFacts }

// Look implements condition.Facts.
func (f *replayedFacts) Look(s condition.Source, path string) []condition.Value {
	if s == condition.Model || s == condition.Endpoint {
		return f.live.Look(s, path)
	}
	input, ok := f.live.in.Replayed.find(flow.Input{Source: s, Path: path})
	if !ok {
		return []condition.Value{condition.Unrecorded()}
	}
	values := make([]condition.Value, len(input.Values))
	for i := range input.Values {
		values[i] = input.Values[i].Value
	}
	return values
}

// replay is walk for a request of the past.
func (w *walker) replay(name string) *walk {
	past := &replayedFacts{live: requestFacts{in: w.request.in, model: name}}
	w.facts.Request = past
	to := &walk{trace: w.trace}
	to.action, to.trace.Nodes, to.unknownAt = w.version.Program.Replay(&w.facts, past.live.in.Replayed.Hider, make([]string, 0, w.version.Nodes))
	to.set = routingOf(&to.action, &past.live.in.Facts)
	return to
}

// unknown ends a decision where the way through the route cannot be known.
func (d *decision) unknown(node string) Plan {
	d.plan.Chain, d.plan.UnknownAt = nil, node
	return d.plan
}
