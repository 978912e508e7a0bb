package decide_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// TestFallbacksKeepToTheNamesPromise: what the caller did not name is held to
// what the name of the caller's model says beside the model.
func TestFallbacksKeepToTheNamesPromise(t *testing.T) {
	const north, south, east, big = "north:acme/small", "south:acme/small", "east:acme/small", "north:acme/big"
	for name, c := range map[string]struct {
		facts     decide.Facts
		fallbacks []string
		defaults  string
		route     *policy.Routing
		want      []string
	}{
		"the same model at any provider":     {facts: decide.Facts{Model: north}, fallbacks: []string{"acme/small"}, want: []string{north}},
		"another model at that provider":     {facts: decide.Facts{Model: north}, fallbacks: []string{"acme/big"}, want: []string{north, big}},
		"another model not there":            {facts: decide.Facts{Model: north}, fallbacks: []string{"zeta/small"}, want: []string{north}},
		"another provider":                   {facts: decide.Facts{Model: north}, fallbacks: []string{"south:zeta/small"}, want: []string{north}},
		"free models at that provider":       {facts: decide.Facts{Model: south}, fallbacks: []string{"signalbox/free"}, want: []string{south, "south:acme/tiny:free"}},
		"the caller's own may go elsewhere":  {facts: decide.Facts{Model: north, Models: []string{"zeta/small"}}, want: []string{north, "south:zeta/small"}},
		"free, then paid":                    {facts: decide.Facts{Model: "signalbox/free"}, fallbacks: []string{"acme/big"}, want: []string{"*:acme/tiny:free"}},
		"a free model, then paid":            {facts: decide.Facts{Model: "north:acme/tiny:free"}, fallbacks: []string{"acme/tiny"}, want: []string{"north:acme/tiny:free"}},
		"free, then what the caller named":   {facts: decide.Facts{Model: "north:acme/tiny:free", Models: []string{"acme/big"}}, want: []string{"north:acme/tiny:free", big}},
		"a default is the ladder's own name": {fallbacks: []string{"south:acme/small"}, defaults: north, want: []string{north, south}},
		"a route's fallbacks too":            {facts: decide.Facts{Model: north}, route: &policy.Routing{FallbackModels: []string{"acme/small", "acme/big"}}, want: []string{north, big}},
		"the first of models": {
			facts: decide.Facts{Models: []string{north, "east:acme/small"}}, fallbacks: []string{"acme/small", "acme/big"}, want: []string{north, east, big},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.settings.FallbackModels, w.settings.DefaultModel, w.settings.ModelsWithoutModel = c.fallbacks, c.defaults, policy.ModelsUseFirst
			if c.route != nil {
				w.rungs = map[decide.Rung]policy.Routing{decide.RungRoute: *c.route}
			}
			plan := w.decide(t, c.facts)
			require.Nil(t, plan.Refusal)
			if c.want[0][0] == '*' {
				for _, step := range plan.Chain {
					require.Equal(t, c.want[0][2:], step.Model.ID)
				}
				return
			}
			require.Equal(t, c.want, order(plan))
		})
	}
}

// What is left out for it is told.
func TestAFallbackAtAnotherProviderIsTold(t *testing.T) {
	w := newWorld()
	w.settings.FallbackModels = []string{"south:acme/small"}
	plan := w.decide(t, decide.Facts{Model: "north:acme/small"})
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{Model: "south:acme/small", Stage: "qualifier", Reason: "other_provider"})
}

func TestAnEmptyNameIsNone(t *testing.T) {
	for name, c := range map[string]struct {
		facts decide.Facts
		paths []string
	}{
		"alone":               {decide.Facts{Models: []string{""}}, []string{"models[0]"}},
		"before another":      {decide.Facts{Models: []string{"", "acme/small"}}, []string{"models[0]"}},
		"behind a model":      {decide.Facts{Model: "acme/small", Models: []string{"acme/big", ""}}, []string{"models[1]"}},
		"with all that wrong": {decide.Facts{Model: "acme/small", Models: []string{"", catalog.AutoModel, ""}}, []string{"models[0]", "models[1]", "models[2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.settings.ModelsWithoutModel = policy.ModelsUseFirst
			plan := w.decide(t, c.facts)
			require.True(t, fault.Is(plan.Refusal, fault.ValidationError))
			var paths []string
			for _, v := range plan.Refusal.Violations {
				paths = append(paths, v.Path)
			}
			require.Equal(t, c.paths, paths)
		})
	}
}

// anyNames draws names of every form, some of which nobody has.
func anyNames(t *rapid.T, label string) string {
	return rapid.SampledFrom([]string{
		"acme/small", "acme/small:cheap", "north:acme/small", "nord:acme/small:fast", "south:acme/small", "acme/big", "north:acme/big", "acme/tiny",
		"acme/tiny:free", "south:acme/tiny:free", "zeta/small", "north:zeta/small", "signalbox/free", "signalbox/free:fast", "tiny", "no/such", "",
	}).Draw(t, label)
}

// anyOfThem draws requests over a world with retired models.
func anyOfThem(t *rapid.T) (*world, decide.Facts) {
	w := newWorld()
	if rapid.Bool().Draw(t, "without model") {
		w.settings.ModelsWithoutModel = policy.ModelsUseFirst
	}
	w.settings.RetiredRouting = rapid.Bool().Draw(t, "retired routing")
	w.settings.DefaultModel = anyNames(t, "default")
	for range rapid.IntRange(0, 3).Draw(t, "ladder") {
		w.settings.FallbackModels = append(w.settings.FallbackModels, anyNames(t, "of the ladder"))
	}
	for i := range w.catalog.Models {
		m := &w.catalog.Models[i]
		if !rapid.Bool().Draw(t, "retired") {
			continue
		}
		m.Lifecycle = catalog.Lifecycle{State: catalog.Retired, Replacement: w.catalog.Models[(i+rapid.IntRange(1, len(w.catalog.Models)-1).Draw(t, "replacement"))%len(w.catalog.Models)].ID}
		for j := range m.Endpoints {
			m.Endpoints[j].Disabled = rapid.Bool().Draw(t, "off")
		}
	}
	f := decide.Facts{Model: anyNames(t, "model")}
	for range rapid.IntRange(0, 3).Draw(t, "of the caller") {
		f.Models = append(f.Models, anyNames(t, "of models"))
	}
	f.Provider.Only = rapid.SampledFrom([][]string{nil, nil, {"north"}, {"south"}}).Draw(t, "only")
	return w, f
}

// TestNamesKeepTheirPromises: whatever is retired and whatever the ladder says,
// a name that says where it is served, or that it costs nothing, is kept to but
// for what the caller named beside it; nobody who is alive is replaced; and
// there is always an answer.
func TestNamesKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, f := anyOfThem(t)
		plan := decide.Decide(w.input(t, f))
		require.NotEqual(t, plan.Refusal == nil, len(plan.Chain) == 0)
		if at := slices.Index(f.Models, ""); at >= 0 {
			require.True(t, fault.Is(plan.Refusal, fault.ValidationError))
			if f.Model != "" || w.settings.ModelsWithoutModel == policy.ModelsUseFirst {
				require.Equal(t, "models["+strconv.Itoa(at)+"]", plan.Refusal.Violations[0].Path)
			}
		}
		named := append([]string{}, f.Models...)
		if f.Model != "" {
			named = append([]string{f.Model}, named...)
		}
		if len(named) == 0 || plan.Refusal != nil {
			return
		}
		first, refusal := decide.ParseName(named[0])
		require.Nil(t, refusal)
		for _, step := range plan.Chain {
			for _, c := range step.Candidates {
				if w.meant(named[1:], step.Model.ID, c.Provider) {
					continue
				}
				require.True(t, first.Provider == "" || w.is(c.Provider, first.Provider), "%s of %v", c.Endpoint.ID, named)
				if first.Model == catalog.FreeModel || (&catalog.Model{ID: first.Model}).Free() {
					require.Zero(t, *c.Endpoint.Price.Input, "%s of %v", c.Endpoint.ID, named)
				}
			}
			if step.Reason == decide.SwitchRetired {
				require.True(t, slices.ContainsFunc(w.catalog.Models, func(m catalog.Model) bool {
					return m.Lifecycle.State == catalog.Retired && strings.TrimSuffix(step.Model.ID, catalog.FreeSuffix) == strings.TrimSuffix(m.Lifecycle.Replacement, catalog.FreeSuffix) &&
						!slices.ContainsFunc(m.Endpoints, func(e catalog.Endpoint) bool { return !e.Disabled })
				}), "%s stands in for one that is served", step.Model.ID)
			}
		}
	})
}

func (w *world) is(p *catalog.Provider, name string) bool {
	return p.Slug == name || slices.Contains(p.Aliases, name)
}

// meant reports whether one of the names allows a model at a provider, as itself
// or as what stands in for it.
func (w *world) meant(names []string, model string, p *catalog.Provider) bool {
	return slices.ContainsFunc(names, func(text string) bool {
		name, refusal := decide.ParseName(text)
		return refusal == nil && (name.Provider == "" || w.is(p, name.Provider)) && w.leadsTo(name.Model, model, 0)
	})
}

func (w *world) leadsTo(name, model string, depth int) bool {
	if name == model || name == catalog.FreeModel && (&catalog.Model{ID: model}).Free() || "acme/"+name == model {
		return true
	}
	for _, m := range w.catalog.Models {
		if (m.ID == name || m.ID == "acme/"+name) && m.Lifecycle.Replacement != "" && depth < len(w.catalog.Models) {
			return w.leadsTo(m.Lifecycle.Replacement, model, depth+1) || w.leadsTo(m.Lifecycle.Replacement+catalog.FreeSuffix, model, depth+1)
		}
	}
	return false
}
