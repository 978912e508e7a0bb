package catalog

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/shared/condition"
)

// Rule is an operator's: it replaces the whole chain of the requests for its
// model that meet When. A model's rules are in order, and the first that
// matches decides.
type Rule struct {
	Name     string              `json:"name"` // a slug, unique among the model's
	Disabled bool                `json:"disabled,omitempty"`
	When     condition.Condition `json:"when"`
	Then     Then                `json:"then"`
}

// Then is what a rule puts in place of the chain: a target, and what is tried
// after it. Nothing else is.
type Then struct {
	Target
	Fallbacks []Target `json:"fallbacks,omitempty"` // at most MaxRuleFallbacks
}

// Target narrows where a request goes. A member that is not set leaves its
// choice to the ranking. At least one is set.
type Target struct {
	Model    string `json:"model,omitempty"`    // canonical id; "" is the rule's own model
	Provider string `json:"provider,omitempty"` // slug
	Region   string `json:"region,omitempty"`   // of the provider's endpoint; needs Provider
	// UpstreamModel is what the provider is asked for in place of the
	// endpoint's own; needs Provider. Limits and prices stay those of the
	// provider's endpoint of the model, and are not known where it has none.
	UpstreamModel string     `json:"upstream_model,omitempty"`
	Credential    Credential `json:"credential,omitempty"`
}

// Credential says whose keys a target may use.
type Credential string

// The credentials. The zero value leaves the usual order: the workspace's own
// keys, the platform's, and the workspace's for fallback.
const (
	ManagedCredential Credential = "managed" // the platform's key alone
	BYOKCredential    Credential = "byok"    // the workspace's own keys alone
)

// Bounds of rules.
const (
	MaxRules         = 64 // of a model
	MaxRuleFallbacks = 8
)

// RuleSources are what a rule's condition may look at.
func RuleSources() []condition.Source {
	return []condition.Source{condition.WorkspaceTag, condition.KeyScope, condition.Model, condition.Metadata}
}

// Targets are the rule's targets in the order in which they are tried.
func (t *Then) Targets() []Target { return append([]Target{t.Target}, t.Fallbacks...) }

// rules checks the rules of one model.
func (k *checker) rules(path string, m *Model) {
	if len(m.Rules) > MaxRules {
		k.addf(path, "want at most %d rules", MaxRules)
	}
	seen := make(map[string]bool, len(m.Rules))
	for i := range m.Rules {
		r, at := &m.Rules[i], fmt.Sprintf("%s[%d]", path, i)
		switch {
		case !ValidSlug(r.Name):
			k.addf(at+".name", "want lower-case letters, digits and hyphens")
		case seen[r.Name]:
			k.addf(at+".name", "another rule of the model has this name")
		}
		seen[r.Name] = true
		for _, p := range condition.Check(r.When, at+".when", RuleSources()...) {
			k.addf(p.Path, "%s", p.Message)
		}
		k.target(at+".then", m, &r.Then.Target)
		if len(r.Then.Fallbacks) > MaxRuleFallbacks {
			k.addf(at+".then.fallbacks", "want at most %d fallbacks", MaxRuleFallbacks)
		}
		for j := range r.Then.Fallbacks {
			k.target(fmt.Sprintf("%s.then.fallbacks[%d]", at, j), m, &r.Then.Fallbacks[j])
		}
	}
}

func (k *checker) target(path string, own *Model, t *Target) {
	if *t == (Target{}) {
		k.addf(path, "want at least one of model, provider, upstream_model and credential")
		return
	}
	model := own
	if t.Model != "" {
		if model = k.models[t.Model]; model == nil {
			k.addf(path+".model", "want the id of a model of the catalog")
		}
	}
	switch {
	case t.Provider == "":
		if t.Region != "" {
			k.addf(path+".provider", "is required with region")
		}
		if t.UpstreamModel != "" {
			k.addf(path+".provider", "is required with upstream_model")
		}
		if model != nil && len(model.Endpoints) == 0 {
			k.addf(path, "no provider of the catalog serves the model")
		}
	case !k.providers[t.Provider]:
		k.addf(path+".provider", "there is no provider with this slug")
	case model != nil && t.UpstreamModel == "" && len(model.endpointsAt(t.Provider, t.Region)) == 0:
		k.addf(path+".provider", "the provider has no endpoint of the model here; add one, or set upstream_model")
	}
	if t.Region != "" && !ValidSlug(t.Region) {
		k.addf(path+".region", "want lower-case letters, digits and hyphens")
	}
	switch t.Credential {
	case "", ManagedCredential, BYOKCredential:
	default:
		k.addf(path+".credential", "want managed or byok")
	}
}

// endpointsAt are the places of a model's endpoints at a provider, in a region
// when one is named.
func (m *Model) endpointsAt(provider, region string) []int {
	var at []int
	for i := range m.Endpoints {
		if e := &m.Endpoints[i]; e.Provider == provider && (region == "" || e.Region == region) {
			at = append(at, i)
		}
	}
	return at
}
