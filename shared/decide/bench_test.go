package decide_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// BenchmarkDecide is one model at n endpoints, all healthy and known.
func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 5, 50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmark(b, n, decide.Facts{Model: "acme/m", InputTokens: 900}) })
	}
	b.Run("5-refused", func(b *testing.B) {
		benchmark(b, 5, decide.Facts{Model: "acme/m", InputTokens: 1 << 40})
	})
	b.Run("5-pinned", func(b *testing.B) {
		in := wide(b, 5).input(b, decide.Facts{Model: "acme/m", InputTokens: 900})
		in.Conversation = decide.Conversation{Source: decide.FromSession, Pins: []decide.Pin{{Model: "acme/m", Provider: "p3", Endpoint: "p3:acme/m"}}}
		require.True(b, decide.Decide(in).Record.Affinity.Applied)
		b.ReportAllocs()
		for b.Loop() {
			decide.Decide(in)
		}
	})
	b.Run("5-restricted", func(b *testing.B) {
		benchmark(b, 5, decide.Facts{Model: "acme/m", Provider: decide.Preferences{
			Only: []string{"p0", "p1", "p2"}, Order: []string{"p2"}, RequireZDR: false, MaxInputPrice: perMillion("100"),
		}})
	})
}

// BenchmarkDecideRouted is the same for a key with a dynamic route: one of two
// nodes, and one of 64 whose way leads through all of them, twenty conditions of
// which look at the model, with a further entry that walks it again.
func BenchmarkDecideRouted(b *testing.B) {
	long := []flow.Node{}
	for i := range 61 {
		n := whenIs(fmt.Sprintf("c%d", i), condition.Metadata, "plan", "pro", "big", fmt.Sprintf("c%d", i+1))
		if i%3 == 0 {
			n = whenIs(n.ID, condition.Model, "", "acme/none", "big", n.False)
		}
		long = append(long, n)
	}
	long[60].False = "big"
	long = append(long, fixes("big", "acme/m"))
	for _, c := range []struct {
		name  string
		nodes []flow.Node
		more  []string
	}{
		{"none", nil, nil},
		{"3-nodes", []flow.Node{fixes("big", "acme/m")}, nil},
		{"64-nodes", long, nil},
		{"none-again", nil, []string{"acme/other"}},
		{"64-nodes-again", long, []string{"acme/other"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := wide(b, 5)
			if c.nodes != nil {
				route := routeOf(c.nodes...)
				w.route = &route
			}
			in := w.input(b, decide.Facts{Model: "acme/m", Models: c.more, InputTokens: 900, SessionID: "s"})
			require.Nil(b, decide.Decide(in).Refusal)
			b.ReportAllocs()
			for b.Loop() {
				decide.Decide(in)
			}
		})
	}
}

// BenchmarkGuardrails is the same under guardrails that leave everything: each
// lists models and providers by their ids and by patterns, and demands something
// of data.
func BenchmarkGuardrails(b *testing.B) {
	for _, n := range []int{5, 50} {
		for _, rails := range []int{0, 1, 10, 100} {
			b.Run(fmt.Sprintf("%d-endpoints-%d", n, rails), func(b *testing.B) {
				w := guarded(b, n, rails)
				in := w.input(b, decide.Facts{Model: "acme/m", InputTokens: 900, Key: caller})
				require.Len(b, decide.Decide(in).Chain[0].Candidates, n)
				b.ReportAllocs()
				for b.Loop() {
					decide.Decide(in)
				}
			})
		}
	}
}

// guarded is wide under a number of guardrails.
func guarded(t testing.TB, n, rails int) *world {
	w := wide(t, n)
	for i := range w.catalog.Providers {
		w.catalog.Providers[i].DataPolicy.Trains = ptr(false)
	}
	w.catalog.Providers = append(w.catalog.Providers, provider("blocked", nil), provider("barred", nil))
	rules := policy.GuardrailRules{
		Models:    policy.Lists{Block: []string{"acme/old", "acme/older", "*-preview", "beta/*"}},
		Providers: policy.Lists{Block: []string{"blocked", "barred"}}, DenyTraining: true,
	}
	for i := range 16 {
		rules.Models.Allow = append(rules.Models.Allow, fmt.Sprintf("author%d/model-%d", i, i))
	}
	rules.Models.Allow = append(rules.Models.Allow, "acme/*")
	ids := id.SystemSource()
	for range rails {
		w.guards = append(w.guards, policy.Guardrail{ID: id.New[id.GuardrailKind](ids), Rules: rules, Keys: []id.Key{caller.ID}})
	}
	return w
}

// TestAllocationsDoNotGrowWithTheCandidates: a decision takes blocks, not one
// allocation for each endpoint.
func TestAllocationsDoNotGrowWithTheCandidates(t *testing.T) {
	allocations := func(n int) float64 {
		in := wide(t, n).input(t, decide.Facts{Model: "acme/m", InputTokens: 900})
		return testing.AllocsPerRun(50, func() { decide.Decide(in) })
	}
	require.LessOrEqual(t, allocations(50), allocations(5)+2)
}

func benchmark(b *testing.B, n int, f decide.Facts) {
	in := wide(b, n).input(b, f)
	plan := decide.Decide(in)
	require.Equal(b, f.InputTokens < 1<<30, plan.Refusal == nil)
	b.ReportAllocs()
	for b.Loop() {
		decide.Decide(in)
	}
}

// wide is acme/m at n endpoints of which all is known.
func wide(t testing.TB, n int) *world {
	t.Helper()
	w := &world{settings: policy.DefaultSettings(), health: health{}, catalog: catalog.Catalog{Schema: catalog.Schema}}
	m := catalog.Model{ID: "acme/m", Author: "acme", Context: 1_000_000}
	for i := range n {
		slug := fmt.Sprintf("p%d", i)
		w.catalog.Providers = append(w.catalog.Providers, provider(slug, nil))
		e := catalog.Endpoint{
			ID: catalog.EndpointID(slug, m.ID, ""), Provider: slug, UpstreamModel: "x",
			Price: &catalog.Price{Input: perMillion(fmt.Sprint(1 + i%7)), Output: perMillion("4")},
		}
		m.Endpoints = append(m.Endpoints, e)
		w.health[e.ID] = decide.EndpointHealth{
			Calls: 40, Success: 0.99, FirstByte: 1e8, FirstByteP95: 4e8, Throughput: 60,
			InputTokens: 1200, OutputTokens: 300, CacheHit: 0.2, Recent: 9, Errors: 0.1,
		}
	}
	w.catalog.Models = []catalog.Model{m}
	return w
}
