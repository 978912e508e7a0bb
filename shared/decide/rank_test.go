package decide_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// sharesOf are the shares of the first model's candidates by provider.
func sharesOf(p decide.Plan) map[string]float64 {
	out := map[string]float64{}
	for _, c := range p.Record.Candidates {
		if c.Model == p.Record.Chain[0] {
			out[c.Provider] = c.Share
		}
	}
	return out
}

// factor is a candidate's factor of that name.
func factor(t require.TestingT, p decide.Plan, endpoint, name string) decide.Factor {
	for _, c := range p.Record.Candidates {
		if c.Endpoint != endpoint {
			continue
		}
		for _, f := range c.Factors {
			if f.Name == name {
				return f
			}
		}
	}
	require.Fail(t, "no factor", "%s of %s", name, endpoint)
	return decide.Factor{}
}

// TestBalancedCost works one cost out by hand.
func TestBalancedCost(t *testing.T) {
	w := newWorld()
	price := w.model("acme/small").Endpoints[0].Price // 1 and 4 USD per million
	price.CachedInput = perMillion("0.1")
	w.health[north] = decide.EndpointHealth{
		Calls: 90, Success: 1, FirstByte: 2 * time.Second, FirstByteP95: 5 * time.Second, Throughput: 100,
		InputTokens: 3000, OutputTokens: 400, CacheHit: 0.5, Recent: 45, Errors: 0.1, RateLimited: 0.2,
	}
	w.health[south] = decide.EndpointHealth{Calls: 10, InputTokens: 1000, OutputTokens: 200} // failed every time
	plan := w.decide(t, decide.Facts{Model: "acme/small", InputTokens: 7})

	// Sizes of the model are the means of 90 and 10 calls: 2800 in, 380 out.
	require.Equal(t, []decide.Ranking{{
		Model: "acme/small", Mode: "balanced", Unit: "nano_usd", InputTokens: 2800, OutputTokens: 380, Sizes: decide.SizesMeasured,
		Concentration: 6, Floor: 0.02,
	}}, plan.Record.Rankings)
	tokens := 1400*1000.0 + 1400*100.0 + 380*4000.0
	wait := 500_000 * (2 + 0.25*(2+3.8))
	good := (90 + 9.9) / 100
	want := (tokens + wait) / good * (1 + 4*0.1*0.9 + 2*0.2*0.9)
	for _, c := range plan.Record.Candidates {
		if c.Endpoint == north {
			require.InEpsilon(t, want, c.Score, 1e-6)
		}
	}
	f := factor(t, plan, north, decide.FactorTokens)
	require.Equal(t, decide.Factor{Name: "tokens", Input: tokens, Unit: "nano_usd", Weight: 1, Contribution: tokens}, f)
	f = factor(t, plan, north, decide.FactorFirstByte)
	require.Equal(t, decide.Factor{Name: "first_byte", Input: 2, Unit: "s", Weight: 500_000, Contribution: 1_000_000}, f)
	f = factor(t, plan, north, decide.FactorTotal)
	require.Equal(t, decide.Factor{Name: "total", Input: 5.8, Unit: "s", Weight: 125_000, Contribution: 725_000}, f)
	f = factor(t, plan, north, decide.FactorSuccess)
	require.InDelta(t, 1/good, f.Multiplier, 1e-6)
	f = factor(t, plan, north, decide.FactorErrors)
	require.Equal(t, decide.Factor{Name: "errors", Input: 0.09, Unit: "share", Weight: 4, Surcharge: 0.36}, f)
	f = factor(t, plan, north, decide.FactorRateLimited)
	require.Equal(t, decide.Factor{Name: "rate_limited", Input: 0.18, Unit: "share", Weight: 2, Surcharge: 0.36}, f)

	// What was known beside it is there, and marked.
	for name, input := range map[string]float64{decide.FactorThroughput: 100, decide.FactorTail: 5, decide.FactorCacheHit: 0.5} {
		f = factor(t, plan, north, name)
		require.True(t, f.Context, name)
		require.InDelta(t, input, f.Input, 1e-9)
		require.Zero(t, f.Contribution)
	}
	require.True(t, factor(t, plan, east, decide.FactorSuccess).Assumed)
	require.True(t, factor(t, plan, east, decide.FactorFirstByte).Assumed)
	require.False(t, factor(t, plan, north, decide.FactorTotal).Assumed)
}

func TestSizesComeFromHealthThenTheRequest(t *testing.T) {
	w := newWorld()
	sizes := func(f decide.Facts) decide.Ranking {
		f.Model = "acme/small"
		return w.decide(t, f).Record.Rankings[0]
	}
	r := sizes(decide.Facts{})
	require.Equal(t, []any{decide.SizesAssumed, int64(1000), int64(500)}, []any{r.Sizes, r.InputTokens, r.OutputTokens})
	r = sizes(decide.Facts{InputTokens: 70, OutputTokens: 30})
	require.Equal(t, []any{decide.SizesOfRequest, int64(70), int64(30)}, []any{r.Sizes, r.InputTokens, r.OutputTokens})
	r = sizes(decide.Facts{InputTokens: 70, OutputTokens: 30_000})
	require.EqualValues(t, 500, r.OutputTokens, "a cap is rarely reached")
	w.health[east] = decide.EndpointHealth{Calls: 1, Success: 1, InputTokens: 9000, OutputTokens: 40}
	r = sizes(decide.Facts{InputTokens: 70, OutputTokens: 30})
	require.Equal(t, []any{decide.SizesMeasured, int64(9000), int64(40)}, []any{r.Sizes, r.InputTokens, r.OutputTokens})
}

func TestTheTierIsTheRequestsOwn(t *testing.T) {
	w := newWorld()
	w.model("acme/big").Endpoints[0].Price.Tiers = []catalog.Tier{{Above: 50_000, Price: catalog.Price{Input: perMillion("20")}}}
	w.health[big] = decide.EndpointHealth{Calls: 5, Success: 1, InputTokens: 1000, OutputTokens: 100}
	spend := func(input int64) float64 {
		return factor(t, w.decide(t, decide.Facts{Model: "acme/big", InputTokens: input}), big, decide.FactorTokens).Input
	}
	require.InDelta(t, 1000*10_000+100*40_000, spend(10), 1)
	require.InDelta(t, 1000*20_000+100*40_000, spend(60_000), 1)
}

// TestModesOfTheLadderDraw holds that a mode from the workspace or the
// request's routing.mode keeps the draw and lets its own term decide.
func TestModesOfTheLadderDraw(t *testing.T) {
	quick := decide.EndpointHealth{Calls: 100, Success: 1, FirstByte: 200 * time.Millisecond, Throughput: 40}
	fluent := decide.EndpointHealth{Calls: 100, Success: 1, FirstByte: 2 * time.Second, Throughput: 200}
	plain := decide.EndpointHealth{Calls: 100, Success: 1, FirstByte: time.Second, Throughput: 40}
	for mode, best := range map[policy.Mode]string{policy.Price: "north", policy.Latency: "south", policy.Throughput: "east"} {
		w := newWorld()
		for i, scale := range []string{"1", "1.5", "3"} { // none is out of reach of another by price
			w.model("acme/small").Endpoints[i].Price = &catalog.Price{Input: perMillion(scale), Output: perMillion(scale)}
		}
		w.health[north], w.health[south], w.health[east] = plain, quick, fluent
		w.settings.RoutingMode = mode
		plan := w.decide(t, decide.Facts{Model: "acme/small"})
		require.Equal(t, decide.Sampled, plan.Record.Ordering)
		require.Equal(t, string(mode), plan.Record.Rankings[0].Mode)
		shares := sharesOf(plan)
		require.Greater(t, shares[best], 0.8, "%s: %v", mode, shares)

		w.settings.RoutingMode = policy.Balanced
		byRequest := w.decide(t, decide.Facts{Model: "acme/small", Routing: decide.RoutingFields{Mode: mode}})
		require.Equal(t, shares, sharesOf(byRequest), "the narrower rung wins")
	}
}

func TestFixedOrdersAreTheSameForEverySeed(t *testing.T) {
	w := newWorld()
	for name, f := range map[string]decide.Facts{
		"suffix": {Model: "acme/small:cheap"}, "sort": {Model: "acme/small", Provider: decide.Preferences{Sort: policy.Price}},
	} {
		in := w.input(t, f)
		for seed := range uint64(50) {
			in.Seed = seed
			plan := decide.Decide(in)
			require.Equal(t, decide.Fixed, plan.Record.Ordering, name)
			require.Equal(t, []string{north, south, east}, order(plan), name)
			require.Equal(t, map[string]float64{"north": 1, "south": 0, "east": 0}, sharesOf(plan))
			require.Zero(t, plan.Record.Rankings[0].Floor)
		}
	}
}

// TestEqualsInAFixedOrderGoById, wherever the catalog lists them.
func TestEqualsInAFixedOrderGoById(t *testing.T) {
	for _, listed := range [][]string{{"north", "south", "east"}, {"east", "south", "north"}, {"south", "north", "east"}} {
		w := newWorld()
		m := model("zeta/equal")
		for _, slug := range listed {
			m.Endpoints = append(m.Endpoints, model("zeta/equal", slug+" 1 1").Endpoints...)
		}
		w.catalog.Models = append(w.catalog.Models, m)
		want := []string{"east:zeta/equal", "north:zeta/equal", "south:zeta/equal"}
		require.Equal(t, want, order(w.decide(t, decide.Facts{Model: "zeta/equal:cheap"})))
	}
}

// TestTiersComeBeforeShares: what is behind by rule has no share of the first
// attempts, and the tier itself is drawn too.
func TestTiersComeBeforeShares(t *testing.T) {
	cases := map[string]struct {
		setup func(*world)
		prefs decide.Preferences
		last  map[string]bool
	}{
		"open":             {func(w *world) { w.health[north] = decide.EndpointHealth{Open: true} }, decide.Preferences{}, map[string]bool{north: true}},
		"cooling":          {func(w *world) { w.health[north] = decide.EndpointHealth{CoolingUntil: now.Add(1)} }, decide.Preferences{}, map[string]bool{north: true}},
		"deranked":         {func(w *world) { w.model("acme/small").Endpoints[0].Derank = 1 }, decide.Preferences{}, map[string]bool{north: true}},
		"not listed":       {nil, decide.Preferences{Order: []string{"east"}}, map[string]bool{north: true, south: true}},
		"listed and open":  {func(w *world) { w.health[east] = decide.EndpointHealth{Open: true} }, decide.Preferences{Order: []string{"east"}}, map[string]bool{east: true}},
		"missed its wish":  {func(w *world) { w.health[north] = decide.EndpointHealth{Throughput: 9} }, decide.Preferences{PreferredMinThroughput: 10}, map[string]bool{north: true}},
		"nothing is known": {nil, decide.Preferences{}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if c.setup != nil {
				c.setup(w)
			}
			in := w.input(t, decide.Facts{Model: "acme/small", Provider: c.prefs})
			firsts, seconds := map[string]bool{}, map[string]bool{}
			for seed := range uint64(300) {
				in.Seed = seed
				plan := decide.Decide(in)
				require.Equal(t, decide.Sampled, plan.Record.Ordering)
				ids := order(plan)
				firsts[ids[0]], seconds[ids[1]] = true, true
				for i, id := range ids {
					require.Equal(t, i >= len(ids)-len(c.last), c.last[id])
					require.Equal(t, c.last[id], plan.Record.Candidates[i].Share == 0)
				}
			}
			require.Len(t, firsts, 3-len(c.last))
			require.GreaterOrEqual(t, len(seconds), 2)
		})
	}
}

func TestFirstPartyTakesAllOfABalancedDraw(t *testing.T) {
	w := newWorld()
	w.provider("anthropic").Type = catalog.OpenAICompatible
	w.catalog.Models = append(w.catalog.Models, model("anthropic/claude", "north 1 1", "anthropic 9 9"))
	plan := w.decide(t, decide.Facts{Model: "anthropic/claude"})
	require.Equal(t, map[string]float64{"anthropic": 1, "north": 0}, sharesOf(plan))
	require.True(t, plan.Record.Candidates[0].FirstParty)
	require.Equal(t, decide.Fixed, plan.Record.Ordering)
	drawn := w.decide(t, decide.Facts{Model: "anthropic/claude", Provider: decide.Preferences{Only: []string{"anthropic", "north"}}})
	require.Greater(t, sharesOf(drawn)["north"], 0.9)
}

// TestMissingDataIsNeutral: an endpoint of which nothing is known ranks as a
// typical one, and one without a price as the middle of the others.
func TestMissingDataIsNeutral(t *testing.T) {
	w := newWorld()
	m := w.model("acme/small")
	for i := range m.Endpoints {
		m.Endpoints[i].Price = m.Endpoints[0].Price
	}
	w.health[north] = decide.EndpointHealth{Calls: 1000, Success: 0.99, FirstByte: 100 * time.Millisecond, Throughput: 150}
	w.health[east] = decide.EndpointHealth{Calls: 1000, Success: 0.99, FirstByte: 9 * time.Second, Throughput: 9}
	shares := sharesOf(w.decide(t, decide.Facts{Model: "acme/small"}))
	require.Greater(t, shares["north"], shares["south"])
	require.Greater(t, shares["south"], shares["east"])

	w = newWorld()
	w.model("acme/small").Endpoints[1].Price = nil
	plan := w.decide(t, decide.Facts{Model: "acme/small"})
	f := factor(t, plan, south, decide.FactorTokens)
	require.True(t, f.Assumed)
	require.InDelta(t, factor(t, plan, north, decide.FactorTokens).Input, f.Input, 1, "the lower median")
}

// TestOtherSurfacesWeighSixPenalties holds each term of the score of a surface
// that does not answer in text.
func TestOtherSurfacesWeighSixPenalties(t *testing.T) {
	facts := decide.Facts{Model: "zeta/vec", Surface: catalog.Embeddings, InputTokens: 5_000}
	typical := decide.EndpointHealth{Calls: 100, Success: 0.99, FirstByte: time.Second, FirstByteP95: 3 * time.Second, Throughput: 50}
	cases := map[string]func(*catalog.Endpoint, *decide.EndpointHealth){
		decide.FactorReliability: func(_ *catalog.Endpoint, h *decide.EndpointHealth) { h.Success = 0.6 },
		decide.FactorFirstByte:   func(_ *catalog.Endpoint, h *decide.EndpointHealth) { h.FirstByte *= 4 },
		decide.FactorTail:        func(_ *catalog.Endpoint, h *decide.EndpointHealth) { h.FirstByteP95 *= 4 },
		decide.FactorThroughput:  func(_ *catalog.Endpoint, h *decide.EndpointHealth) { h.Throughput /= 4 },
		decide.FactorTokens:      func(e *catalog.Endpoint, _ *decide.EndpointHealth) { e.Price = &catalog.Price{Input: perMillion("4")} },
		decide.FactorSizeFit:     func(e *catalog.Endpoint, _ *decide.EndpointHealth) { e.Context = 5_500 },
	}
	for name, worsen := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.catalog.Models = append(w.catalog.Models, model("zeta/vec", "north 1 0", "south 1 0"))
			worse := typical
			worsen(&w.model("zeta/vec").Endpoints[0], &worse)
			w.health["north:zeta/vec"], w.health["south:zeta/vec"] = worse, typical
			plan := w.decide(t, facts)
			shares := sharesOf(plan)
			require.Less(t, shares["north"], shares["south"])
			bad, good := factor(t, plan, "north:zeta/vec", name), factor(t, plan, "south:zeta/vec", name)
			require.Greater(t, bad.Contribution, good.Contribution)
			require.Empty(t, plan.Record.Rankings[0].Unit)
			require.Zero(t, plan.Record.Rankings[0].OutputTokens, "nothing comes out that is paid for")
		})
	}
}

func TestFloorOfManyEndpoints(t *testing.T) {
	for _, n := range []int{5, 25, 60} {
		w := newWorld()
		m := model("zeta/wide")
		for i := range n {
			slug := fmt.Sprintf("wide-%d", i)
			w.catalog.Providers = append(w.catalog.Providers, provider(slug, nil))
			price := "1 1"
			if i > 0 {
				price = "100 100"
			}
			m.Endpoints = append(m.Endpoints, model("zeta/wide", slug+" "+price).Endpoints...)
		}
		w.catalog.Models = append(w.catalog.Models, m)
		floor := min(0.02, 0.5/float64(n))
		for slug, share := range sharesOf(w.decide(t, decide.Facts{Model: "zeta/wide"})) {
			if slug == "wide-0" {
				require.InDelta(t, 1-float64(n-1)*floor, share, 1e-5)
			} else {
				require.InDelta(t, floor, share, 1e-6)
			}
		}
	}
}

// TestSixteenCandidatesHaveTheirFactors holds what the record's bound leaves of
// a model with many endpoints of which all is known. The six terms of other
// surfaces take more room, so that a few of the last have none.
func TestSixteenCandidatesHaveTheirFactors(t *testing.T) {
	for surface, input := range map[catalog.Surface]int64{catalog.Chat: 2000, catalog.Embeddings: 0} {
		w := newWorld()
		m := model("zeta/large-vec")
		for i := range 18 {
			slug := fmt.Sprintf("provider-%d", i)
			w.catalog.Providers = append(w.catalog.Providers, provider(slug, nil))
			e := model(m.ID, slug+" 1.23 4.56").Endpoints[0]
			e.Surfaces = []catalog.Surface{surface}
			m.Endpoints = append(m.Endpoints, e)
			w.health[e.ID] = decide.EndpointHealth{
				Calls: 1234, Success: 0.9876, FirstByte: 456 * time.Millisecond, FirstByteP95: 2345 * time.Millisecond, Throughput: 67.891,
				InputTokens: 2345, OutputTokens: 456, CacheHit: 0.4321, Recent: 12,
			}
		}
		w.catalog.Models = append(w.catalog.Models, m)
		r := w.decide(t, decide.Facts{Model: m.ID, Surface: surface, InputTokens: input}).Record
		require.Len(t, r.Candidates, 18)
		for i, c := range r.Candidates {
			if surface == catalog.Chat || i < 12 || i >= decide.MaxScoredCandidates {
				require.Equal(t, i < decide.MaxScoredCandidates, len(c.Factors) > 0, "%s %d", surface, i)
			}
		}
		require.True(t, r.Candidates[0].Factors[len(r.Candidates[0].Factors)-1].Context, "the first keep what did not count")
	}
}
