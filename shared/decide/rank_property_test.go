package decide_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// digits is what the record's rounding may change.
const digits = 2e-6

// contest is a model at n endpoints that nothing excludes, and a request.
type contest struct {
	*world
	facts decide.Facts
}

func (c *contest) endpoints() []catalog.Endpoint { return c.catalog.Models[0].Endpoints }

func anyContest(t *rapid.T) *contest {
	c := &contest{world: &world{settings: policy.DefaultSettings(), health: health{}, catalog: catalog.Catalog{Schema: catalog.Schema}}}
	c.facts = decide.Facts{
		Model: "acme/m", InputTokens: rapid.SampledFrom([]int64{0, 20, 4000}).Draw(t, "input"),
		Surface: rapid.SampledFrom([]catalog.Surface{catalog.Chat, catalog.Messages, catalog.Embeddings}).Draw(t, "surface"),
		Routing: decide.RoutingFields{Mode: rapid.SampledFrom([]policy.Mode{"", policy.Price, policy.Latency, policy.Throughput}).Draw(t, "mode")},
	}
	m := catalog.Model{ID: "acme/m", Author: "acme", Context: 100_000}
	surfaces := []catalog.Surface{catalog.Chat, catalog.Messages, catalog.Embeddings}
	for i := range rapid.IntRange(1, 12).Draw(t, "endpoints") {
		slug := fmt.Sprintf("p%d", i)
		c.catalog.Providers = append(c.catalog.Providers, provider(slug, nil))
		e := catalog.Endpoint{ID: catalog.EndpointID(slug, m.ID, ""), Provider: slug, UpstreamModel: "x", Surfaces: surfaces}
		in, out := anyPrice(t, "input"), anyPrice(t, "output")
		cached := in / money.PerMillion(rapid.Int64Range(1, 10).Draw(t, "cached"))
		e.Price = &catalog.Price{Input: &in, Output: &out, CachedInput: &cached}
		m.Endpoints = append(m.Endpoints, e)
		c.health[e.ID] = anyHealth(t)
	}
	c.catalog.Models = []catalog.Model{m}
	return c
}

func anyPrice(t *rapid.T, label string) money.PerMillion {
	return money.PerMillion(rapid.SampledFrom([]int64{0, 1, 50, 900, 1100, 75_000}).Draw(t, label)) * 1e6
}

func anyHealth(t *rapid.T) decide.EndpointHealth {
	h := decide.EndpointHealth{Calls: rapid.Int64Range(0, 500).Draw(t, "calls"), Recent: rapid.Int64Range(0, 50).Draw(t, "recent")}
	h.Success = rapid.Float64Range(0, 1).Draw(t, "success")
	h.FirstByte = time.Duration(rapid.SampledFrom([]int64{0, 50, 700, 30_000}).Draw(t, "first byte")) * time.Millisecond
	h.FirstByteP95 = h.FirstByte * time.Duration(rapid.Int64Range(0, 5).Draw(t, "tail"))
	h.Throughput = rapid.SampledFrom([]float64{0, 1, 40, 300}).Draw(t, "throughput")
	h.InputTokens = rapid.Int64Range(0, 20_000).Draw(t, "typical input")
	h.OutputTokens = rapid.Int64Range(0, 2_000).Draw(t, "typical output")
	h.CacheHit = rapid.Float64Range(0, 1).Draw(t, "cache hit")
	h.Errors = rapid.Float64Range(0, 1).Draw(t, "errors")
	h.RateLimited = rapid.Float64Range(0, 1-h.Errors).Draw(t, "rate limited")
	return h
}

func (c *contest) plan(t require.TestingT, seed uint64) decide.Plan {
	in := c.input(t, c.facts)
	in.Seed = seed
	plan := decide.Decide(in)
	require.Nil(t, plan.Refusal)
	return plan
}

func TestSharesAddUpAndNoneIsBelowTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		seed := rapid.Uint64().Draw(t, "seed")
		plan := c.plan(t, seed)
		sum := 0.0
		for _, share := range sharesOf(plan) {
			require.GreaterOrEqual(t, share, 0.02-digits)
			sum += share
		}
		require.InDelta(t, 1, sum, digits*12)
		require.Equal(t, plan, c.plan(t, seed), "the same input gives the same plan")
	})
}

func TestEqualEndpointsHaveEqualShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		e := c.endpoints()
		for i := range e {
			e[i].Price = e[0].Price
			c.health[e[i].ID] = c.health[e[0].ID]
		}
		for _, share := range sharesOf(c.plan(t, 1)) {
			require.InDelta(t, 1/float64(len(e)), share, digits)
		}
	})
}

// TestTheOrderOfTheCatalogDoesNotMatter compares whole records.
func TestTheOrderOfTheCatalogDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		seed := rapid.Uint64().Draw(t, "seed")
		if rapid.Bool().Draw(t, "fixed") {
			c.facts.Provider.Sort = rapid.SampledFrom([]policy.Mode{policy.Price, policy.Latency, policy.Throughput}).Draw(t, "sort")
		}
		before := c.plan(t, seed).Record
		slices.Reverse(c.catalog.Providers)
		slices.Reverse(c.endpoints())
		require.Equal(t, before, c.plan(t, seed).Record)
	})
}

// TestBetterNeverMeansLess improves one endpoint in one way.
func TestBetterNeverMeansLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		e := &c.endpoints()[rapid.IntRange(0, len(c.endpoints())-1).Draw(t, "which")]
		before := sharesOf(c.plan(t, 1))[e.Provider]
		h := c.health[e.ID]
		part := rapid.Float64Range(0, 1).Draw(t, "part") // of what was bad
		way := rapid.SampledFrom([]string{"price", "first byte", "tail", "throughput", "success", "errors", "rate limits", "cache hits"}).Draw(t, "way")
		switch way {
		case "price":
			in, out, cached := cheaper(e.Price.Input, part), cheaper(e.Price.Output, part), cheaper(e.Price.CachedInput, part)
			e.Price = &catalog.Price{Input: &in, Output: &out, CachedInput: &cached}
		case "first byte":
			h.FirstByte = faster(h.FirstByte, part)
		case "tail":
			h.FirstByteP95 = faster(h.FirstByteP95, part)
		case "throughput":
			h.Throughput /= max(part, 0.001)
		case "success":
			h.Success += (1 - h.Success) * part
		case "errors":
			h.Errors *= part
		case "rate limits":
			h.RateLimited *= part
		case "cache hits":
			h.CacheHit += (1 - h.CacheHit) * part
		}
		c.health[e.ID] = h
		after := sharesOf(c.plan(t, 1))[e.Provider]
		require.GreaterOrEqual(t, after, before-digits, "better %s", way)
	})
}

func cheaper(p *money.PerMillion, part float64) money.PerMillion {
	return money.PerMillion(float64(*p) * part)
}

// faster keeps at least a moment: zero means that it is not known.
func faster(d time.Duration, part float64) time.Duration {
	if d == 0 {
		return 0
	}
	return max(time.Millisecond, time.Duration(float64(d)*part))
}

// TestPricesInOtherUnitsGiveTheSameShares: where price is weighed against
// nothing that has a price, only its proportions count.
func TestPricesInOtherUnitsGiveTheSameShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		c.facts.Surface = catalog.Embeddings
		before := sharesOf(c.plan(t, 1))
		for i := range c.endpoints() {
			p := c.endpoints()[i].Price
			for _, price := range []*money.PerMillion{p.Input, p.Output, p.CachedInput} {
				*price *= 1000
			}
		}
		for slug, share := range sharesOf(c.plan(t, 1)) {
			require.InDelta(t, before[slug], share, 1e-4)
		}
	})
}

// TestTheRecordExplainsTheScore works each score out from its factors, and
// looks for what JSON cannot say, whatever health and the catalog claim.
func TestTheRecordExplainsTheScore(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300, 5e-324, 2}
	rapid.Check(t, func(t *rapid.T) {
		c := anyContest(t)
		if rapid.Bool().Draw(t, "fixed") {
			c.facts.Provider.Sort = rapid.SampledFrom([]policy.Mode{policy.Price, policy.Latency, policy.Throughput}).Draw(t, "sort")
		}
		for i := range c.endpoints() {
			e := &c.endpoints()[i]
			h := c.health[e.ID]
			for _, field := range []*float64{&h.Success, &h.Throughput, &h.CacheHit, &h.Errors, &h.RateLimited} {
				if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
					*field = rapid.SampledFrom(odd).Draw(t, "value")
				}
			}
			for _, field := range []*int64{&h.Calls, &h.Recent, &h.InputTokens, &h.OutputTokens, (*int64)(&h.FirstByte), (*int64)(&h.FirstByteP95)} {
				if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
					*field = rapid.SampledFrom([]int64{math.MinInt64, -1, math.MaxInt64}).Draw(t, "value")
				}
			}
			c.health[e.ID] = h
			if rapid.IntRange(0, 4).Draw(t, "unpriced") == 0 {
				e.Price = nil
			}
		}
		plan := c.plan(t, 3)
		_, err := json.Marshal(plan.Record)
		require.NoError(t, err)
		for i, got := range plan.Record.Candidates {
			require.True(t, i > 6 || len(got.Factors) > 0, "%d", i)
			if len(got.Factors) == 0 {
				continue // no room, which other tests hold
			}
			sum, times, more := 0.0, 1.0, 1.0
			for _, f := range got.Factors {
				require.False(t, f.Context && (f.Contribution != 0 || f.Multiplier != 0 || f.Surcharge != 0), f.Name)
				sum += f.Contribution
				more += f.Surcharge
				if f.Multiplier != 0 {
					times *= f.Multiplier
				}
			}
			want := sum * times * more
			require.InDelta(t, want, got.Score, max(1e-5, want*1e-3))
		}
	})
}
