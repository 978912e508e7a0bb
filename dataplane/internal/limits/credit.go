package limits

import (
	"context"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// freeModels is the platform's gate on what each user asks of free models in a
// day. It speaks of this model alone: the next may cost something.
func (a *admission) freeModels(context.Context) error {
	a.terms.Free = false
	l := a.view.Limited()
	if l == nil || l.Allowance.FreePerDay == 0 || !a.step.Model.Free() || a.gateways() || !a.costs() {
		return nil
	}
	totals := a.books.of(wire.FreeAccount(a.user))
	scope := policy.LimitsMember
	if a.user.IsZero() {
		scope = policy.LimitsWorkspace
	}
	c := a.check(check{
		scope: scope, metric: requests, window: policy.Daily, used: totals.Daily.Requests, limit: l.Allowance.FreePerDay,
		unknown: !totals.Known,
	})
	switch {
	case c.unknown:
		return ofModel(a.quotaUnavailable(c, "The allowance of free models cannot be checked at the moment."))
	case !c.ok:
		return ofModel(a.refuse(c, fault.KeyLimitExceeded, fault.FreeRequests, 0))
	}
	a.terms.Free = true
	return nil
}

// wantCredit asks for what the wallet's gate and the fee go by.
func (a *admission) wantCredit(b *books, c *policy.Credit) {
	if c.Billing == policy.BillingPrepaid {
		b.want(wire.AccountCharged)
	}
	if c.Billing != "" && c.Billing != policy.BillingOff && c.FeeRate > 0 {
		b.want(wire.AccountBYOK)
	}
}

// creditFloor is the gate of the wallet. It speaks of this model alone: another
// may cost nothing. Before it the fee for own credentials is found, which is due
// once the month had as many of their requests as are free; while that cannot be
// told none is.
func (a *admission) creditFloor(context.Context) error {
	l := a.view.Limited()
	if l == nil {
		return nil
	}
	c := &l.Credit
	a.terms.FeeRate = 0
	if used := a.books.of(wire.AccountBYOK); used.Known && used.Monthly.Requests >= c.FeeAfter {
		a.terms.FeeRate = c.FeeRate
	}
	if c.Billing != policy.BillingPrepaid || !a.costs() || !a.chargeable() {
		return nil
	}
	k := a.balance(c)
	if k.ok {
		return nil
	}
	return ofModel(a.refuseFunds(k, c, money.Nanos(k.used)))
}

// balance notes what the wallet was charged, of what it may be. The floor is what
// has to be left: it is reached when less is.
func (a *admission) balance(c *policy.Credit) *check {
	charged := a.books.of(wire.AccountCharged)
	return a.check(check{
		scope: policy.LimitsWorkspace, metric: credit, window: policy.Lifetime,
		used: int64(charged.Lifetime.Cost), limit: int64(c.Granted - c.Floor + 1), unknown: !charged.Known, ok: true,
	})
}

// chargeable says that the model may cost the wallet something: it is not free,
// and there is more than the workspace's own credentials, or a fee is due for
// them.
func (a *admission) chargeable() bool {
	for i := range a.step.Candidates {
		c := &a.step.Candidates[i]
		if decide.CostsNothing(c.Endpoint.Price) {
			continue
		}
		if a.terms.FeeRate > 0 || managed(c) {
			return true
		}
	}
	return false
}

// managed says that a candidate may be called with a credential that is not the
// workspace's own.
func managed(c *decide.Candidate) bool {
	for _, use := range c.Credentials {
		if use.Source != decide.CredentialBYOK {
			return true
		}
	}
	return len(c.Credentials) == 0
}
