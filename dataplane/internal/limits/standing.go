package limits

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// anyFree stands for a request to a free model.
var anyFree = &decide.Step{Model: &catalog.Model{ID: catalog.FreeSuffix}}

// Standing is what a key has used, and what is left of all that is held against
// its requests. It takes nothing. What only taking tells is not known.
func (g *Gate) Standing(ctx context.Context, k policy.Key, v *policy.View, now time.Time) call.Standing {
	a := newAdmission(g, &call.Call{Received: now}, &call.Principal{Key: k}, v, anyFree)
	defer a.recycle()
	a.look(ctx)
	s := call.Standing{SoftBlocked: k.Limits != nil && k.Limits.SoftBlocked}
	used := g.Ledger.AppendTotals(ctx, nil, a.ws, []wire.Account{wire.KeyAccount(a.key)}, now)[0]
	if used.Known {
		for _, i := range intervals {
			spent := spentIn(&used, i)
			s.Usage = append(s.Usage, call.Used{Window: i, Requests: spent.Requests, Cost: spent.Cost, Resets: ends(i, now)})
		}
	}
	if v.Limited() != nil || k.Limits != nil {
		a.overAll()
	}
	for i, told := range a.told(a.checks) {
		c := &a.checks[i]
		resets := ends(c.window, now)
		if !c.resets.IsZero() {
			resets = c.resets
		}
		s.Limits = append(s.Limits, call.Left{LimitCheck: told, Resets: resets, Reserve: a.reserves(c)})
	}
	return s
}

// reserves says that the worst case of a request has to fit into what is left.
func (a *admission) reserves(c *check) bool {
	return c.metric == cost && (c.budget != nil && c.budget.Reserve || c.budget == nil && a.limits.Reserve)
}

// overAll notes a view of every limit, also behind one that is reached.
func (a *admission) overAll() {
	_ = a.allowance(context.Background())
	_ = a.freeModels(context.Background())
	for i := range a.rules {
		r := &a.rules[i]
		if r.policy.Requests > 0 && r.policy.Strict {
			a.check(check{scope: r.scope, metric: requests, window: perMinute, rate: r.policy, limit: r.policy.Requests, unknown: true, ok: true})
		} else if r.policy.Requests > 0 {
			_ = a.rate(r, requests, r.policy.Requests, "")
		}
		if r.policy.Tokens > 0 {
			_ = a.rate(r, tokens, r.policy.Tokens, "")
		}
		if r.policy.Concurrent > 0 {
			a.check(check{scope: r.scope, metric: concurrent, rate: r.policy, limit: r.policy.Concurrent, unknown: true, ok: true})
		}
	}
	if l := a.limits; l != nil {
		totals := a.books.of(wire.KeyAccount(a.key))
		for _, i := range intervals {
			w := window(l, i)
			if w.Requests > 0 {
				a.check(check{scope: policy.LimitsKey, metric: requests, window: i, used: spentIn(totals, i).Requests, limit: w.Requests, unknown: !totals.Known, ok: true})
			}
			if w.Cost > 0 {
				a.spent(totals, check{scope: policy.LimitsKey, window: i}, l.IncludeBYOK, w.Cost)
			}
		}
	}
	a.eachAccount(func(account wire.Account, budgets []*policy.Budget) {
		for _, b := range budgets {
			a.spent(a.books.of(account), check{scope: b.Scope(), window: b.Interval, budget: b}, b.IncludeBYOK, b.Limit)
		}
	})
	if l := a.view.Limited(); l != nil && l.Credit.Billing == policy.BillingPrepaid {
		a.balance(&l.Credit)
	}
}
