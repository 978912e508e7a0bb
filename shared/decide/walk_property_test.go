package decide_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// anyEntries draws names of models and presets that may stand in a chain.
func anyEntries(t *rapid.T, w *world, most int, label string) (names []string) {
	for range rapid.IntRange(0, most).Draw(t, label) {
		name := rapid.SampledFrom(w.catalog.Models).Draw(t, label+" model").ID
		switch rapid.IntRange(0, 4).Draw(t, label+" form") {
		case 0:
			name = rapid.SampledFrom([]string{"@a", "@b", "@c", "@gone"}).Draw(t, label+" preset")
		case 1:
			name = rapid.SampledFrom(w.catalog.Providers).Draw(t, label+" provider").Slug + ":" + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sometimes draws what a rung may set, and mostly nothing: few worlds have
// anything left when everybody restricts.
func sometimes(t *rapid.T, w *world, label string) policy.Routing {
	if rapid.IntRange(0, 3).Draw(t, label+" sets") > 0 {
		return policy.Routing{}
	}
	return anyPreferences(t, w, label)
}

// anyPresets draws three presets and leaves a fourth out.
func anyPresets(t *rapid.T, w *world) {
	w.presets = map[string]*policy.PresetVersion{"gone": nil}
	for _, slug := range []string{"a", "b", "c"} {
		config := policy.PresetConfig{Routing: sometimes(t, w, slug), Model: rapid.SampledFrom([]string{"", "acme/m0", "acme/m1", "@a"}).Draw(t, slug+" stands for")}
		config.Routing.FallbackModels = anyEntries(t, w, 2, slug+" fallbacks")
		if rapid.IntRange(0, 3).Draw(t, slug+" lists") == 0 {
			config.Models.Block = []string{"acme/m1"}
			config.Providers.Block = []string{w.catalog.Providers[0].Slug}
		}
		w.presets[slug] = preset(slug, config)
	}
}

// anyRoute draws a route that tells models apart, and may fix, reject or restrict.
func anyRoute(t *rapid.T, w *world) {
	fixed := append(anyEntries(t, w, 1, "fixed"), "")[0]
	restricts := setting(sometimes(t, w, "route"))
	restricts[0].Model, restricts[0].FallbackModels = fixed, anyEntries(t, w, 3, "route fallbacks")
	if fixed != "" {
		restricts[0].FallbackModels = slices.DeleteFunc(restricts[0].FallbackModels, func(name string) bool { return name == fixed })
	}
	nodes := append([]flow.Node{
		whenIs("first", condition.Model, "", "acme/m0", "set", "second"),
		whenIs("second", condition.Model, "", "acme/m1", "no", "end"),
		rejects("no", 403),
	}, restricts...)
	if len(restricts[0].FallbackModels) == 0 {
		nodes[3].FallbackModels = nil
	}
	route := routeOf(nodes...)
	if flow.Check(route.Graph, nil).OK() {
		w.route = &route
	}
}

// TestNothingThatARouteOrAPresetSaysWidens: whatever they say, every candidate is
// one that the request and its key allow, none is there twice, and what binds an
// entry binds its candidates.
func TestNothingThatARouteOrAPresetSaysWidens(t *testing.T) {
	met := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := enabled(anyWorld(t))
		f := anyFacts(t, w)
		w.settings.RequireZDR, f.InputTokens = false, f.InputTokens/4
		f.Provider = sometimes(t, w, "request").Provider
		anyPresets(t, w)
		anyRoute(t, w)
		f.Model = append(anyEntries(t, w, 1, "asked"), f.Model)[0]
		f.Models = append(f.Models, anyEntries(t, w, 3, "more")...)
		w.settings.FallbackModels = anyEntries(t, w, 2, "standing")
		w.settings.DefaultModel = "acme/m0"
		in := w.input(t, f)
		plan := decide.Decide(in)
		require.Equal(t, plan, decide.Decide(in), "the same input gives the same plan")
		in.Opening = decide.Open(&in)
		require.Equal(t, plan, decide.Decide(in), "worked out before or not")
		require.Empty(t, plan.NeedsPresets)
		require.Equal(t, len(plan.Chain) == 0, plan.Refusal != nil)
		tried := map[string]bool{}
		for i, step := range plan.Chain {
			if step.Preset != nil {
				met["preset"]++
			}
			if plan.RecordOf(i).Route != nil {
				met["route"]++
			}
			for _, c := range step.Candidates {
				require.False(t, tried[c.Endpoint.ID], "%s is there twice", c.Endpoint.ID)
				tried[c.Endpoint.ID] = true
				require.Empty(t, violated(w, &f, step.Model, c))
				if step.Preset == nil {
					continue
				}
				own, config := f, &step.Preset.Config
				own.Provider = config.Routing.Provider
				require.Empty(t, violated(w, &own, step.Model, c), "the preset forbids it")
				require.NotContains(t, config.Models.Block, step.Model.ID)
				require.NotContains(t, config.Providers.Block, c.Provider.Slug)
			}
		}
		encoded, err := plan.Record.Encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(encoded), decide.MaxRecordBytes)
	})
	require.NotZero(t, met["preset"])
	require.NotZero(t, met["route"])
}
