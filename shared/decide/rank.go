package decide

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// ranked is a candidate with what its place depends on.
type ranked struct {
	offer      *catalog.Offer
	health     EndpointHealth
	cooling    bool // open or cooling down: after all others
	listed     int  // place in provider.order, or its length; behind that, turn
	turn       int  // of the rule's target that it is for, from 0
	credential catalog.Credential
	missed     bool // a stated latency or throughput preference is known to be missed
	pinned     bool // the conversation's turns go there
	firstParty bool
	tier       uint32  // those of a lower one are tried first
	spend      float64 // tokens(e), nano-USD expected
	unpriced   bool    // spend is a stand-in
	score      float64 // lower is better
	tie        float64 // decides between equal scores in a fixed order
	share      float64 // of being first in its tier
	weight     float64 // by which a preset multiplied that; 0 where it did not
	arrival    float64 // in the draw
}

// rank puts the pool in the order in which it is tried, and reports by what
// scale and whether a draw had a part in it. Tiers come first: what is open or
// cooling goes last, then provider.order, the conversation's pin, deranked
// endpoints, the first-party rule and stated preferences decide, and only then
// the score.
func (d *decision) rank(pool []*ranked, how order) (s scale, sampled bool) {
	for _, r := range pool {
		d.measure(r)
	}
	d.favor(pool, how)
	f := &d.in.Facts
	s = scale{order: how, surface: f.Surface, sizes: d.sizesOf(pool), request: d.inputTokens()}
	d.priceAll(s.sizes, pool)
	s.cheapest = cheapest(pool)
	drawn := s
	drawn.fixed = false
	for _, r := range pool {
		r.score = s.score(r)
		if how.fixed {
			r.tie = drawn.score(r)
		}
	}
	slices.SortFunc(pool, byScore)
	s.tied = tied(pool)
	for rest := pool; len(rest) > 0; {
		group := rest[:tied(rest)]
		rest = rest[len(group):]
		if how.fixed {
			group[0].share = 1
			continue
		}
		shares(group)
		d.weigh(group)
		if len(group) > 1 {
			sampled = true
			d.draw(group)
		}
	}
	return s, sampled
}

// tied counts the candidates in the tier of the first.
func tied(pool []*ranked) int {
	n := 1
	for n < len(pool) && pool[n].tier == pool[0].tier {
		n++
	}
	return n
}

// byScore orders by tier and score, and equals by id, so that nothing depends
// on the order of the catalog.
func byScore(a, b *ranked) int {
	switch {
	case a.tier != b.tier:
		return cmp.Compare(a.tier, b.tier)
	case a.score != b.score:
		return cmp.Compare(a.score, b.score)
	case a.tie != b.tie:
		return cmp.Compare(a.tie, b.tie)
	}
	return cmp.Compare(a.offer.Endpoint.ID, b.offer.Endpoint.ID)
}

// draw puts a group in the order of their arrivals.
func (d *decision) draw(group []*ranked) {
	for _, r := range group {
		r.arrival = arrival(d.in.Seed, r.offer.Endpoint.ID, r.share)
	}
	slices.SortFunc(group, func(a, b *ranked) int {
		if a.arrival != b.arrival {
			return cmp.Compare(a.arrival, b.arrival)
		}
		return cmp.Compare(a.offer.Endpoint.ID, b.offer.Endpoint.ID)
	})
}

// measure looks up all that ranking reads of one candidate.
func (d *decision) measure(r *ranked) {
	f := &d.in.Facts
	if d.in.Health != nil {
		r.health = believable(d.in.Health.Endpoint(r.offer.Endpoint.ID))
	}
	r.cooling = r.health.Open || r.health.CoolingUntil.After(f.Now)
	r.listed = len(d.prefer.listed.value.providers) + r.turn
	if i := slices.Index(d.prefer.listed.value.providers, r.offer.Provider); i >= 0 {
		r.listed = i
	}
	r.firstParty = d.firstParty(r.offer)
	late := d.prefer.maxLatency.value > 0 && r.health.FirstByte > d.prefer.maxLatency.value
	slow := r.health.Throughput > 0 && r.health.Throughput < d.prefer.minThroughput.value
	r.missed = late || slow
	r.tier = bit(r.cooling)<<24 | uint32(r.listed)<<8 | unpinned | uint32(r.offer.Endpoint.Derank)<<2 | bit(!r.firstParty)<<1 | bit(r.missed)
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// firstParty: an Anthropic model goes to Anthropic first, unless a rung
// says anything about providers that bears on it.
func (d *decision) firstParty(o *catalog.Offer) bool {
	const author = "anthropic"
	return o.Model.Author == author && o.Provider.Slug == author && len(d.prefer.listed.value.providers) == 0 && len(d.restrictions.only) == 0
}

// cheapest is the least that a priced candidate is expected to cost.
func cheapest(pool []*ranked) float64 {
	least, found := 0.0, false
	for _, r := range pool {
		if !r.unpriced && (!found || r.spend < least) {
			least, found = r.spend, true
		}
	}
	return least
}
