package routing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const (
	maxModelName = 256
	maxNamed     = 8 // models that a message names
)

// models checks the default model and the fallback models; the providers must
// have been checked before.
func (c *check) models(r *policy.Routing) {
	if r.Auto && r.DefaultModel != "" {
		c.add("auto", Contradiction, "excludes default_model: the default model is then signalbox/auto")
	}
	if r.DefaultModel != "" {
		c.model("default_model", r.DefaultModel, true)
	}
	c.v.Strings(c.path("fallback_models"), r.FallbackModels, policy.MaxFallbacks, maxModelName, nil)
	if len(r.FallbackModels) > policy.MaxFallbacks {
		return
	}
	for i, name := range r.FallbackModels {
		if name != "" && len(name) <= maxModelName && !slices.Contains(r.FallbackModels[:i], name) {
			c.model(fmt.Sprintf("fallback_models[%d]", i), name, false)
		}
	}
}

// model checks that text names something that the catalog can serve under the
// providers' restrictions.
func (c *check) model(path, text string, auto bool) {
	name, refusal := decide.ParseName(text)
	switch {
	case refusal != nil:
		c.add(path, rule.Malformed, refusal.Violations[0].Message)
		return
	case name.Preset != "":
		c.preset(path, name.Preset)
		return
	case name.Model == catalog.AutoModel && (!auto || text != catalog.AutoModel):
		c.add(path, rule.NotAllowed, "signalbox/auto can only be the default model, without a provider or suffix")
		return
	}
	var qualifier *catalog.Provider
	if name.Provider != "" {
		if qualifier = c.provider(path, name.Provider); qualifier == nil {
			return
		}
		if len(c.only) > 0 && !slices.Contains(c.only, qualifier) || slices.Contains(c.ignore, qualifier) {
			c.add(path, Contradiction, "names a provider that provider.only or provider.ignore excludes")
			return
		}
	}
	if name.Model == catalog.AutoModel || name.Model == catalog.FreeModel {
		if qualifier != nil {
			c.add(path, rule.NotAllowed, name.Model+" takes no provider")
		}
		return
	}
	if m := c.resolve(path, name.Model); m != nil {
		c.served(path, m, qualifier)
	}
}

// preset checks what follows the @ of a preset's name.
func (c *check) preset(path, text string) {
	if c.shelf == nil {
		c.add(path, rule.NotAllowed, "must be a model, not a preset")
		return
	}
	switch c.shelf.Standing(text) {
	case flow.Known:
	case flow.Undeployed:
		c.add(path, UnknownPreset, "the preset has no deployed version, or is archived")
	case flow.Confined:
		c.add(path, rule.NotAllowed, "the preset is private: only keys of its creator can use it")
	default:
		c.add(path, UnknownPreset, "there is no preset with this name, or no such version of it")
	}
}

// resolve finds the one model that a name means, or notes why there is none.
func (c *check) resolve(path, name string) *catalog.Model {
	found := c.catalog.Resolve(name)
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		message := "there is no model with this id"
		if near := c.catalog.Suggest(name); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, ", ") + "?"
		}
		c.add(path, UnknownModel, message)
		return nil
	}
	ids := make([]string, 0, maxNamed)
	for _, m := range found[:min(len(found), maxNamed)] {
		ids = append(ids, m.ID)
	}
	c.add(path, UnknownModel, "several models have this name: "+strings.Join(ids, ", ")+"; write the one you mean with its author")
	return nil
}

// served notes when no provider that the fields leave has the model, so that
// every request for it would fail.
func (c *check) served(path string, m *catalog.Model, qualifier *catalog.Provider) {
	if slices.Contains(c.only, nil) || qualifier == nil && len(c.only) == 0 && len(c.ignore) == 0 {
		return
	}
	for _, o := range c.catalog.Offers(m) {
		switch p := o.Provider; {
		case qualifier != nil && p != qualifier:
		case len(c.only) > 0 && !slices.Contains(c.only, p):
		case slices.Contains(c.ignore, p):
		default:
			return
		}
	}
	c.add(path, Contradiction, "no provider that is allowed here serves this model")
}
