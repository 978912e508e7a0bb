package limits

import (
	"context"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// intervals are those of keys, in the order in which their limits are held.
var intervals = [...]policy.Interval{policy.Daily, policy.Weekly, policy.Monthly}

// window are a key's limits in an interval.
func window(l *policy.KeyLimits, i policy.Interval) *policy.KeyWindow {
	switch i {
	case policy.Daily:
		return &l.Daily
	case policy.Weekly:
		return &l.Weekly
	case policy.Monthly, policy.Lifetime:
	}
	return &l.Monthly
}

// keyLimits is the gate of what the key itself may use: requests first, then
// costs, the shorter window first.
func (a *admission) keyLimits(ctx context.Context) error {
	l := a.limits
	if l == nil {
		return nil
	}
	account := wire.KeyAccount(a.key)
	totals := a.books.of(account)
	for _, i := range intervals {
		limit := window(l, i).Requests
		if limit == 0 || a.gateways() {
			continue
		}
		c := a.check(check{
			scope: policy.LimitsKey, metric: requests, window: i, used: spentIn(totals, i).Requests, limit: limit,
			unknown: !totals.Known, ok: true,
		})
		if !c.ok {
			return a.refuse(c, fault.KeyLimitExceeded, fault.LimitReached(string(i), "request"), 0)
		}
	}
	if !a.costs() {
		return nil
	}
	var bounds [len(intervals)]bounded
	hard := bounds[:0]
	for _, i := range intervals {
		limit := window(l, i).Cost
		if limit == 0 {
			continue
		}
		c := a.spent(totals, check{scope: policy.LimitsKey, window: i}, l.IncludeBYOK, limit)
		reason := fault.LimitReached(string(i), string(cost))
		if !c.ok {
			return a.refuse(c, fault.KeyLimitExceeded, reason, 0)
		}
		if l.Reserve {
			hard = append(hard, bounded{a.bound(account, i, l.IncludeBYOK, limit), len(a.checks) - 1, reason})
		}
	}
	return a.reserve(ctx, account, l.IncludeBYOK, hard)
}

// spent notes what of a limit of cost is used.
func (a *admission) spent(t *ledger.Totals, c check, byok bool, limit money.Nanos) *check {
	c.metric, c.used, c.limit = cost, int64(spentIn(t, c.window).Counted(byok)), int64(limit)
	c.unknown, c.ok = !t.Known, true
	return a.check(c)
}

func (a *admission) bound(account wire.Account, i policy.Interval, byok bool, limit money.Nanos) Bound {
	return Bound{Account: account, Interval: i, At: a.received, BYOK: byok, Limit: limit}
}

// eachAccount visits the accounts that the request counts toward and that have
// budgets, in the order in which these are held against it: of guardrails, of its
// agent, of departments, of the workspace.
func (a *admission) eachAccount(visit func(wire.Account, []*policy.Budget)) {
	l := a.view.Limited()
	if l == nil {
		return
	}
	for _, g := range a.terms.Guardrails {
		visit(wire.GuardrailAccount(g), l.OfGuardrails[g])
	}
	if a.terms.Agent != "" && len(l.OfAgents[a.terms.Agent]) > 0 {
		visit(wire.AgentAccount(a.terms.Agent), l.OfAgents[a.terms.Agent])
	}
	if len(l.OfDepartments) > 0 && !a.apart() {
		for _, d := range a.terms.Departments {
			if len(l.OfDepartments[d]) > 0 {
				visit(wire.DepartmentAccount(d), l.OfDepartments[d])
			}
		}
	}
	if len(l.Workspace) > 0 {
		visit(wire.AccountWorkspace, l.Workspace)
	}
}

// apart says that no budget of a department stops the request.
func (a *admission) apart() bool {
	return a.surface == catalog.Batches || a.surface == catalog.Realtime
}

// budgets is the gate of budgets.
func (a *admission) budgets(ctx context.Context) (err error) {
	if !a.costs() {
		return nil
	}
	a.eachAccount(func(account wire.Account, budgets []*policy.Budget) {
		if err == nil {
			err = a.budgetsOf(ctx, account, budgets)
		}
	})
	return err
}

// budgetsOf holds those of one account against the request: what is spent, then
// what is to be reserved, in one piece for all that count alike.
func (a *admission) budgetsOf(ctx context.Context, account wire.Account, budgets []*policy.Budget) error {
	totals := a.books.of(account)
	var hard [2][]bounded // by whether own credentials count
	for _, b := range budgets {
		c := a.spent(totals, check{scope: b.Scope(), window: b.Interval, budget: b}, b.IncludeBYOK, b.Limit)
		if !c.ok {
			return a.refuse(c, fault.KeyLimitExceeded, reached(b), 0)
		}
		if b.Reserve && b.Scope() != policy.LimitsDepartment {
			at := 0
			if b.IncludeBYOK {
				at = 1
			}
			hard[at] = append(hard[at], bounded{a.bound(account, b.Interval, b.IncludeBYOK, b.Limit), len(a.checks) - 1, reached(b)})
		}
	}
	for i, bounds := range hard {
		if err := a.reserve(ctx, account, i == 1, bounds); err != nil {
			return err
		}
	}
	return nil
}

// reached is the reason of a budget that is.
func reached(b *policy.Budget) fault.Reason {
	if b.Scope() == policy.LimitsDepartment {
		return fault.DepartmentBudgetReached(string(b.Interval))
	}
	return fault.BudgetReached(string(b.Interval))
}

// moreGuardrails holds against the request the budgets of guardrails that only
// the preset of a further model brings.
func (a *admission) moreGuardrails(ctx context.Context) error {
	if !a.costs() {
		return nil
	}
	for _, g := range a.terms.Guardrails[a.guarded:] {
		if err := a.budgetsOf(ctx, wire.GuardrailAccount(g), a.view.Limited().OfGuardrails[g]); err != nil {
			return ofModel(err)
		}
	}
	return nil
}
