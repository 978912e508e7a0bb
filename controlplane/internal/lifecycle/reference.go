package lifecycle

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// policy notes what a workspace's snapshot names.
func (a *alerts) policy(s policy.Snapshot) {
	a.name(Reference{Kind: InSettings, Field: "default_model"}, s.Settings.DefaultModel)
	a.name(Reference{Kind: InSettings, Field: "fallback_models"}, s.Settings.FallbackModels...)
	if s.Auto != nil {
		a.patterns(Reference{Kind: InAuto, Field: "models"}, s.Auto.Models)
	}
	for _, p := range s.Profiles {
		at := Reference{Kind: InProfile, ID: p.ID.String(), Name: p.Name}
		at.Field = "default_model"
		a.name(at, p.Routing.DefaultModel)
		at.Field = "fallback_models"
		a.name(at, p.Routing.FallbackModels...)
	}
	for _, g := range s.Guardrails { // what is blocked may go
		a.patterns(Reference{Kind: InGuardrail, ID: g.ID.String(), Name: g.Name, Field: "models.allow"}, g.Rules.Models.Allow)
	}
	for _, c := range s.Credentials {
		a.patterns(Reference{Kind: InProviderKey, ID: c.ID.String(), Name: c.Provider, Field: "models"}, c.Models)
	}
}

// keys notes what the model lists of API keys name.
func (a *alerts) keys(keys []Key) {
	for _, k := range keys {
		a.patterns(Reference{Kind: InKey, ID: k.ID.String(), Name: k.Name, Field: "models"}, k.Models)
	}
}

// name notes names as requests write them: with a provider before them, a suffix
// behind them, an alias or a bare name.
func (a *alerts) name(at Reference, names ...string) {
	var noted []*Alert
	for _, text := range names {
		for _, one := range a.meant(text) {
			if !slices.Contains(noted, one) {
				noted = append(noted, one)
				one.note(at)
			}
		}
	}
}

// meant are the models that go which a name means.
func (a *alerts) meant(text string) (found []*Alert) {
	name, refusal := decide.ParseName(text)
	if text == "" || refusal != nil {
		return nil
	}
	for _, m := range a.view.Resolve(name.Model) {
		if one, goes := a.byID[m.ID]; goes {
			found = append(found, one)
		}
	}
	return found
}

// patterns notes patterns of models. One that also names a model which stays,
// such as acme/*, goes on naming something: it is no reference.
func (a *alerts) patterns(at Reference, patterns []string) {
	var noted []*Alert
	for _, pattern := range patterns {
		for _, one := range a.only(pattern) {
			if !slices.Contains(noted, one) {
				noted = append(noted, one)
				one.note(at)
			}
		}
	}
}

// only are the models of a pattern that names nothing but models that go.
func (a *alerts) only(pattern string) (found []*Alert) {
	models := a.view.Models()
	for i := range models {
		m := &models[i]
		if !decide.Matches(pattern, m) {
			continue
		}
		one, goes := a.byID[m.ID]
		if !goes {
			return nil
		}
		found = append(found, one)
	}
	return found
}

// suffixes are what a request may write behind a model.
var suffixes = [...]string{"", ":nitro", ":cheap", ":fast"}

// spellings are the names that requests may have for the models that go, sorted.
func (a *alerts) spellings() []string {
	var all []string
	for id := range a.byID {
		m, _ := a.view.Model(id)
		for _, name := range a.names(m) {
			for _, suffix := range suffixes {
				all = append(all, name+suffix)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// names are a model's id, its aliases, and its bare name where nothing else has
// it.
func (a *alerts) names(m *catalog.Model) []string {
	names := append([]string{m.ID}, m.Aliases...)
	if bare := m.BareName(); !strings.Contains(bare, "/") && len(a.view.Resolve(bare)) == 1 {
		names = append(names, bare)
	}
	return names
}
