package decide

import (
	"encoding/json"
	"fmt"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bounds of the parts that Decide writes. What comes later (attempts, usage,
// cost, limits) has the rest of MaxRecordBytes.
const (
	maxDecidedBytes = 11 << 10
	maxExclusions   = 128
	maxFieldValue   = 200
	maxClip         = 128
)

// record appends the candidates of a model to the record.
func (d *decision) record(m *catalog.Model, pool []*ranked, how order) {
	r := &d.plan.Record
	room := MaxRecordCandidates - len(r.Candidates)
	if len(pool) > room {
		d.omitted += len(pool) - room
		pool = pool[:room]
	}
	scored := min(len(pool), max(0, MaxScoredCandidates-len(r.Candidates)))
	factors := make([]Factor, 0, scored*maxFactors)
	for i := range pool {
		c := pool[i]
		entry := RankedCandidate{
			Model: m.ID, Endpoint: c.offer.Endpoint.ID, Provider: c.offer.Provider.Slug, Rank: i,
			Score: c.score, Share: c.share, Deranked: c.offer.Endpoint.Derank > 0, Cooling: c.cooling,
		}
		if i < scored {
			start := len(factors)
			factors = appendFactors(factors, c, how.mode)
			entry.Factors = factors[start:len(factors):len(factors)]
		}
		r.Candidates = append(r.Candidates, entry)
	}
}

const maxFactors = 4

// appendFactors lists what the score was made of, and beside it what was
// known and did not count.
func appendFactors(to []Factor, c *ranked, mode policy.Mode) []Factor {
	priced := mode == policy.Balanced || mode == policy.Price
	to = append(to, Factor{Name: "spend", Input: c.spend, Unit: "nano_usd", Contribution: counted(c.spend, priced), Context: !priced})
	if c.health.Calls > 0 {
		used := mode == policy.Balanced
		to = append(to, Factor{Name: "success", Input: success(&c.health), Unit: "share", Contribution: counted(c.score-c.spend, used), Context: !used})
	}
	if c.health.FirstByte > 0 {
		used := mode == policy.Latency
		to = append(to, Factor{Name: "first_byte", Input: c.health.FirstByte.Seconds(), Unit: "s", Contribution: counted(c.score, used), Context: !used})
	}
	if c.health.Throughput > 0 {
		used := mode == policy.Throughput
		to = append(to, Factor{Name: "throughput", Input: c.health.Throughput, Unit: "tokens/s", Contribution: counted(c.score, used), Context: !used})
	}
	return to
}

func counted(value float64, used bool) float64 {
	if used {
		return value
	}
	return 0
}

// bound drops the least telling entries until the record fits: factors of
// the last candidates first, then exclusions, then candidates. Sizes are
// upper estimates of the JSON, so that nothing is encoded twice.
func (d *decision) bound() {
	r := &d.plan.Record
	r.Truncated = d.omitted
	size := fixedSize(r)
	for i := range r.Exclusions {
		size += exclusionSize(&r.Exclusions[i])
	}
	for i := range r.Candidates {
		size += candidateSize(&r.Candidates[i])
	}
	for i := len(r.Candidates) - 1; i > 0 && size > maxDecidedBytes; i-- {
		size -= len(r.Candidates[i].Factors) * factorSize
		r.Candidates[i].Factors = nil
	}
	for n := len(r.Exclusions); n > 8 && size > maxDecidedBytes; n-- {
		size -= exclusionSize(&r.Exclusions[n-1])
		r.Exclusions, r.Truncated = r.Exclusions[:n-1], r.Truncated+1
	}
	for n := len(r.Candidates); n > 1 && size > maxDecidedBytes; n-- {
		size -= candidateSize(&r.Candidates[n-1])
		r.Candidates, r.Truncated = r.Candidates[:n-1], r.Truncated+1
	}
}

// Upper estimates: member names, punctuation and numbers of each entry. Ids
// and slugs need no escapes.
const (
	factorSize    = 190
	entrySize     = 170
	exclusionBase = 60
)

func candidateSize(c *RankedCandidate) int {
	return entrySize + len(c.Model) + len(c.Endpoint) + len(c.Provider) + len(c.Factors)*factorSize
}

func exclusionSize(x *Exclusion) int {
	return exclusionBase + len(x.Model) + len(x.Endpoint) + len(x.Stage) + len(x.Reason)
}

func fixedSize(r *Record) int {
	size := 1200 + len(r.RequestedModel) + len(r.DecidedModel) + len(r.DecidedProvider) + len(r.DecidedUpstream)
	for _, f := range r.Policy {
		size += 40 + len(f.Field) + len(f.Rung) + len(f.Value)
	}
	for _, id := range r.Chain {
		size += 3 + len(id)
	}
	for _, text := range r.Degraded {
		size += 3 + len(text)
	}
	return size
}

// Encode writes the record within MaxRecordBytes. What Decide wrote fits
// anyway; a long list of attempts may cost candidates and exclusions.
func (r Record) Encode() (json.RawMessage, error) {
	r.ServedModel, r.ServedProvider = clip(r.ServedModel), clip(r.ServedProvider)
	for {
		body, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode decision record: %w", err)
		}
		if len(body) <= MaxRecordBytes || !r.shrink() {
			return body, nil
		}
	}
}

// shrink drops a part of the record; false means that nothing is left to drop.
// It works on a copy: slices are cut, never written.
func (r *Record) shrink() bool {
	halve := func(n int) int { r.Truncated += n - n/2; return n / 2 }
	switch {
	case len(r.Exclusions) > 0:
		r.Exclusions = r.Exclusions[:halve(len(r.Exclusions))]
	case len(r.Candidates) > 0:
		r.Candidates = r.Candidates[:halve(len(r.Candidates))]
	case len(r.Attempts) > 1:
		r.Attempts = r.Attempts[:halve(len(r.Attempts))]
	case len(r.Limits) > 0:
		r.Limits = r.Limits[:halve(len(r.Limits))]
	case len(r.Policy) > 0:
		r.Policy = r.Policy[:halve(len(r.Policy))]
	default:
		return false
	}
	return true
}

// clip keeps a name that came from outside short and free of anything that
// JSON would escape.
func clip(text string) string {
	if len(text) > maxClip {
		text = text[:maxClip]
	}
	for i := range len(text) {
		if !plain(text[i]) {
			return replaced(text)
		}
	}
	return text
}

func replaced(text string) string {
	out := []byte(text)
	for i, c := range out {
		if !plain(c) {
			out[i] = '?'
		}
	}
	return string(out)
}

func plain(c byte) bool {
	return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}
