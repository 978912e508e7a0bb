package decide_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type replaced struct {
	name  string
	setup func(*world)
	facts decide.Facts
	want  []string
}

// keptNames: a replacement is named as its model was.
func keptNames(retire func(w *world, model, replacement string)) []replaced {
	return []replaced{
		{
			"at the provider of the name, by its alias",
			func(w *world) { retire(w, "zeta/small", "acme/small") },
			decide.Facts{Model: "nord:zeta/small"},
			[]string{"north:acme/small"},
		},
		{
			"at the provider of a fallback's name",
			func(w *world) { retire(w, "zeta/small", "acme/small") },
			decide.Facts{Model: "acme/big", Models: []string{"south:zeta/small"}},
			[]string{big, "south:acme/small"},
		},
		{
			"in the order of its suffix",
			func(w *world) { retire(w, "zeta/small", "acme/small") },
			decide.Facts{Model: "zeta/small:cheap", Provider: decide.Preferences{Sort: policy.Latency}},
			[]string{"north:acme/small", "south:acme/small", "east:acme/small"},
		},
		{
			"as its free variant where the model was free",
			func(w *world) { retire(w, "zeta/small:free", "acme/tiny") },
			decide.Facts{Model: "acme/big", Models: []string{"south:zeta/small:free"}},
			[]string{big, "south:acme/tiny:free"},
		},
		{
			"at no cost where the model was free",
			func(w *world) {
				retire(w, "zeta/small:free", "acme/small")
				w.model("acme/small").Endpoints[1].Price = &catalog.Price{Input: perMillion("0"), Output: perMillion("0")}
			},
			decide.Facts{Model: "acme/big", Models: []string{"zeta/small:free"}},
			[]string{big, "south:acme/small"},
		},
		{
			"at no cost by a rule either",
			func(w *world) {
				retire(w, "zeta/small:free", "acme/small")
				w.model("acme/small").Rules = []catalog.Rule{rule("dear", always, `{"model":"zeta/small"}`)}
			},
			decide.Facts{Model: "acme/big", Models: []string{"zeta/small:free"}},
			[]string{big},
		},
	}
}

// TestWhoIsServedIsNotReplaced: a retired model that something serves, only not
// this request, is refused for what the request asks.
func TestWhoIsServedIsNotReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		facts decide.Facts
		setup func(*world)
		want  fault.Code
	}{
		"only":         {decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"anthropic"}}}, nil, fault.UnsupportedModelOrEndpoint},
		"max_price":    {decide.Facts{Model: "acme/small", Provider: decide.Preferences{MaxInputPrice: perMillion("0.5")}}, nil, fault.UnsupportedModelOrEndpoint},
		"the key":      {decide.Facts{Model: "acme/small", Key: decide.KeyFacts{Models: []string{"zeta/*"}}}, nil, fault.UnsupportedModelOrEndpoint},
		"the provider": {decide.Facts{Model: "anthropic:acme/small"}, nil, fault.ValidationError},
		"the length":   {decide.Facts{Model: "acme/small", InputTokens: 1 << 40}, nil, fault.ContextLengthExceeded},
		"only, where others are off": {
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"south", "east"}}},
			func(w *world) {
				w.model("acme/small").Endpoints[1].Disabled, w.model("acme/small").Endpoints[2].Disabled = true, true
			},
			fault.UnsupportedModelOrEndpoint,
		},
		"gone, and its replacement is not at the provider": {
			decide.Facts{Model: "north:acme/small"}, func(w *world) { w.model("acme/small").Endpoints = nil }, fault.ModelRetired,
		},
		"gone, whatever was asked of it": {
			decide.Facts{Model: "acme/small", Provider: decide.Preferences{Only: []string{"anthropic"}}},
			func(w *world) {
				w.model("acme/small").Endpoints = w.model("acme/small").Endpoints[:1]
				w.model("acme/small").Endpoints[0].Disabled = true
			},
			fault.ModelRetired,
		},
		"free, and its replacement is not": {
			decide.Facts{Model: "acme/tiny:free"},
			func(w *world) {
				w.model("acme/tiny:free").Endpoints = nil
				w.model("acme/tiny:free").Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: "acme/tiny"}
			},
			fault.ModelRetired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.settings.RetiredRouting = true
			w.model("acme/small").Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: "zeta/small"}
			if c.setup != nil {
				c.setup(w)
			}
			plan := w.decide(t, c.facts)
			require.Equal(t, c.want, fault.CodeOf(errorOf(plan)), "%v", order(plan))
		})
	}
}

// TestReplacements holds where the replacement of a retired model comes in the
// chain.
func TestReplacements(t *testing.T) {
	retire := func(w *world, retired, replacement string) {
		if !slices.ContainsFunc(w.catalog.Models, func(m catalog.Model) bool { return m.ID == retired }) {
			w.catalog.Models = append(w.catalog.Models, model(retired))
		}
		w.model(retired).Endpoints = nil
		w.model(retired).Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: replacement}
	}
	cases := []replaced{
		{
			"after the request's own models, before the ladder's",
			func(w *world) { retire(w, "acme/small", "acme/big"); w.settings.FallbackModels = []string{"acme/tiny"} },
			decide.Facts{Model: "acme/small", Models: []string{"zeta/small"}},
			[]string{"south:zeta/small", big, "north:acme/tiny"},
		},
		{
			"of a replacement that was retired too",
			func(w *world) { retire(w, "acme/small", "acme/big"); retire(w, "acme/big", "zeta/small") },
			decide.Facts{Model: "acme/small"},
			[]string{"south:zeta/small"},
		},
		{
			"of a fallback",
			func(w *world) { retire(w, "acme/small", "acme/big") },
			decide.Facts{Model: "zeta/small", Models: []string{"acme/small", "acme/tiny"}},
			[]string{"south:zeta/small", "north:acme/tiny", big},
		},
		{
			"of a fallback of the ladder",
			func(w *world) {
				retire(w, "acme/small", "acme/big")
				w.settings.FallbackModels = []string{"acme/small", "acme/tiny"}
			},
			decide.Facts{Model: "zeta/small"},
			[]string{"south:zeta/small", big, "north:acme/tiny"},
		},
		{
			"once, where the request names it itself",
			func(w *world) { retire(w, "acme/small", "acme/big") },
			decide.Facts{Model: "acme/small", Models: []string{"acme/big"}},
			[]string{big},
		},
	}
	cases = append(cases, keptNames(retire)...)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.settings.RetiredRouting = true
			c.setup(w)
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			require.Equal(t, c.want, order(plan))
		})
	}

	w := newWorld()
	w.settings.RetiredRouting = true
	retire(w, "acme/small", "acme/big")
	retire(w, "acme/big", "acme/small")
	plan := w.decide(t, decide.Facts{Model: "acme/small"})
	require.True(t, fault.Is(plan.Refusal, fault.ModelRetired), "replacements that name each other end")
	require.Equal(t, "acme/big", plan.Refusal.Fields["replacement"])
}
