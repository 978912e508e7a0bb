package limits_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// exhausted is one gate, and how it comes to refuse. set may be called for
// several gates of one request.
type exhausted struct {
	name   string
	reason fault.Reason
	set    func(*asking, *world)
}

func policyOf(n int, p policy.RatePolicy) policy.RatePolicy {
	p.ID = rateID(n)
	if p.Unavailable == "" {
		p.Unavailable = policy.AllowUnavailable
	}
	return p
}

func (a *asking) rate(n int, p policy.RatePolicy) {
	a.limits.RatePolicies = append(a.limits.RatePolicies, policyOf(n, p))
}

func (a *asking) budget(n int, b policy.Budget) {
	b.ID = budgetID(n)
	a.limits.Budgets = append(a.limits.Budgets, b)
}

func (a *asking) keyLimits() *policy.KeyLimits {
	if a.key.Limits == nil {
		a.key.Limits = &policy.KeyLimits{}
	}
	return a.key.Limits
}

func (w *world) spend(account wire.Account, i policy.Interval, s wire.Spend) {
	t := w.totals[account]
	switch i {
	case policy.Daily:
		t.Daily = s
	case policy.Weekly:
		t.Weekly = s
	case policy.Monthly:
		t.Monthly = s
	case policy.Lifetime:
		t.Lifetime = s
	}
	w.totals[account] = t
}

// subject is what a policy counts of somebody: ids with dashes between, or a hash.
func subject(kind string, n int, who string) string {
	token := kind + "-" + digits(rateID(n).String())
	for part := range strings.SplitSeq(who, "-") {
		token += "-" + digits(part)
	}
	return token
}

// digits are those of an id or a hash.
func digits(text string) string {
	if _, of, ok := strings.Cut(text, "_"); ok {
		return of
	}
	return string(id.AppendUUID(nil, uuid.MustParse(text)))
}

// keyWindow has a limit of the key reached.
func keyWindow(i policy.Interval, w policy.KeyWindow, spent wire.Spend) func(*asking, *world) {
	return func(a *asking, around *world) {
		l := a.keyLimits()
		at := map[policy.Interval]*policy.KeyWindow{policy.Daily: &l.Daily, policy.Weekly: &l.Weekly, policy.Monthly: &l.Monthly}[i]
		if w.Requests > 0 {
			at.Requests = w.Requests
		} else {
			at.Cost = w.Cost
		}
		t := around.totals[wire.KeyAccount(theKey)]
		now := map[policy.Interval]wire.Spend{policy.Daily: t.Daily, policy.Weekly: t.Weekly, policy.Monthly: t.Monthly}[i]
		around.spend(wire.KeyAccount(theKey), i, wire.Spend{Requests: max(now.Requests, spent.Requests), Cost: max(now.Cost, spent.Cost)})
	}
}

// overBudget has a budget reached.
func overBudget(n int, account wire.Account, b policy.Budget) func(*asking, *world) {
	return func(a *asking, w *world) {
		b.Limit = 5 * money.USD
		a.budget(n, b)
		a.attribute()
		t := w.totals[account]
		w.totals[account] = t
		w.spend(account, b.Interval, wire.Spend{Cost: 6 * money.USD})
	}
}

// attribute has the request count toward everything that there is.
func (a *asking) attribute() {
	a.key.Agent = "support"
	a.members = []policy.Membership{{User: theUser, Departments: []id.Department{theDept}}}
	a.guardrails = []policy.Guardrail{{ID: theRail, Workspace: true}}
}

// gatesInOrder are all gates, and within a gate its limits, in the order in which
// they refuse.
func gatesInOrder() []exhausted {
	rated := func(n int, kind, who string, p policy.RatePolicy) func(*asking, *world) {
		return func(a *asking, w *world) {
			a.attribute()
			a.call.Request.EndUser = "somebody"
			a.rate(n, p)
			w.minutes[subject(kind, n, who)] = rate.Minute{Used: 9, Wait: 1500 * time.Millisecond, Clears: 50 * time.Second}
			w.full[subject(kind, n, who)] = limits.Took{Used: 9, Wait: 2500 * time.Millisecond}
		}
	}
	key, user, dept := []id.Key{theKey}, []id.User{theUser}, []id.Department{theDept}
	dollars := wire.Spend{Cost: 6 * money.USD}
	used := wire.Spend{Requests: 7}
	return []exhausted{
		{"soft block", fault.KeySoftBlocked, func(a *asking, _ *world) { a.keyLimits().SoftBlocked = true }},
		{"allowance", fault.CustomerRequests, func(a *asking, w *world) {
			a.limits.Allowance.PerMinute = 8
			w.minutes["a-"+digits(theUser.String())] = rate.Minute{Used: 8, Wait: 100 * time.Millisecond}
		}},
		{"free models", fault.FreeRequests, func(a *asking, w *world) {
			a.limits.Allowance.FreePerDay = 1500
			a.chain[0] = priced("acme/small:free", 0, managed)
			w.spend(wire.FreeAccount(theUser), policy.Daily, wire.Spend{Requests: 1500})
		}},
		{"requests of the key", fault.PolicyRequests, rated(1, "r", theKey.String(), policy.RatePolicy{Requests: 9, Keys: key})},
		{"requests of the key, strict", fault.PolicyRequests, rated(2, "r", theKey.String(), policy.RatePolicy{Requests: 9, Strict: true, Keys: key})},
		{"tokens of the key", fault.PolicyTokens, rated(3, "t", theKey.String(), policy.RatePolicy{Tokens: 9, Keys: key})},
		{"requests of the member", fault.PolicyRequests, rated(4, "r", theUser.String(), policy.RatePolicy{Requests: 9, Members: user})},
		{"requests of the department", fault.PolicyRequests, rated(5, "r", theDept.String(), policy.RatePolicy{Requests: 9, Departments: dept})},
		{"requests of the guardrail", fault.PolicyRequests, rated(6, "r", theRail.String()+"-"+theKey.String(), policy.RatePolicy{Requests: 9, Guardrails: []id.Guardrail{theRail}})},
		{"requests of the end user", fault.PolicyRequests, rated(7, "r", "729d7d638cef1b476c9ad1d5d275dc91", policy.RatePolicy{Requests: 9, EndUsers: true})},
		{"at a time", fault.PolicyConcurrent, rated(8, "c", theKey.String(), policy.RatePolicy{Concurrent: 9, Keys: key})},
		{"daily requests", "daily_request_limit_reached", keyWindow(policy.Daily, policy.KeyWindow{Requests: 7}, used)},
		{"weekly requests", "weekly_request_limit_reached", keyWindow(policy.Weekly, policy.KeyWindow{Requests: 7}, used)},
		{"monthly requests", "monthly_request_limit_reached", keyWindow(policy.Monthly, policy.KeyWindow{Requests: 7}, used)},
		{"daily cost", "daily_cost_limit_reached", keyWindow(policy.Daily, policy.KeyWindow{Cost: 5 * money.USD}, dollars)},
		{"weekly cost", "weekly_cost_limit_reached", keyWindow(policy.Weekly, policy.KeyWindow{Cost: 5 * money.USD}, dollars)},
		{"monthly cost", "monthly_cost_limit_reached", keyWindow(policy.Monthly, policy.KeyWindow{Cost: 5 * money.USD}, dollars)},
		{"budget of the guardrail", "daily_cost_budget_reached", overBudget(11, wire.GuardrailAccount(theRail), policy.Budget{Interval: policy.Daily, Guardrail: theRail})},
		{"budget of the agent", "weekly_cost_budget_reached", overBudget(12, wire.AgentAccount("support"), policy.Budget{Interval: policy.Weekly, Agent: "support"})},
		{"budget of the department", "department_monthly_cost_budget_reached", overBudget(13, wire.DepartmentAccount(theDept), policy.Budget{Interval: policy.Monthly, Department: theDept})},
		{"budget of the workspace", "monthly_cost_budget_reached", overBudget(14, wire.AccountWorkspace, policy.Budget{Interval: policy.Monthly})},
		{"budget for ever", "lifetime_cost_budget_reached", overBudget(15, wire.AccountWorkspace, policy.Budget{Interval: policy.Lifetime})},
		{"credit", "", func(a *asking, w *world) {
			a.limits.Credit = policy.Credit{Billing: policy.BillingPrepaid, Granted: 10 * money.USD, Floor: money.USD}
			w.spend(wire.AccountCharged, policy.Lifetime, wire.Spend{Cost: 9_500_000_000})
		}},
	}
}

// Of two limits that are reached the one that comes first refuses. A free model
// needs no credit.
func TestGatesRefuseInTheirOrder(t *testing.T) {
	all := gatesInOrder()
	for i, first := range all {
		for _, second := range all[i+1:] {
			if first.name == "free models" && second.name == "credit" {
				continue
			}
			a, w := ask(policy.Limits{}), newWorld()
			second.set(&a, w)
			first.set(&a, w)
			_, refused := a.admit(t, w)
			require.NotNil(t, refused, "%s and %s", first.name, second.name)
			require.Equal(t, first.reason, refused.Fault.Reason, "%s and %s", first.name, second.name)
			alone, around := ask(policy.Limits{}), newWorld()
			first.set(&alone, around)
			_, want := alone.admit(t, around)
			require.Equal(t, want.Fault.Fields["id"], refused.Fault.Fields["id"], "%s and %s", first.name, second.name)
			require.Equal(t, want.Model, refused.Model, "%s and %s", first.name, second.name)
		}
	}
}

// everything is a request that everything limits and nothing refuses.
func everything() asking {
	a := ask(policy.Limits{})
	a.attribute()
	a.call.Request.EndUser = "somebody"
	a.limits.Allowance = policy.Allowance{PerMinute: 100, FreePerDay: 100}
	three := policy.RatePolicy{Requests: 100, Tokens: 1000, Concurrent: 10}
	for n, p := range []policy.RatePolicy{
		{Keys: []id.Key{theKey}},
		{Members: []id.User{theUser}, Strict: true},
		{Departments: []id.Department{theDept}},
		{Guardrails: []id.Guardrail{theRail}, Strict: true},
		{EndUsers: true},
	} {
		p.Requests, p.Tokens, p.Concurrent = three.Requests, three.Tokens, three.Concurrent
		a.rate(100+n, p)
	}
	*a.keyLimits() = policy.KeyLimits{
		Daily: policy.KeyWindow{Requests: 100, Cost: 100 * money.USD}, Monthly: policy.KeyWindow{Requests: 100, Cost: 100 * money.USD}, Reserve: true,
	}
	for n, b := range []policy.Budget{{Guardrail: theRail}, {Agent: "support"}, {IncludeBYOK: true}, {}} {
		b.Interval, b.Limit, b.Reserve = policy.Lifetime, 100*money.USD, true
		a.budget(100+n, b)
	}
	a.limits.Credit = policy.Credit{Billing: policy.BillingPrepaid, Granted: 10 * money.USD, Floor: money.USD}
	return a
}

// What passes all gates holds of each, and gives all of it back but for what was
// counted.
func TestWhatIsAdmittedHoldsAllOfIt(t *testing.T) {
	a, w := everything(), newWorld()
	grant, refused := a.admit(t, w)
	require.Nil(t, refused)
	who := []string{theKey.String(), theUser.String(), theDept.String(), theRail.String() + "-" + theKey.String(), "729d7d638cef1b476c9ad1d5d275dc91"}
	amount := int64(worst(1))
	want := map[string]int64{
		"added a-" + digits(theUser.String()): 1, "added " + subject("r", 100, who[0]): 1, "taken " + subject("r", 101, who[1]): 1,
		"added " + subject("r", 102, who[2]): 1, "taken " + subject("r", 103, who[3]): 1, "added " + subject("r", 104, who[4]): 1,
		"reserved m-" + theKey.String(): amount, "reserved m-" + theRail.String(): amount,
		"reserved m-" + string(wire.AgentAccount("support")): amount, "reserved m-all": amount, "reserved m-all-byok": amount,
	}
	for n := range who {
		want["slot "+subject("c", 100+n, who[n])] = 1
	}
	require.Equal(t, want, w.held())
	require.Len(t, w.bounds[0], 2, "both windows of the key at once")

	w.seen = 77
	grant.Settle(used(30, 12), costing(42), false)
	for name := range want {
		if name[0] == 's' || name[:2] == "re" {
			delete(want, name)
		}
	}
	for n := range who {
		want["added "+subject("t", 100+n, who[n])] = 42
	}
	require.Equal(t, want, w.held())
	require.Len(t, w.settled, 5)
	for _, s := range w.settled {
		require.Equal(t, settled{s.name, 42, 77}, s)
	}
}

// A request that one gate refuses has consumed nothing of the others, whichever
// gate it is.
func TestWhatIsRefusedHoldsNothing(t *testing.T) {
	for _, gate := range gatesInOrder() {
		a, w := everything(), newWorld()
		gate.set(&a, w)
		_, refused := a.admit(t, w)
		require.NotNil(t, refused, gate.name)
		require.Equal(t, gate.reason, refused.Fault.Reason, gate.name)
		require.Empty(t, w.held(), gate.name)
	}
	for name, change := range map[string]func(*asking, *world){
		"a reservation that does not fit": func(_ *asking, w *world) { w.spent = 100*money.USD - 1 },
		"cells that do not answer":        func(_ *asking, w *world) { w.away = true },
		"a cost that has no bound":        func(a *asking, _ *world) { a.call.Body = []byte(`{"web_search_options":{}}`) },
	} {
		a, w := everything(), newWorld()
		change(&a, w)
		_, refused := a.admit(t, w)
		require.NotNil(t, refused, name)
		require.Empty(t, w.held(), name)
	}
}

// What every gate saw is in the record, up to the one that refused.
func TestChecksAreTold(t *testing.T) {
	a, w := everything(), newWorld()
	grant, _ := a.admit(t, w)
	checks := grant.Checks()
	require.Len(t, checks, 1+5*2+5+2+2+4+1)
	for _, c := range checks {
		require.True(t, c.OK, c)
		require.NotEmpty(t, c.ID, c)
		require.Positive(t, c.Limit, c)
	}
	require.Equal(t, decide.LimitCheck{Scope: "member", ID: theUser.String(), Metric: "requests", Window: "minute", Limit: 100, OK: true}, checks[0])

	a.limits.Allowance.PerMinute = 1
	w.minutes["a-"+digits(theUser.String())] = rate.Minute{Used: 1}
	_, refused := a.admit(t, w)
	require.Equal(t, []decide.LimitCheck{{Scope: "member", ID: theUser.String(), Metric: "requests", Window: "minute", Used: 1, Limit: 1}}, refused.Checks)
}
