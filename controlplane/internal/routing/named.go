package routing

import (
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// CheckModel notes what is wrong with one model that is to be used under
// preferences, which are checked elsewhere. The model may be signalbox/auto.
func (k *Checker) CheckModel(v *rule.Violations, path, name string, under policy.Preferences) {
	c := k.check(&rule.Violations{}, "")
	c.providers(&under)
	c.v = v
	c.model(path, name, true)
}

// CheckPatterns notes what is wrong with a list of models, by ids or patterns
// with *, and returns it as it is to be kept. Each must name something.
func (k *Checker) CheckPatterns(v *rule.Violations, path string, list []string) []string {
	return k.check(v, "").patterns(path, list)
}

// CheckProviders does so for a list of providers, by slugs.
func (k *Checker) CheckProviders(v *rule.Violations, path string, list []string) []string {
	return k.check(v, "").slugs(path, list)
}

// Slug is the slug of a provider that is named in any of its ways.
func (k *Checker) Slug(name string) (string, bool) {
	p, ok := k.offered.Provider(name)
	if !ok {
		return "", false
	}
	return p.Slug, true
}

// CheckCovered notes a model that no entry of allow is about. What is no one
// model of the catalog is passed over: it is noted elsewhere.
func (k *Checker) CheckCovered(v *rule.Violations, path, name string, allow []string) {
	parsed, refusal := decide.ParseName(name)
	if refusal != nil || len(allow) == 0 {
		return
	}
	found := k.offered.Resolve(parsed.Model)
	if len(found) == 1 && !slices.ContainsFunc(allow, func(entry string) bool { return decide.Covers(entry, found[0]) }) {
		v.Add(path, Contradiction, "is not among the models that are allowed")
	}
}
