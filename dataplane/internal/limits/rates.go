package limits

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// rates are the minutes of the subjects that the request's limits count in the
// background, in the order in which they are held against it.
type rates struct {
	looked  bool
	asked   []rate.Asked
	minutes []rate.Minute
	next    int
}

// want asks for the allowance, and for what each rule has counted.
func (r *rates) want(a *admission) {
	if a.perMinute > 0 {
		r.asked = append(r.asked, rate.Asked{Name: a.minute(), Limit: a.perMinute})
	}
	for i := range a.rules {
		one := &a.rules[i]
		if p := one.policy; p.Requests > 0 && !p.Strict {
			r.asked = append(r.asked, rate.Asked{Name: one.name(ofRequests), Limit: p.Requests})
		}
		if n := one.policy.Tokens; n > 0 {
			r.asked = append(r.asked, rate.Asked{Name: one.name(ofTokens), Limit: n})
		}
	}
}

// minute is that of the next subject.
func (r *rates) minute() *rate.Minute {
	r.next++
	if r.next > len(r.minutes) {
		return &rate.Minute{}
	}
	return &r.minutes[r.next-1]
}

// keyState is the gate of a key whose owner blocked it.
func (a *admission) keyState(context.Context) error {
	if a.limits == nil || !a.limits.SoftBlocked {
		return nil
	}
	return a.refuseBlocked()
}

// allowance is the platform's gate on the requests of each user.
func (a *admission) allowance(context.Context) error {
	if a.perMinute == 0 {
		return nil
	}
	m := a.rates.minute()
	scope := policy.LimitsMember
	if a.user.IsZero() {
		scope = policy.LimitsWorkspace
	}
	c := a.check(check{
		scope: scope, metric: requests, window: perMinute, used: m.Used, limit: a.perMinute,
		unknown: !m.Known, ok: m.Known,
	})
	switch {
	case c.unknown:
		return a.quotaUnavailable(c, "The allowance of requests cannot be checked at the moment.")
	case !c.ok:
		return a.refuse(c, fault.KeyLimitExceeded, fault.CustomerRequests, m.Wait)
	}
	a.count(a.minute())
	return nil
}

// check notes a view, with whether it has room for one more.
func (a *admission) check(c check) *check {
	c.ok = c.unknown && c.ok || !c.unknown && c.used < c.limit
	a.checks = append(a.checks, c)
	return &a.checks[len(a.checks)-1]
}

// count has a request counted once all gates have passed.
func (a *admission) count(name rate.Name) {
	if !a.gateways() {
		a.counted = append(a.counted, name)
	}
}

// policies is the gate of rate-limit policies, but for what goes on at once. The
// first that is exhausted refuses.
func (a *admission) policies(ctx context.Context) error {
	for i := range a.rules {
		r := &a.rules[i]
		if r.policy.Requests > 0 {
			if err := a.requests(ctx, r); err != nil {
				return err
			}
		}
		if r.policy.Tokens > 0 {
			if err := a.rate(r, tokens, r.policy.Tokens, fault.PolicyTokens); err != nil {
				return err
			}
		}
	}
	return nil
}

// requests holds a rule's limit of requests against the request.
func (a *admission) requests(ctx context.Context, r *rule) error {
	if r.policy.Strict {
		return a.take(ctx, r)
	}
	err := a.rate(r, requests, r.policy.Requests, fault.PolicyRequests)
	if err == nil {
		a.count(r.name(ofRequests))
	}
	return err
}

// rate holds a limit that is counted in the background against the request.
func (a *admission) rate(r *rule, what metric, limit int64, reason fault.Reason) error {
	m := a.rates.minute()
	c := a.check(check{
		scope: r.scope, metric: what, window: perMinute, rate: r.policy, used: m.Used, limit: limit,
		unknown: !m.Known, clears: m.Clears,
		ok: r.policy.Unavailable != policy.DenyUnavailable && m.Used < limit, // what is known without the others is the least
	})
	switch {
	case c.ok:
		return nil
	case c.unknown && r.policy.Unavailable == policy.DenyUnavailable:
		return a.refuseUnavailable(c)
	}
	return a.refuse(c, fault.RateLimitExceeded, reason, m.Wait)
}

// take counts the request for a strict rule.
func (a *admission) take(ctx context.Context, r *rule) error {
	if a.gateways() {
		return nil
	}
	s := a.subject(r.name(ofRequests).Token())
	took, err := a.gate.Cells.Take(ctx, s, 1, Most{r.policy.Requests, r.policy.Unavailable})
	if ctx.Err() != nil {
		if err == nil && took.OK {
			a.took = append(a.took, s)
		}
		return ctx.Err()
	}
	c := a.check(check{
		scope: r.scope, metric: requests, window: perMinute, rate: r.policy, used: took.Used, limit: r.policy.Requests,
		unknown: err != nil,
	})
	switch {
	case err != nil:
		return a.refuseUnavailable(c)
	case !took.OK:
		c.ok = false
		return a.refuse(c, fault.RateLimitExceeded, fault.PolicyRequests, took.Wait)
	}
	c.ok = true // also when it was admitted by this gateway's share
	a.took = append(a.took, s)
	return nil
}

// concurrency is the gate of what may go on at once.
func (a *admission) concurrency(ctx context.Context) error {
	if a.gateways() || !a.occupies() {
		return nil
	}
	for i := range a.rules {
		r := &a.rules[i]
		if r.policy.Concurrent == 0 {
			continue
		}
		slot, took, err := a.gate.Cells.Acquire(ctx, a.subject(r.name(ofSlots).Token()), Most{r.policy.Concurrent, r.policy.Unavailable})
		if slot != nil {
			a.slots = append(a.slots, slot)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c := a.check(check{scope: r.scope, metric: concurrent, rate: r.policy, used: took.Used, limit: r.policy.Concurrent, unknown: err != nil})
		if err != nil {
			return a.refuseUnavailable(c)
		}
		if c.ok = took.OK; !c.ok {
			return a.refuse(c, fault.RateLimitExceeded, fault.PolicyConcurrent, time.Second)
		}
	}
	return nil
}

// occupies says that the request takes a slot while it goes on: batches and
// conversations in both directions would hold one for too long, and a job only
// does while it is submitted.
func (a *admission) occupies() bool {
	switch a.surface {
	case catalog.Batches, catalog.Realtime:
		return false
	default:
	}
	return a.action == call.Generate || a.action == call.Count
}
