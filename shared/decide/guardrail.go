package decide

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// guard is a guardrail that binds the request, with its providers looked up.
// What it says holds beside what every rung demands: there is nothing in it
// that could widen anything.
type guard struct {
	rung         Rung
	rail         policy.BoundGuardrail
	allow, block []*catalog.Provider
}

// guard takes the guardrails in that bind the request.
func (c *climber) guard() {
	for _, b := range c.in.Policy.Guardrails(c.in.Facts.Key.ID, c.in.Facts.Key.Owner) {
		c.restrictions.guards = append(c.restrictions.guards, guard{
			rung: guardRung(b.Scope), rail: b,
			allow: known(c.in.Catalog, b.Rules.Providers.Allow), block: known(c.in.Catalog, b.Rules.Providers.Block),
		})
	}
}

func guardRung(s policy.GuardrailScope) Rung {
	switch s {
	case policy.GuardsWorkspace:
		return RungWorkspaceGuardrail
	case policy.GuardsMember:
		return RungMemberGuardrail
	case policy.GuardsKey:
	}
	return RungKeyGuardrail
}

// known are the providers that still have the names. One that has left the
// catalog serves nothing: it is neither allowed nor in need of being blocked.
func known(c *catalog.View, names []string) []*catalog.Provider {
	var found []*catalog.Provider
	for _, name := range names {
		if p, ok := c.Provider(name); ok {
			found = append(found, p)
		}
	}
	return found
}

// refusesModel: a blocked model stays blocked under the aliases that it had
// when it was blocked, should its id change.
func (g *guard) refusesModel(m *catalog.Model) bool {
	return !allows(g.rail.Rules.Models.Allow, m) || len(g.rail.Rules.Models.Block) > 0 && called(g.rail.Rules.Models.Block, m)
}

// called reports whether a pattern matches a model by its id or an alias.
func called(patterns []string, m *catalog.Model) bool {
	if allows(patterns, m) {
		return true
	}
	for _, alias := range m.Aliases {
		named := catalog.Model{ID: alias}
		if allows(patterns, &named) {
			return true
		}
	}
	return false
}

// refusesProvider: an aggregator picks a provider of its own, and may pick a
// blocked one.
func (g *guard) refusesProvider(p *catalog.Provider) bool {
	allow, block := len(g.rail.Rules.Providers.Allow) > 0, len(g.rail.Rules.Providers.Block) > 0
	return allow && !slices.Contains(g.allow, p) || block && (p.Aggregator || slices.Contains(g.block, p))
}

func (g *guard) refusesData(p *catalog.Provider) string {
	return against(&p.DataPolicy, g.rail.Rules.RequireZDR, g.rail.Rules.DenyTraining)
}

// refuses is the first stage at which g drops an endpoint for a request that
// asked for a model, which is another one than the endpoint's under a rule.
func (g *guard) refuses(asked *catalog.Model, o *catalog.Offer) Stage {
	switch {
	case g.refusesModel(o.Model), asked != nil && g.refusesModel(asked):
		return StageModelPolicy
	case g.refusesProvider(o.Provider):
		return StageProviderPolicy
	case g.refusesData(o.Provider) != "":
		return StageDataPolicy
	}
	return StageNone
}

// These find the widest guardrail that is against something.

func (have *restrictions) guardingModel(m *catalog.Model) *guard {
	for i := range have.guards {
		if have.guards[i].refusesModel(m) {
			return &have.guards[i]
		}
	}
	return nil
}

func (have *restrictions) guardingProvider(p *catalog.Provider) *guard {
	for i := range have.guards {
		if have.guards[i].refusesProvider(p) {
			return &have.guards[i]
		}
	}
	return nil
}

func (have *restrictions) guardingData(p *catalog.Provider) (*guard, string) {
	for i := range have.guards {
		if reason := have.guards[i].refusesData(p); reason != "" {
			return &have.guards[i], reason
		}
	}
	return nil, ""
}

// providerLists are the lists of providers that hold together: the rungs' and
// the guardrails'.
func (have *restrictions) providerLists() (only, ignore []providersOf) {
	only, ignore = slices.Clip(have.only), slices.Clip(have.ignore)
	for i := range have.guards {
		g := &have.guards[i]
		if len(g.rail.Rules.Providers.Allow) > 0 {
			only = append(only, providersOf{rung: g.rung, providers: g.allow})
		}
		if len(g.block) > 0 {
			ignore = append(ignore, providersOf{rung: g.rung, providers: g.block})
		}
	}
	return only, ignore
}

// joinGuards adds what the guardrails say beside their lists of providers.
func (out *Effective) joinGuards(have *restrictions) {
	for i := range have.guards {
		g := &have.guards[i]
		out.Guardrails = append(out.Guardrails, g.rail)
		out.Routing.Provider.RequireZDR = out.Routing.Provider.RequireZDR || g.rail.Rules.RequireZDR
		out.Routing.Provider.DenyTraining = out.Routing.Provider.DenyTraining || g.rail.Rules.DenyTraining
	}
}

// recordGuard writes what a guardrail demands, each thing as a field of its own.
func (d *decision) recordGuard(g *guard) {
	keep := func(field, value string) {
		if value != "" {
			d.keepField(ResolvedField{Field: "guardrail." + field, Rung: g.rung.String(), Guardrail: g.rail.ID.String()}, value)
		}
	}
	keep("models.allow", strings.Join(g.rail.Rules.Models.Allow, ","))
	keep("models.block", strings.Join(g.rail.Rules.Models.Block, ","))
	keep("providers.allow", strings.Join(g.rail.Rules.Providers.Allow, ","))
	keep("providers.block", strings.Join(g.rail.Rules.Providers.Block, ","))
	if g.rail.Rules.RequireZDR {
		keep("data_policy.require_zero_data_retention", "true")
	}
	if g.rail.Rules.DenyTraining {
		keep("data_policy.deny_training", "true")
	}
}

// Covers reports whether a pattern of a guardrail is about a model, by its id
// or an alias.
func Covers(pattern string, m *catalog.Model) bool { return called([]string{pattern}, m) }

// Empties is the stage at which a guardrail leaves nothing of a catalog that a
// provider which is switched on serves; StageNone where it leaves something.
func Empties(c *catalog.View, rules policy.GuardrailRules) Stage {
	g := guard{
		rail:  policy.BoundGuardrail{Guardrail: &policy.Guardrail{Rules: rules}},
		allow: known(c, rules.Providers.Allow), block: known(c, rules.Providers.Block),
	}
	highest := StageModelPolicy
	models := c.Models()
	for i := range models {
		for _, o := range c.Offers(&models[i]) {
			stage := g.refuses(nil, &o)
			if o.Provider.Disabled && stage != StageModelPolicy {
				stage = StageProviderPolicy
			}
			if stage == StageNone {
				return StageNone
			}
			highest = max(highest, stage)
		}
	}
	return highest
}
