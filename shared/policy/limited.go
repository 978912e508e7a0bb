package policy

import (
	"slices"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Limited is Limits by what they are about, so that a request pays for those that
// apply to it and not for the others of its workspace. Each list is sorted by id.
// It is frozen.
type Limited struct {
	Keys        map[id.Key][]*RatePolicy
	Members     map[id.User][]*RatePolicy
	Departments map[id.Department][]*RatePolicy
	Guardrails  map[id.Guardrail][]*RatePolicy
	EndUsers    []*RatePolicy

	Reserves bool // some budget does

	Workspace     []*Budget
	OfDepartments map[id.Department][]*Budget
	OfGuardrails  map[id.Guardrail][]*Budget
	OfAgents      map[string][]*Budget

	Allowance  Allowance
	Credit     Credit
	allowances map[id.User]int64 // those of their own
}

// Limited is what the workspace's requests may use, by what it is about; nil:
// nothing is limited.
func (v *View) Limited() *Limited { return v.limited }

// PerMinute is how many requests a user may make in any 60 seconds; 0: no limit.
func (l *Limited) PerMinute(user id.User) int64 {
	if n, ok := l.allowances[user]; ok && !user.IsZero() {
		return n
	}
	return l.Allowance.PerMinute
}

// ByGuardrail reports whether anything is about a guardrail, so that it matters
// which ones bind a request.
func (l *Limited) ByGuardrail() bool { return len(l.Guardrails)+len(l.OfGuardrails) > 0 }

func limitedOf(l *Limits) *Limited {
	if l == nil {
		return nil
	}
	x := &Limited{Allowance: l.Allowance, Credit: l.Credit}
	x.ratePolicies(l.RatePolicies)
	x.budgets(l.Budgets)
	if len(l.Allowance.Users) > 0 {
		x.allowances = make(map[id.User]int64, len(l.Allowance.Users))
	}
	for _, u := range l.Allowance.Users {
		x.allowances[u.User] = u.PerMinute
	}
	return x
}

func (l *Limited) ratePolicies(all []RatePolicy) {
	l.Keys, l.Members = make(map[id.Key][]*RatePolicy), make(map[id.User][]*RatePolicy)
	l.Departments, l.Guardrails = make(map[id.Department][]*RatePolicy), make(map[id.Guardrail][]*RatePolicy)
	for i := range all {
		p := &all[i]
		bind(l.Keys, p.Keys, p)
		bind(l.Members, p.Members, p)
		bind(l.Departments, p.Departments, p)
		bind(l.Guardrails, p.Guardrails, p)
		if p.EndUsers {
			l.EndUsers = append(l.EndUsers, p)
		}
	}
}

// bind adds p to each of what it is bound to, once.
func bind[K comparable](by map[K][]*RatePolicy, to []K, p *RatePolicy) {
	for _, one := range to {
		if !slices.Contains(by[one], p) {
			by[one] = append(by[one], p)
		}
	}
}

func (l *Limited) budgets(all []Budget) {
	l.OfDepartments, l.OfGuardrails = make(map[id.Department][]*Budget), make(map[id.Guardrail][]*Budget)
	l.OfAgents = make(map[string][]*Budget)
	for i := range all {
		b := &all[i]
		l.Reserves = l.Reserves || b.Reserve
		switch b.Scope() {
		case LimitsDepartment:
			l.OfDepartments[b.Department] = append(l.OfDepartments[b.Department], b)
		case LimitsGuardrail:
			l.OfGuardrails[b.Guardrail] = append(l.OfGuardrails[b.Guardrail], b)
		case LimitsAgent:
			l.OfAgents[b.Agent] = append(l.OfAgents[b.Agent], b)
		default:
			l.Workspace = append(l.Workspace, b)
		}
	}
}
