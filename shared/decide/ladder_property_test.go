package decide_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// anyRestrictions draws what a rung may demand.
func anyRestrictions(t *rapid.T, w *world, label string) policy.Preferences {
	slugs := func(part string) (out []string) {
		if rapid.IntRange(0, 2).Draw(t, label+part+"?") > 0 {
			return nil
		}
		for range rapid.IntRange(1, 5).Draw(t, label+part+" length") {
			out = append(out, rapid.SampledFrom(w.catalog.Providers).Draw(t, label+part).Slug)
		}
		return out
	}
	p := policy.Preferences{
		Only: slugs(" only"), Ignore: slugs(" ignore"),
		RequireZDR:        rapid.IntRange(0, 5).Draw(t, label+" zdr") == 0,
		DenyTraining:      rapid.IntRange(0, 5).Draw(t, label+" training") == 0,
		RequireParameters: rapid.IntRange(0, 5).Draw(t, label+" parameters") == 0,
		Region:            rapid.SampledFrom([]string{"", "", "", "eu", "eu-west", "us"}).Draw(t, label+" region"),
	}
	for _, limit := range []**money.PerMillion{&p.MaxInputPrice, &p.MaxOutputPrice} {
		if rapid.IntRange(0, 3).Draw(t, label+" capped") == 0 {
			*limit = ptr(money.PerMillion(rapid.Int64Range(1, 4).Draw(t, label+" cap")) * 1e9)
		}
	}
	return p
}

// anyPreferences adds what moves candidates about without taking any away.
func anyPreferences(t *rapid.T, w *world, label string) policy.Routing {
	set := policy.Routing{
		Mode:     rapid.SampledFrom([]policy.Mode{"", policy.Balanced, policy.Price, policy.Latency}).Draw(t, label+" mode"),
		Provider: anyRestrictions(t, w, label),
	}
	set.Provider.Sort = rapid.SampledFrom([]policy.Mode{"", "", policy.Price, policy.Throughput}).Draw(t, label+" sort")
	set.Provider.Order = rapid.SliceOfN(rapid.SampledFrom(slugsIn(w)), 0, 3).Draw(t, label+" order")
	return set
}

func slugsIn(w *world) (slugs []string) {
	for _, p := range w.catalog.Providers {
		slugs = append(slugs, p.Slug)
	}
	return slugs
}

// enabled switches every provider on, so that a rung may name any.
func enabled(w *world) *world {
	for i := range w.catalog.Providers {
		w.catalog.Providers[i].Disabled = false
	}
	return w
}

// TestNoRungWidens: whatever a rung of the ladder says, no candidate is there
// that was not there without it, and none that the rung forbids.
func TestNoRungWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := enabled(anyWorld(t))
		f := anyFacts(t, w)
		w.rungs = map[decide.Rung]policy.Routing{}
		for _, rung := range saved {
			if rapid.Bool().Draw(t, rung.String()) {
				w.rungs[rung] = anyPreferences(t, w, rung.String())
			}
		}
		f.OAuth = rapid.Bool().Draw(t, "oauth")
		before := order(decide.Decide(w.input(t, f)))
		added := rapid.SampledFrom(saved).Draw(t, "added")
		delete(w.rungs, added)
		without := order(decide.Decide(w.input(t, f)))
		if set, ok := w.rungs[added]; ok {
			t.Fatalf("still there: %v", set)
		}
		w.rungs[added] = anyPreferences(t, w, "the added one")
		plan := decide.Decide(w.input(t, f))
		for _, endpoint := range order(plan) {
			require.Contains(t, without, endpoint, "added by %s", added)
		}
		for _, endpoint := range before {
			require.Contains(t, without, endpoint)
		}
		for _, step := range plan.Chain {
			for _, c := range step.Candidates {
				for rung, set := range w.rungs {
					if rung == decide.RungPreset && step.Preset == nil {
						continue // of an entry that names none
					}
					alone := f
					alone.Provider = set.Provider
					require.Empty(t, violated(w, &alone, step.Model, c), "%s forbids %s", rung, c.Endpoint.ID)
				}
				require.Empty(t, violated(w, &f, step.Model, c))
			}
		}
	})
}

// TestRestrictionsHoldInAnyOrder: which rung demands what does not matter to
// what is left and in which order it is tried.
func TestRestrictionsHoldInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := enabled(anyWorld(t))
		f := anyFacts(t, w)
		all := []int{0, 1, 2, 3, 4}
		rungs := saved
		if len(f.Models) > 0 { // a preset is about its own entry of the chain alone
			rungs = slices.DeleteFunc(slices.Clone(saved), func(r decide.Rung) bool { return r == decide.RungPreset })
			all = all[:len(rungs)]
		}
		sets := make([]policy.Preferences, len(rungs))
		for i, rung := range rungs {
			sets[i] = anyRestrictions(t, w, rung.String())
		}
		plans := make([]decide.Plan, 2)
		for i, at := range [][]int{all, rapid.Permutation(all).Draw(t, "permuted")} {
			w.rungs = map[decide.Rung]policy.Routing{}
			for j, rung := range rungs {
				w.rungs[rung] = prefers(sets[at[j]])
			}
			in := w.input(t, f)
			plans[i] = decide.Decide(in)
			require.Equal(t, plans[i], decide.Decide(in), "the same input gives the same plan")
		}
		require.Equal(t, order(plans[0]), order(plans[1]))
		require.Equal(t, fault.CodeOf(errorOf(plans[0])), fault.CodeOf(errorOf(plans[1])))
		e, refusal := decide.ResolveEffective(effectiveInput(t, w, nil))
		require.Nil(t, refusal)
		for _, rung := range saved[:3] {
			set := w.rungs[rung].Provider
			if len(set.Only) > 0 {
				for _, slug := range e.Routing.Provider.Only {
					require.Contains(t, set.Only, slug)
				}
				require.True(t, e.Nothing || len(e.Routing.Provider.Only) > 0)
			}
			for _, slug := range set.Ignore {
				require.Contains(t, e.Routing.Provider.Ignore, slug)
			}
			require.True(t, set.Region == "" || slices.Contains(e.Regions, set.Region))
			require.True(t, !set.RequireZDR || e.Routing.Provider.RequireZDR)
		}
	})
}

func errorOf(p decide.Plan) error {
	if p.Refusal == nil {
		return nil
	}
	return p.Refusal
}

// A ladder that was worked out before serves every question about the request,
// on any surface, and is not changed by the answers.
func TestALadderServesMoreThanOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(t)
		f := anyFacts(t, w)
		anyRules(t, w)
		in := w.input(t, f)
		with := in
		with.Ladder = decide.Climb(&in)
		for range 2 {
			for _, s := range []catalog.Surface{in.Facts.Surface, catalog.Messages, catalog.Embeddings} {
				in.Facts.Surface, with.Facts.Surface = s, s
				require.Equal(t, decide.Decide(in), decide.Decide(with))
				require.Equal(t, in.Affinity(), with.Affinity())
				models := in.Catalog.Models()
				for i := range models {
					require.Equal(t, decide.Usable(in, &models[i], catalog.Surfaces()), decide.Usable(with, &models[i], catalog.Surfaces()))
				}
			}
		}
	})
}
