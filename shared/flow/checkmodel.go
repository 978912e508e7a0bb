package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// The bounds of preferences, those of a profile.
const (
	maxModel      = 256     // bytes of a model's name
	maxRegion     = 64      // bytes
	maxLatency    = 600     // seconds
	maxThroughput = 100_000 // tokens a second
)

// The models that are not of the catalog.
const (
	autoModel = "signalbox/auto"
	freeModel = "signalbox/free"
)

func (k *checker) model(n *Node) {
	if n.Model != "" {
		k.modelName("model", n.Model)
	}
	modes := []string{"balanced", "price", "latency", "throughput"}
	if n.RoutingMode != "" && !slices.Contains(modes, n.RoutingMode) {
		k.addf("routing_mode", NotAllowed, "want one of %s", join(modes))
	}
	if len(n.FallbackModels) > MaxFallbacks {
		k.addf("fallback_models", TooLong, "want at most %d fallback models, not %d", MaxFallbacks, len(n.FallbackModels))
	}
	for i, name := range first(n.FallbackModels) {
		at := fmt.Sprintf("fallback_models[%d]", i)
		switch {
		case name == "":
			k.addf(at, Required, "want the name of a model")
		case name == autoModel || strings.HasPrefix(name, autoModel+":"):
			k.addf(at, NotAllowed, "%s cannot be a fallback", autoModel)
		case name == n.Model:
			k.addf(at, Duplicate, "is the node's model")
		case slices.Contains(n.FallbackModels[:i], name):
			k.addf(at, Duplicate, "is in the list already")
		default:
			k.modelName(at, name)
		}
	}
	if n.Provider != nil {
		k.provider(n.Provider)
	}
}

func (k *checker) modelName(field, name string) {
	if len(name) > maxModel {
		k.addf(field, TooLong, "want at most %d bytes", maxModel)
		return
	}
	if k.names == nil || name == autoModel || name == freeModel {
		return
	}
	preset := strings.HasPrefix(name, "@")
	switch k.names.Model(name) {
	case Missing:
		if preset {
			k.addf(field, NotFound, "there is no preset of this name, or no such version of it")
			return
		}
		k.addf(field, NotFound, "there is no model of this name")
	case BadName:
		k.addf(field, Malformed, "want author/model, a model's bare name, or a preset behind an @")
	case Unclear:
		k.addf(field, Ambiguous, "several models have this name; write author/model")
	case SwitchedOff:
		k.addf(field, Disabled, "what this names is not enabled")
	case Deprecates:
		k.warnf(field, DeprecatedModel, "this model is deprecated")
	case Retires:
		k.warnf(field, RetiredModel, "this model is retired")
	case Undeployed:
		k.addf(field, Disabled, "this preset has no deployed version, or is archived")
	case Confined:
		k.warnf(field, PrivatePreset, "this preset is private: only keys of its creator can use it")
	default:
	}
}

func (k *checker) provider(p *Provider) {
	k.providers("provider.order", p.Order)
	k.providers("provider.only", p.Only)
	k.providers("provider.ignore", p.Ignore)
	for i, slug := range first(p.Ignore) {
		if slug != "" && slices.Contains(p.Only, slug) {
			k.addf(fmt.Sprintf("provider.ignore[%d]", i), NotAllowed, "is in provider.only too")
		}
	}
	for i, slug := range first(p.Order) {
		switch at := fmt.Sprintf("provider.order[%d]", i); {
		case slug == "": // which is a problem already
		case slices.Contains(p.Ignore, slug):
			k.addf(at, NotAllowed, "is in provider.ignore too")
		case len(p.Only) > 0 && !slices.Contains(p.Only, slug):
			k.addf(at, NotAllowed, "is not in provider.only")
		}
	}
	sorts := []string{"price", "latency", "throughput"}
	if p.Sort != "" && !slices.Contains(sorts, p.Sort) {
		k.addf("provider.sort", NotAllowed, "want one of %s", join(sorts))
	}
	k.region(p.Region)
	if p.MaxPrice != nil {
		k.price("provider.max_price.input", p.MaxPrice.Input)
		k.price("provider.max_price.output", p.MaxPrice.Output)
	}
	k.above("provider.preferred_max_latency", p.PreferredMaxLatency, maxLatency, "seconds")
	k.above("provider.preferred_min_throughput", p.PreferredMinThroughput, maxThroughput, "tokens a second")
}

// first is what is looked at of a list that may be far beyond its bounds: every
// entry is compared with those before it.
func first(list []string) []string { return list[:min(len(list), 4*MaxProviders)] }

func (k *checker) providers(field string, slugs []string) {
	if len(slugs) > MaxProviders {
		k.addf(field, TooLong, "want at most %d providers", MaxProviders)
	}
	for i, slug := range first(slugs) {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch {
		case slug == "":
			k.addf(at, Required, "want the slug of a provider")
		case slices.Contains(slugs[:i], slug):
			k.addf(at, Duplicate, "is in the list already")
		case k.names != nil:
			k.standing(at, k.names.Provider(slug), "provider")
		}
	}
}

func (k *checker) region(name string) {
	switch {
	case len(name) > maxRegion:
		k.addf("provider.required_region", TooLong, "want at most %d bytes", maxRegion)
	case name != "" && k.names != nil:
		k.standing("provider.required_region", k.names.Region(name), "region")
	}
}

func (k *checker) standing(field string, s Standing, what string) {
	switch s {
	case Missing, BadName, Unclear:
		k.addf(field, NotFound, "there is no %s of this name", what)
	case SwitchedOff:
		k.addf(field, Disabled, "this %s is not enabled", what)
	default:
	}
}

func (k *checker) price(field, text string) {
	if text == "" {
		return
	}
	if _, err := money.ParsePerMillion(text); err != nil {
		k.addf(field, Malformed, "want a price of 0 or more in USD per million tokens, with at most 9 decimals")
	}
}

// above is written so that what is no number is out of range too.
func (k *checker) above(field string, n *float64, most int, unit string) {
	if n != nil && !(*n > 0 && *n <= float64(most)) {
		k.addf(field, OutOfRange, "want above 0 and at most %d %s", most, unit)
	}
}
