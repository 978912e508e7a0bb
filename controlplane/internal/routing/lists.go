package routing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const maxPattern = 200 // characters

// CheckLists notes everything that is wrong with what a guardrail allows and
// blocks, nil for what is not said, and returns both as they are to be kept:
// models by their ids and providers by their slugs. An entry that names nothing
// is refused, since a block with a mistake in it would let through what it is
// there for; a provider that is switched off may be named, since a list of a
// guardrail holds also when it is on again.
func (k *Checker) CheckLists(v *rule.Violations, models, providers *policy.Lists) (keptModels, keptProviders *policy.Lists) {
	c := k.check(v, "")
	return c.lists("models", models, c.patterns), c.lists("providers", providers, c.slugs)
}

// CheckReach notes allow lists that leave nothing of the catalog under the
// other rules. To block everything is somebody's wish; to allow what cannot be
// is nobody's.
func (k *Checker) CheckReach(v *rule.Violations, rules policy.GuardrailRules) {
	c := k.check(v, "")
	models, providers := len(rules.Models.Allow) > 0, len(rules.Providers.Allow) > 0
	if !models && !providers {
		return
	}
	stage := decide.Empties(c.catalog, rules)
	switch {
	case stage == decide.StageNone:
	case stage == decide.StageModelPolicy && models:
		c.add("models.allow", Contradiction, "leaves no model, since models.block has all that it allows")
	case stage == decide.StageProviderPolicy && providers:
		c.add("providers.allow", Contradiction, "leaves no provider that is switched on and serves a model that may be used")
	case stage == decide.StageProviderPolicy:
		c.add("models.allow", Contradiction, "leaves no model that a provider which may be used serves")
	case stage == decide.StageDataPolicy:
		c.add("data_policy", Contradiction, "is not promised by any provider that may be used")
	}
}

// lists keeps one pair of lists. What is in both is allowed and is not.
func (c *check) lists(path string, l *policy.Lists, keep func(path string, names []string) []string) *policy.Lists {
	if l == nil {
		return nil
	}
	kept := policy.Lists{Allow: keep(path+".allow", l.Allow), Block: keep(path+".block", l.Block)}
	for i, name := range kept.Block {
		if name != "" && slices.Contains(kept.Allow, name) {
			c.add(fmt.Sprintf("%s.block[%d]", path, i), Contradiction, "is in "+path+".allow too")
		}
	}
	return &kept
}

// patterns keeps names of models as ids, and patterns with one * for a run. The result
// has a place for each entry, "" where it is of no use.
func (c *check) patterns(path string, list []string) []string {
	return c.each(path, list, policy.MaxGuardrailModels, func(at, entry string) string {
		entry = policy.CollapseStars(entry)
		c.v.Stars(c.path(at), entry)
		switch {
		case !rule.ModelPattern(entry):
			c.add(at, rule.Malformed, "must be a model's id, or a pattern with *")
		case !strings.Contains(entry, "*"):
			if m := c.resolve(at, entry); m != nil {
				return m.ID
			}
		case !c.anyModel(entry):
			c.add(at, UnknownModel, "matches no model")
		default:
			return entry
		}
		return ""
	})
}

func (c *check) anyModel(pattern string) bool {
	models := c.catalog.Models()
	return slices.ContainsFunc(models, func(m catalog.Model) bool { return decide.Covers(pattern, &m) })
}

// slugs keeps names of providers as slugs.
func (c *check) slugs(path string, list []string) []string {
	return c.each(path, list, policy.MaxGuardrailProviders, func(at, entry string) string {
		p, ok := c.catalog.Provider(entry)
		if !ok {
			c.add(at, UnknownProvider, "no provider has this name")
			return ""
		}
		return p.Slug
	})
}

func (c *check) each(path string, list []string, most int, keep func(at, entry string) string) []string {
	if len(list) > most {
		c.add(path, rule.TooLong, fmt.Sprintf("must have at most %d entries", most))
		return nil
	}
	var kept []string
	for i, entry := range list {
		at, name := fmt.Sprintf("%s[%d]", path, i), ""
		switch {
		case entry == "":
			c.add(at, rule.Required, "must not be empty")
		case len(entry) > maxPattern:
			c.add(at, rule.TooLong, fmt.Sprintf("must have at most %d characters", maxPattern))
		default:
			name = keep(at, entry)
		}
		if name != "" && slices.Contains(kept, name) {
			c.add(at, rule.Duplicate, "is in the list already")
		}
		kept = append(kept, name)
	}
	return kept
}
