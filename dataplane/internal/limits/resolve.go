package limits

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
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

// attribution is what a request counts toward. A guardrail is named where
// something is about one.
func attribution(c *call.Call, k *policy.Key, v *policy.View, preset *policy.PresetVersion) wire.Attribution {
	a := wire.Attribution{Departments: v.CountsToward(k), Agent: c.Request.Agent}
	if a.Agent == "" {
		a.Agent = k.Agent
	}
	l := v.Limited()
	if l == nil || len(l.OfGuardrails) == 0 {
		return a
	}
	for _, g := range guardrailsOf(v, k, preset) {
		if len(l.OfGuardrails[g]) > 0 {
			a.Guardrails = append(a.Guardrails, g)
		}
	}
	return a
}

// guardrailsOf are those that bind a request: by its key, and by its preset.
func guardrailsOf(v *policy.View, k *policy.Key, preset *policy.PresetVersion) []id.Guardrail {
	bound := v.Guardrails(k.ID, k.CreatedBy)
	out := make([]id.Guardrail, 0, len(bound)+2)
	for i := range bound {
		out = append(out, bound[i].ID)
	}
	if preset == nil {
		return out
	}
	for _, g := range preset.Config.Guardrails {
		if _, there := v.Guardrail(g); there && !slices.Contains(out, g) {
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
}

// resolve finds the rules in the order in which they are held against a request:
// of its key, member, departments, guardrails, end user.
func (a *admission) resolve(c *call.Call, step *decide.Step) {
	l := a.view.Limited()
	if l == nil {
		return
	}
	var names [1024]byte
	var ends [3 * usual]int
	r := resolver{rules: a.room[:0], names: names[:0], ends: ends[:0]}
	k := &a.key
	for _, p := range l.Keys[k.ID] {
		r.add(p, policy.LimitsKey, func(b []byte) []byte { return k.ID.AppendTo(b) })
	}
	if !k.CreatedBy.IsZero() {
		for _, p := range l.Members[k.CreatedBy] {
			r.add(p, policy.LimitsMember, func(b []byte) []byte { return k.CreatedBy.AppendTo(b) })
		}
	}
	for _, d := range a.terms.Departments {
		for _, p := range l.Departments[d] {
			r.add(p, policy.LimitsDepartment, func(b []byte) []byte { return d.AppendTo(b) })
		}
	}
	if len(l.Guardrails) > 0 {
		for _, g := range guardrailsOf(a.view, k, step.Preset) {
			for _, p := range l.Guardrails[g] {
				r.add(p, policy.LimitsGuardrail, func(b []byte) []byte { return k.ID.AppendTo(append(g.AppendTo(b), '-')) })
			}
		}
	}
	if user := c.Request.EndUser; user != "" && len(l.EndUsers) > 0 {
		name := endUser(user)
		for _, p := range l.EndUsers {
			r.add(p, policy.LimitsEndUser, func(b []byte) []byte { return append(b, name...) })
		}
	}
	a.rules = r.named()
}

// endUser is an end user as part of a token, whatever the text was.
func endUser(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// add adds a rule with the subjects that its policy limits.
func (r *resolver) add(p *policy.RatePolicy, scope policy.LimitScope, who func([]byte) []byte) {
	r.rules = append(r.rules, rule{policy: p, scope: scope})
	for i, limit := range [...]int64{p.Requests, p.Tokens, p.Concurrent} {
		if limit > 0 {
			r.names = append(r.names, "rtc"[i], '-')
			r.names = who(append(p.ID.AppendTo(r.names), '-'))
		}
		r.ends = append(r.ends, len(r.names))
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
	return r.rules
}

// allowanceOf is the subject of a user's allowance; those without an owner share
// one.
func allowanceOf(user id.User) string {
	if user.IsZero() {
		return "a-none"
	}
	return "a-" + user.String()
}
