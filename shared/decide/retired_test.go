package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// TestReplacements holds where the replacement of a retired model comes in the
// chain.
func TestReplacements(t *testing.T) {
	retire := func(w *world, model, replacement string) {
		w.model(model).Endpoints = nil
		w.model(model).Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: replacement}
	}
	cases := []struct {
		name  string
		setup func(*world)
		facts decide.Facts
		want  []string
	}{
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
