package decide

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
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
	bound := c.in.Policy.Guardrails(c.in.Facts.Key.ID, c.in.Facts.Key.Owner)
	if len(bound) == 0 {
		return
	}
	named := 0
	for i := range bound {
		named += len(bound[i].Rules.Providers.Allow) + len(bound[i].Rules.Providers.Block)
	}
	guards, found := make([]guard, len(bound)), make([]*catalog.Provider, 0, named)
	for i, b := range bound {
		g := &guards[i]
		g.rung, g.rail = guardRung(b.Scope), b
		found, g.allow = known(c.in.Catalog, b.Rules.Providers.Allow, found)
		found, g.block = known(c.in.Catalog, b.Rules.Providers.Block, found)
	}
	c.restrictions.guards = guards
}

// guardBy takes in a guardrail that a preset names. One that is not there, or is
// switched off, binds nobody.
func (c *climber) guardBy(rail id.Guardrail) {
	g, ok := c.in.Policy.Guardrail(rail)
	if !ok || slices.ContainsFunc(c.restrictions.guards, func(have guard) bool { return have.rail.Guardrail == g }) {
		return
	}
	more := guard{rung: RungPreset, rail: policy.Bind(g, policy.GuardsKey)}
	_, more.allow = known(c.in.Catalog, g.Rules.Providers.Allow, nil)
	_, more.block = known(c.in.Catalog, g.Rules.Providers.Block, nil)
	c.restrictions.guards = append(slices.Clip(c.restrictions.guards), more)
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

// known appends to all the providers that still have the names, and returns
// them apart too. One that has left the catalog serves nothing: it is neither
// allowed nor in need of being blocked.
func known(c *catalog.View, names []string, all []*catalog.Provider) (more, found []*catalog.Provider) {
	from := len(all)
	for _, name := range names {
		if p, ok := c.Provider(name); ok {
			all = append(all, p)
		}
	}
	return all, all[from:len(all):len(all)]
}

// refusesModel: a blocked model stays blocked under the aliases that it had
// when it was blocked, should its id change.
func (g *guard) refusesModel(m *catalog.Model) bool {
	return !g.rail.Allowed.Empty() && !g.rail.Allowed.List(m.ID, m.BareName()) || !g.rail.Blocked.Empty() && called(g.rail.Blocked, m)
}

// called reports whether an entry matches a model by its id or an alias.
func called(names *policy.ModelNames, m *catalog.Model) bool {
	if names.List(m.ID, m.BareName()) {
		return true
	}
	for _, alias := range m.Aliases {
		named := catalog.Model{ID: alias}
		if names.List(alias, named.BareName()) {
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

// refuses is the first stage at which g drops an endpoint, with what it says of
// the models that the request is about.
func (g *guard) refuses(model bool, o *catalog.Offer) Stage {
	switch {
	case model:
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
	if against(&p.DataPolicy, true, true) == "" {
		return nil, "" // whatever is demanded
	}
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

// recordGuards writes what binds the request, before anything else that a long
// ladder would leave no room for. There are at most as many as a workspace has.
func (d *decision) recordGuards(guards []guard) {
	for len(guards) > 0 {
		rung, ids := guards[0].rung, make([]string, 0, len(guards))
		for len(guards) > 0 && guards[0].rung == rung {
			ids, guards = append(ids, guards[0].rail.ID.String()), guards[1:]
		}
		d.plan.Record.Policy = append(d.plan.Record.Policy, ResolvedField{Field: "guardrails", Rung: rung.String(), Value: strings.Join(ids, ",")})
	}
}

// recordGuard writes what a guardrail demands, each thing as a field of its own.
func (d *decision) recordGuard(g *guard) {
	rules, by := &g.rail.Rules, ResolvedField{Rung: g.rung.String(), Guardrail: g.rail.ID.String()}
	keep := func(field, value string) {
		if value != "" {
			by.Field = field
			d.keepField(by, value)
		}
	}
	keep("guardrail.models.allow", d.joined(rules.Models.Allow))
	keep("guardrail.models.block", d.joined(rules.Models.Block))
	keep("guardrail.providers.allow", d.joined(rules.Providers.Allow))
	keep("guardrail.providers.block", d.joined(rules.Providers.Block))
	if rules.RequireZDR {
		keep("guardrail.data_policy.require_zero_data_retention", "true")
	}
	if rules.DenyTraining {
		keep("guardrail.data_policy.deny_training", "true")
	}
}

// joined is a list as a field's value, no longer than the record keeps of it.
func (d *decision) joined(list []string) string {
	if d.whole {
		return strings.Join(list, ",")
	}
	for i, size := 0, 0; i < len(list); i++ {
		if size += len(list[i]) + 1; size > maxFieldValue {
			list = list[:i+1]
		}
	}
	return strings.Join(list, ",")
}

// Covers reports whether a pattern of a guardrail is about a model, by its id
// or an alias.
func Covers(pattern string, m *catalog.Model) bool {
	return called(policy.NamesOf([]string{pattern}), m)
}

// Empties is the stage at which a guardrail leaves nothing of a catalog that a
// provider which is switched on serves; StageNone where it leaves something.
func Empties(c *catalog.View, rules policy.GuardrailRules) Stage {
	g := guard{rail: policy.Bind(&policy.Guardrail{Rules: rules}, policy.GuardsWorkspace)}
	_, g.allow = known(c, rules.Providers.Allow, nil)
	_, g.block = known(c, rules.Providers.Block, nil)
	highest := StageModelPolicy
	models := c.Models()
	for i := range models {
		refused := g.refusesModel(&models[i])
		for _, o := range c.Offers(&models[i]) {
			stage := g.refuses(refused, &o)
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
