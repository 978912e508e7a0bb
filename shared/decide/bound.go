package decide

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Bounds of the parts that Decide writes. What comes later (attempts, usage,
// cost, limits) has the rest of MaxRecordBytes.
const (
	maxDecidedBytes = 12 << 10
	maxExclusions   = 128
	maxFieldValue   = 200
	maxClip         = 128
)

// record appends the candidates of a model to the record.
func (d *decision) record(m *catalog.Model, pool []*ranked, how *scale) {
	r := &d.plan.Record
	room := MaxRecordCandidates - len(r.Candidates)
	if len(pool) > room {
		d.omitted += len(pool) - room
		pool = pool[:room]
	}
	scored := min(len(pool), max(0, MaxScoredCandidates-len(r.Candidates)))
	if scored > 0 {
		r.Rankings = append(r.Rankings, how.trace(m.ID))
	}
	factors := make([]Factor, 0, scored*maxFactors)
	r.Candidates = slices.Grow(r.Candidates, len(pool))
	for i, c := range pool {
		entry := RankedCandidate{
			Model: m.ID, Endpoint: c.offer.Endpoint.ID, Provider: c.offer.Provider.Slug, Rank: i, Score: rounded(c.score),
			Listed: c.listed < len(d.prefer.listed.value.providers), Deranked: c.offer.Endpoint.Derank > 0, Cooling: c.cooling,
			Pinned: c.pinned, FirstParty: c.firstParty, Missed: c.missed,
		}
		if c.tier == pool[0].tier {
			entry.Share = rounded(c.share)
		}
		if i < scored {
			start := len(factors)
			if len(d.weights) > 0 && !how.fixed {
				factors = append(factors, Factor{Name: FactorWeight, Input: rounded(c.weight)})
			}
			factors = how.appendFactors(factors, c)
			entry.Factors = factors[start:len(factors):len(factors)]
		}
		r.Candidates = append(r.Candidates, entry)
	}
}

// bound drops the least telling entries until the record fits: first what did
// not count, of the last candidates, then their factors, then exclusions, then
// candidates. Sizes are upper estimates of the JSON, so that nothing is encoded
// twice.
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
		c := &r.Candidates[i]
		counted := len(c.Factors)
		for counted > 0 && c.Factors[counted-1].Context {
			counted--
		}
		size -= factorsSize(c.Factors[counted:])
		c.Factors = c.Factors[:counted]
	}
	for size > maxDecidedBytes {
		saved := r.Auto.shrink()
		if saved == 0 {
			break
		}
		size, r.Truncated = size-saved, r.Truncated+1
	}
	for i := len(r.Candidates) - 1; i > 0 && size > maxDecidedBytes; i-- {
		size -= factorsSize(r.Candidates[i].Factors)
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
	for n := len(r.Policy); n > 0 && size > maxDecidedBytes; n-- {
		f := &r.Policy[n-1]
		size -= f.size()
		r.Policy, r.Truncated = r.Policy[:n-1], r.Truncated+1
	}
}

// Upper estimates: member names, punctuation and numbers of each entry. Ids
// and slugs need no escapes.
const (
	entrySize     = 130 // without the flags that are rarely set
	flagSize      = 25
	rankingSize   = 230
	routeSize     = 160
	affinitySize  = 560 // an endpoint that the conversation moves to included
	exclusionBase = 60
)

func candidateSize(c *RankedCandidate) int {
	size := entrySize + len(c.Model) + len(c.Endpoint) + len(c.Provider) + factorsSize(c.Factors)
	for _, set := range [...]bool{c.Listed, c.Pinned, c.Deranked, c.Cooling, c.FirstParty, c.Missed} {
		if set {
			size += flagSize
		}
	}
	return size
}

func factorsSize(factors []Factor) int {
	size := 0
	for i := range factors {
		f := &factors[i]
		size += len(`{"name":"","input":,"unit":""},`) + len(f.Name) + len(f.Unit) + numberSize(f.Input)
		if f.Weight != 0 {
			size += len(`,"weight":`) + numberSize(f.Weight)
		}
		if f.Contribution != 0 {
			size += len(`,"contribution":`) + numberSize(f.Contribution)
		}
		if f.Multiplier != 0 {
			size += len(`,"multiplier":`) + numberSize(f.Multiplier)
		}
		if f.Surcharge != 0 {
			size += len(`,"surcharge":`) + numberSize(f.Surcharge)
		}
		if f.Context {
			size += len(`,"context":true`)
		}
		if f.Assumed {
			size += len(`,"assumed":true`)
		}
	}
	return size
}

// numberSize is of a rounded number that is not negative.
func numberSize(v float64) int {
	switch {
	case v == float64(int(v)) && v < 1000:
		return 3
	case v < 1000:
		return len("999.999999")
	}
	n := 4
	for ; v >= 10_000; v /= 10 {
		n++
	}
	return n
}

func exclusionSize(x *Exclusion) int {
	size := exclusionBase + len(x.Model) + len(x.Endpoint) + len(x.Stage) + len(x.Reason)
	if x.Rung != "" {
		size += len(`,"rung":""`) + len(x.Rung)
	}
	if x.Guardrail != "" {
		size += len(`,"guardrail":""`) + len(x.Guardrail)
	}
	return size
}

func fixedSize(r *Record) int {
	size := 1200 + len(r.Recollection) + len(r.RequestedModel) + len(r.DecidedModel) + len(r.DecidedProvider) + len(r.DecidedUpstream)
	if a := r.Affinity; a != nil {
		size += affinitySize + len(a.Endpoint) + len(a.Model)
	}
	if t := r.Route; t != nil {
		size += routeSize
		for _, node := range t.Nodes {
			size += 3 + len(node)
		}
	}
	for i := range r.Policy {
		size += r.Policy[i].size()
	}
	for _, id := range r.Chain {
		size += 3 + len(id)
	}
	for i := range r.Rankings {
		size += rankingSize + len(r.Rankings[i].Model)
	}
	for _, text := range r.Degraded {
		size += 3 + len(text)
	}
	return size + r.Auto.size()
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
	case r.Auto != nil && len(r.Auto.Candidates) > 1:
		shorter := *r.Auto
		shorter.Candidates = shorter.Candidates[:halve(len(shorter.Candidates))]
		r.Auto = &shorter
	case len(r.Attempts) > 1:
		r.Attempts = r.Attempts[:halve(len(r.Attempts))]
	case len(r.Limits) > 0:
		r.Limits = r.Limits[:halve(len(r.Limits))]
	case len(r.Policy) > 0:
		r.Policy = r.Policy[:halve(len(r.Policy))]
	case r.Recollection != nil:
		r.Recollection = nil
		r.Truncated++
	default:
		return false
	}
	return true
}

// Recorded is a name that a caller wrote, as records show it.
func Recorded(name string) string { return clip(name) }

// clip keeps a name that came from outside short and free of anything that
// JSON would escape.
func clip(text string) string { return clipTo(text, maxClip) }

func clipTo(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
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
