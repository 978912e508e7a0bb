package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// rule is a rate-limit policy that applies to a request, and the subjects that it
// counts: for requests, tokens and what goes on at once, "" without such a limit.
type rule struct {
	policy *policy.RatePolicy
	scope  policy.LimitScope

	requests, tokens, slots string
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
	out, bound := a.rails[:0], a.view.Guardrails(a.key, a.user)
	for i := range bound {
		out = append(out, bound[i].ID)
	}
	if preset == nil {
		return out
	}
	for _, g := range preset.Config.Guardrails {
		if _, there := a.view.Guardrail(g); there && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// resolver finds the rules of a request. The names of all their subjects are
// parts of one text.
type resolver struct {
	rules []rule
	names []byte
	ends  []int // of the names, in the order of the rules
	whom  [128]byte
}

// resolvers are at hand, with room for the names of most requests.
var resolvers = sync.Pool{New: func() any {
	return &resolver{names: make([]byte, 0, 80*usual), ends: make([]int, 0, 3*usual)}
}}

// resolve finds the rules in the order in which they are held against a request:
// of its key, member, departments, guardrails, end user.
func (a *admission) resolve(c *call.Call, preset *policy.PresetVersion) {
	l := a.view.Limited()
	if l == nil {
		return
	}
	r := resolvers.Get().(*resolver)
	defer resolvers.Put(r)
	r.rules, r.names, r.ends = a.ruled[:0], r.names[:0], r.ends[:0]
	whom := r.whom[:]
	if policies := l.Keys[a.key]; len(policies) > 0 {
		r.add(policies, policy.LimitsKey, a.key.AppendTo(whom[:0]))
	}
	if policies := l.Members[a.user]; len(policies) > 0 && !a.user.IsZero() {
		r.add(policies, policy.LimitsMember, a.user.AppendTo(whom[:0]))
	}
	for _, d := range a.terms.Departments {
		if policies := l.Departments[d]; len(policies) > 0 {
			r.add(policies, policy.LimitsDepartment, d.AppendTo(whom[:0]))
		}
	}
	if len(l.Guardrails) > 0 {
		for _, g := range a.guardrails(preset) {
			if policies := l.Guardrails[g]; len(policies) > 0 {
				r.add(policies, policy.LimitsGuardrail, a.key.AppendTo(append(g.AppendTo(whom[:0]), '-')))
			}
		}
	}
	if user := c.Request.EndUser; user != "" && len(l.EndUsers) > 0 {
		r.add(l.EndUsers, policy.LimitsEndUser, endUser(whom[:0], user))
	}
	a.rules = r.named()
}

// endUser is an end user as part of a token, whatever the text was.
func endUser(dst []byte, text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return hex.AppendEncode(dst, sum[:16])
}

// add adds a rule for each of some policies, with the subjects that it limits.
func (r *resolver) add(policies []*policy.RatePolicy, scope policy.LimitScope, whom []byte) {
	for _, p := range policies {
		r.rules = append(r.rules, rule{policy: p, scope: scope})
		for i, limit := range [...]int64{p.Requests, p.Tokens, p.Concurrent} {
			if limit > 0 {
				r.names = append(p.ID.AppendTo(append(r.names, "rtc"[i], '-')), '-')
				r.names = append(r.names, whom...)
			}
			r.ends = append(r.ends, len(r.names))
		}
	}
}

// named gives the rules their names, once all are written.
func (r *resolver) named() []rule {
	text, from := string(r.names), 0
	for i := range r.rules {
		one := &r.rules[i]
		for j, into := range [...]*string{&one.requests, &one.tokens, &one.slots} {
			end := r.ends[3*i+j]
			*into, from = text[from:end], end
		}
	}
	rules := r.rules
	r.rules = nil // they are the request's
	return rules
}

// allowanceOf is the subject of a user's allowance; those without an owner share
// one.
func allowanceOf(user id.User) string {
	if user.IsZero() {
		return "a-none"
	}
	return "a-" + user.String()
}
