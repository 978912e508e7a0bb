package limits

import (
	"crypto/sha256"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// What a rate-limit policy counts of somebody, and the allowance, as the kinds of
// names.
const (
	ofRequests  = 'r'
	ofTokens    = 't'
	ofSlots     = 'c'
	ofAllowance = 'a'
)

// rule is a rate-limit policy that applies to a request, and whom it counts: one
// id, or two together.
type rule struct {
	policy *policy.RatePolicy
	scope  policy.LimitScope
	whom   [2]uuid.UUID
}

// name is what the rule counts.
func (r *rule) name(kind byte) rate.Name {
	return rate.Name{Kind: kind, IDs: [...]uuid.UUID{r.policy.ID.UUID(), r.whom[0], r.whom[1]}}
}

// attribution is what a request counts toward, but for guardrails. A request
// takes the place of its key's agent with one that has a budget: any other name
// would lead past the budget of the key's, and be counted for ever.
func attribution(c *call.Call, k *policy.Key, v *policy.View) wire.Attribution {
	a := wire.Attribution{Departments: v.CountsToward(k), Agent: k.Agent}
	if l := v.Limited(); l != nil && len(l.OfAgents[c.Request.Agent]) > 0 {
		a.Agent = c.Request.Agent
	}
	return a
}

// guardBy has the request count toward the guardrails that bind it and have a
// budget.
func (a *admission) guardBy(preset *policy.PresetVersion) {
	l := a.view.Limited()
	if l == nil || len(l.OfGuardrails) == 0 {
		return
	}
	for _, g := range a.guardrails(preset) {
		if len(l.OfGuardrails[g]) > 0 && !slices.Contains(a.terms.Guardrails, g) {
			a.terms.Guardrails = append(slices.Clip(a.terms.Guardrails), g)
		}
	}
}

// guardrails are those that bind the request: by its key, and by its preset.
func (a *admission) guardrails(preset *policy.PresetVersion) []id.Guardrail {
	a.rails = a.rails[:0]
	bound := a.view.Guardrails(a.key, a.user)
	for i := range bound {
		a.rails = append(a.rails, bound[i].ID)
	}
	if preset == nil {
		return a.rails
	}
	for _, g := range preset.Config.Guardrails {
		if _, there := a.view.Guardrail(g); there && !slices.Contains(a.rails, g) {
			a.rails = append(a.rails, g)
		}
	}
	return a.rails
}

// resolve finds the rules in the order in which they are held against a request:
// of its key, member, departments, guardrails, end user.
func (a *admission) resolve(c *call.Call, preset *policy.PresetVersion) {
	l := a.view.Limited()
	if l == nil {
		return
	}
	a.rule(l.Keys[a.key], policy.LimitsKey, a.key.UUID())
	if !a.user.IsZero() {
		a.rule(l.Members[a.user], policy.LimitsMember, a.user.UUID())
	}
	for _, d := range a.terms.Departments {
		a.rule(l.Departments[d], policy.LimitsDepartment, d.UUID())
	}
	if len(l.Guardrails) > 0 {
		for _, g := range a.guardrails(preset) {
			a.rule(l.Guardrails[g], policy.LimitsGuardrail, g.UUID(), a.key.UUID())
		}
	}
	if user := c.Request.EndUser; user != "" && len(l.EndUsers) > 0 {
		a.rule(l.EndUsers, policy.LimitsEndUser, endUser(user))
	}
}

// rule adds one for each of some policies.
func (a *admission) rule(policies []*policy.RatePolicy, scope policy.LimitScope, whom ...uuid.UUID) {
	for _, p := range policies {
		r := rule{policy: p, scope: scope}
		copy(r.whom[:], whom)
		a.rules = append(a.rules, r)
	}
}

// endUser is an end user as an id, whatever the text was.
func endUser(text string) uuid.UUID {
	sum := sha256.Sum256([]byte(text))
	return uuid.UUID(sum[:16])
}

// minute is the subject of a user's allowance; those without an owner share one.
func (a *admission) minute() rate.Name {
	return rate.Name{Kind: ofAllowance, IDs: [...]uuid.UUID{a.user.UUID(), {}, {}}}
}
