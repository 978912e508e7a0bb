package decide_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

func anyGuardrail(t *rapid.T, w *world, label string) policy.Guardrail {
	part := func(name string, all []string) []string {
		if rapid.IntRange(0, 2).Draw(t, label+name+"?") > 0 {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Draw(t, label+name)
	}
	models := []string{"*", "acme/*", "m*", "*3", "other/*"}
	for i := range w.catalog.Models {
		models = append(models, w.catalog.Models[i].ID)
	}
	providers := append(slugsIn(w), "gone")
	g := says(policy.GuardrailRules{
		Models:       policy.Lists{Allow: part(" models", models), Block: part(" not models", models)},
		Providers:    policy.Lists{Allow: part(" providers", providers), Block: part(" not providers", providers)},
		RequireZDR:   rapid.IntRange(0, 5).Draw(t, label+" zdr") == 0,
		DenyTraining: rapid.IntRange(0, 5).Draw(t, label+" training") == 0,
	})
	return rapid.SampledFrom([]func(policy.Guardrail) policy.Guardrail{everywhere, ofMember, ofKey}).Draw(t, label+" bound")(g)
}

// TestNoGuardrailWidens: a guardrail more leaves no candidate that was not
// there without it and takes none of its own prohibitions back; without any of
// them everything that the others leave is there.
func TestNoGuardrailWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := enabled(anyWorld(t))
		f := anyFacts(t, w)
		f.Key.ID, f.Key.Owner, f.OAuth = caller.ID, caller.Owner, rapid.Bool().Draw(t, "oauth")
		w.rungs = map[decide.Rung]policy.Routing{decide.RungKey: anyPreferences(t, w, "key")}
		var list []policy.Guardrail
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			list = append(list, anyGuardrail(t, w, "other"))
		}
		w.guards = guards(slices.Clone(list)...)
		without := decide.Decide(w.input(t, f))
		list = append(list, anyGuardrail(t, w, "added"))
		w.guards = guards(slices.Clone(list)...)
		plan := decide.Decide(w.input(t, f))
		for _, endpoint := range order(plan) {
			require.Contains(t, order(without), endpoint)
		}
		for _, step := range plan.Chain {
			for _, c := range step.Candidates {
				require.Empty(t, violated(w, &f, step.Model, c))
				for _, g := range list {
					require.Empty(t, offends(&g.Rules, step.Model.ID, c), "%+v", g)
				}
			}
		}
		if plan.Refusal != nil && plan.Refusal.Code == fault.GuardrailBlocked {
			w.guards = nil
			require.Nil(t, decide.Decide(w.input(t, f)).Refusal, "without guardrails it is served")
		}
	})
}

// offends is which list of a guardrail a candidate breaks. The world's models
// are acme/m0 to acme/m5.
func offends(g *policy.GuardrailRules, model string, c decide.Candidate) string {
	named := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			return p == "*" || p == "acme/*" || p == "m*" || p == model || p == "*3" && model == "acme/m3"
		})
	}
	p := c.Provider
	switch {
	case len(g.Models.Allow) > 0 && !named(g.Models.Allow), named(g.Models.Block):
		return "models"
	case len(g.Providers.Allow) > 0 && !slices.Contains(g.Providers.Allow, p.Slug), slices.Contains(g.Providers.Block, p.Slug):
		return "providers"
	case g.RequireZDR && (p.DataPolicy.ZeroDataRetention == nil || !*p.DataPolicy.ZeroDataRetention):
		return "zdr"
	case g.DenyTraining && (p.DataPolicy.Trains == nil || *p.DataPolicy.Trains):
		return "training"
	}
	return ""
}

// TestGuardrailsHoldInAnyOrder: the order of guardrails, and by what each of
// them binds, does not matter to what is left, nor to what is told.
func TestGuardrailsHoldInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := enabled(anyWorld(t))
		f := anyFacts(t, w)
		f.Key.ID, f.Key.Owner = caller.ID, caller.Owner
		list := make([]policy.Guardrail, 3)
		for i := range list {
			list[i] = anyGuardrail(t, w, "one")
		}
		w.guards = guards(slices.Clone(list)...)
		in := w.input(t, f)
		first := decide.Decide(in)
		require.Equal(t, first, decide.Decide(in), "the same input gives the same plan")

		turned := rapid.Permutation(list).Draw(t, "permuted")
		for i := range turned {
			turned[i].Workspace, turned[i].Members, turned[i].Keys = false, nil, nil
			turned[i] = rapid.SampledFrom([]func(policy.Guardrail) policy.Guardrail{everywhere, ofMember, ofKey}).Draw(t, "bound")(turned[i])
		}
		w.guards = guards(turned...)
		second := decide.Decide(w.input(t, f))
		require.Equal(t, order(first), order(second))
		require.Equal(t, fault.CodeOf(errorOf(first)), fault.CodeOf(errorOf(second)))
		if first.Refusal != nil {
			require.Equal(t, first.Refusal.Reason, second.Refusal.Reason)
		}
		body, err := first.Record.Encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), decide.MaxRecordBytes)
	})
}

// TestTheRecordOfManyGuardrailsIsBounded: a workspace may have a hundred, each
// with lists as long as they can be.
func TestTheRecordOfManyGuardrailsIsBounded(t *testing.T) {
	w := newWorld()
	long := make([]string, policy.MaxGuardrailModels)
	for i := range long {
		long[i] = strings.Repeat("m", 190) + strconv.Itoa(i) + "*"
	}
	for i := range policy.MaxGuardrails {
		g := everywhere(says(policy.GuardrailRules{Models: policy.Lists{Block: long}, Providers: policy.Lists{Block: []string{"north"}}, DenyTraining: true}))
		g.ID = id.FromUUID[id.GuardrailKind](uuid.UUID{15: byte(i), 6: 0x70, 8: 0x80})
		w.guards = append(w.guards, g)
	}
	m := w.model("acme/small")
	for i := range 120 {
		e := m.Endpoints[0]
		e.Region = "eu-" + strconv.Itoa(i)
		e.ID = catalog.EndpointID("north", m.ID, e.Region)
		m.Endpoints = append(m.Endpoints, e)
	}
	plan := w.decide(t, decide.Facts{Model: "acme/small", Key: caller})
	require.Equal(t, fault.GuardrailBlocked, plan.Refusal.Code)
	require.Len(t, plan.Refusal.Fields["guardrails"], policy.MaxGuardrails)
	require.Less(t, len(plan.Refusal.Message), 1000)
	body, err := plan.Record.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(body), 12<<10, "attempts and usage have room")
	require.Positive(t, plan.Record.Truncated)
}
