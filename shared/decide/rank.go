package decide

import (
	"cmp"
	"math"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ranked is a candidate with what its place depends on.
type ranked struct {
	offer      *catalog.Offer
	health     EndpointHealth
	cooling    bool // open or cooling down: after all others
	listed     int  // place in provider.order, or its length
	missed     bool // a stated latency or throughput preference is known to be missed
	firstParty bool
	spend      float64 // nano-USD expected
	score      float64 // lower is better
	share      float64 // of being first among its equals
}

// rank puts the pool in the order in which it is tried and reports whether a
// draw had a part in it.
func (d *decision) rank(pool []*ranked, how order) (sampled bool) {
	for i := range pool {
		d.measure(pool[i])
	}
	fillNeutral(pool, func(r *ranked) *float64 { return &r.spend })
	for i := range pool {
		pool[i].score = score(pool[i], how.mode)
	}
	fillNeutral(pool, func(r *ranked) *float64 { return &r.score })
	slices.SortFunc(pool, func(a, b *ranked) int {
		if c := compare(a, b); c != 0 {
			return c
		}
		return cmp.Compare(a.offer.Endpoint.ID, b.offer.Endpoint.ID)
	})
	return d.drawTies(pool, how.fixed)
}

// compare orders by everything but the draw.
func compare(a, b *ranked) int {
	switch {
	case a.cooling != b.cooling:
		return before(b.cooling)
	case a.listed != b.listed:
		return a.listed - b.listed
	case a.offer.Endpoint.Derank != b.offer.Endpoint.Derank:
		return a.offer.Endpoint.Derank - b.offer.Endpoint.Derank
	case a.firstParty != b.firstParty:
		return before(a.firstParty)
	case a.missed != b.missed:
		return before(b.missed)
	case a.score != b.score:
		return cmp.Compare(a.score, b.score)
	}
	return cmp.Compare(a.spend, b.spend)
}

func before(first bool) int {
	if first {
		return -1
	}
	return 1
}

// drawTies orders equals by the seed, unless the order has to be the same for
// every seed.
func (d *decision) drawTies(pool []*ranked, fixed bool) (sampled bool) {
	for start := 0; start < len(pool); {
		end := start + 1
		for end < len(pool) && compare(pool[start], pool[end]) == 0 {
			end++
		}
		if group := pool[start:end]; len(group) > 1 && !fixed {
			sampled = true
			slices.SortFunc(group, func(a, b *ranked) int {
				return cmp.Compare(draw(d.in.Seed, a.offer.Endpoint.ID), draw(d.in.Seed, b.offer.Endpoint.ID))
			})
			if start == 0 {
				for i := range group {
					group[i].share = 1 / float64(len(group))
				}
			}
		}
		start = end
	}
	return sampled
}

// measure looks up all that ranking reads of one candidate.
func (d *decision) measure(r *ranked) {
	f := &d.in.Facts
	if d.in.Health != nil {
		r.health = d.in.Health.Endpoint(r.offer.Endpoint.ID)
	}
	r.cooling = r.health.Open || r.health.CoolingUntil.After(f.Now)
	r.listed = len(d.order)
	if i := slices.Index(d.order, r.offer.Provider); i >= 0 {
		r.listed = i
	}
	r.firstParty = d.firstParty(r.offer)
	late := f.Provider.PreferredMaxLatency > 0 && r.health.FirstByte > f.Provider.PreferredMaxLatency
	slow := r.health.Throughput > 0 && r.health.Throughput < f.Provider.PreferredMinThroughput
	r.missed = late || slow
	r.spend = spend(f, r.offer.Endpoint.Price)
}

// firstParty: an Anthropic model goes to Anthropic first, unless the caller
// has said anything about providers that bears on it.
func (d *decision) firstParty(o *catalog.Offer) bool {
	const author = "anthropic"
	return o.Model.Author == author && o.Provider.Slug == author && len(d.order) == 0 && len(d.only) == 0
}

func score(r *ranked, mode policy.Mode) float64 {
	switch mode {
	case policy.Price:
		return r.spend
	case policy.Latency:
		if r.health.FirstByte <= 0 {
			return math.NaN()
		}
		return r.health.FirstByte.Seconds()
	case policy.Throughput:
		if r.health.Throughput <= 0 {
			return math.NaN()
		}
		return 1 / r.health.Throughput
	default: // balanced
		return r.spend / success(&r.health)
	}
}

// fillNeutral replaces what is not known by the median of what is, or by zero
// when nothing is.
func fillNeutral(pool []*ranked, at func(*ranked) *float64) {
	var storage [32]float64
	known, missing := storage[:0], false
	for i := range pool {
		if v := *at(pool[i]); math.IsNaN(v) {
			missing = true
		} else {
			known = append(known, v)
		}
	}
	if !missing {
		return
	}
	median := 0.0
	if len(known) > 0 {
		slices.Sort(known)
		median = known[(len(known)-1)/2]
	}
	for i := range pool {
		if v := at(pool[i]); math.IsNaN(*v) {
			*v = median
		}
	}
}
