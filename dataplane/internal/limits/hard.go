package limits

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/limits/bound"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// bounded is a bound with its check's place and what it is called when it is
// reached.
type bounded struct {
	Bound
	check  int
	reason fault.Reason
}

// held is what the request keeps of what an account may spend; without a
// Reservation nothing.
type held struct {
	Reservation
	account wire.Account
	byok    bool
	amount  money.Nanos
	bounds  []bounded
}

// settle ends it.
func (h *held) settle(actual money.Nanos, through uint64) {
	if h.Reservation != nil {
		h.Settle(actual, through)
	}
}

// release ends what was kept for nothing.
func release(reservations []held) {
	for i := range reservations {
		reservations[i].settle(0, 0)
	}
}

// reserve keeps the worst case of the request for bounds, all of one account,
// before anything is sent.
func (a *admission) reserve(ctx context.Context, account wire.Account, byok bool, bounds []bounded) error {
	if len(bounds) == 0 {
		return nil
	}
	h := held{account: account, byok: byok, bounds: bounds}
	if err := a.keep(ctx, &h); err != nil {
		if h.Reservation != nil {
			h.settle(0, 0)
		}
		return err
	}
	a.reservations = append(a.reservations, h)
	return nil
}

// raise keeps more for a further model that may cost more. What was kept stands
// when it does not fit.
func (a *admission) raise(ctx context.Context) error {
	for i := range a.reservations {
		if err := a.keep(ctx, &a.reservations[i]); err != nil {
			return ofModel(err)
		}
	}
	return nil
}

// keep sees to it that what h keeps is enough for the model that is asked for.
func (a *admission) keep(ctx context.Context, h *held) error {
	amount, refusal := a.worst(h.byok)
	if refusal != nil {
		return ofModel(refusal)
	}
	if amount <= h.amount {
		return nil
	}
	bounds := make([]Bound, len(h.bounds))
	for i := range h.bounds {
		bounds[i] = h.bounds[i].Bound
	}
	var kept Reserved
	var err error
	if h.Reservation == nil {
		h.Reservation, kept, err = a.gate.Cells.Reserve(ctx, a.subject(reserving(h.account, h.byok)), amount, bounds)
	} else {
		kept, err = h.Raise(ctx, amount, bounds)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return a.quotaUnavailable(&a.checks[h.bounds[0].check], "What is left of the budget cannot be told at the moment, and nothing may go beyond it.")
	case !kept.OK:
		return a.refuseReservation(&h.bounds[kept.Index], amount, kept)
	}
	h.amount = amount
	return nil
}

// reserving is the subject of what is kept of an account, apart for what counts
// own credentials too.
func reserving(account wire.Account, byok bool) string {
	if byok {
		return "m-" + string(account) + "-byok"
	}
	return "m-" + string(account)
}

// worst is the most that the model can cost, of what counts toward a limit.
func (a *admission) worst(byok bool) (money.Nanos, *fault.Error) {
	var most money.Nanos
	for i := range a.step.Candidates {
		c := &a.step.Candidates[i]
		if !byok && !managed(c) {
			continue
		}
		if decide.CostsNothing(c.Endpoint.Price) {
			continue
		}
		if a.asked == nil {
			a.asked = bound.Read(a.call)
		}
		cost, refusal := a.asked.Worst(a.step, c)
		if refusal != nil {
			return 0, refusal
		}
		most = max(most, cost)
	}
	return most, nil
}

// refuseReservation refuses what does not fit beside what is spent and what
// others keep.
func (a *admission) refuseReservation(b *bounded, amount money.Nanos, kept Reserved) error {
	// The index is that of a check at admission; later ones are gone with it.
	c := a.checks[b.check]
	c.used, c.ok, c.unknown = int64(kept.Spent), false, false
	c.asked, c.held = int64(amount), int64(kept.Held)
	a.checks[b.check] = c
	wait := time.Duration(0)
	if kept.Spent.Add(amount) <= b.Limit {
		wait = time.Second // only open requests are in the way
	}
	refusal := a.refuse(&c, fault.KeyLimitExceeded, b.reason, wait)
	refusal.Model = kept.Spent < b.Limit // a cheaper one may fit
	f := refusal.Fault
	f.Message = "The request may cost up to $" + amount.String() + ", and less than that is left of the " + named(&c) +
		", beside what is spent and what open requests may cost."
	if amount > b.Limit {
		f.Retryable, f.RetryAfter = false, 0
		f.Message = "The request may cost up to $" + amount.String() + ", which is more than the " + named(&c) + "."
	}
	if f.Retryable {
		f.Message += " Ask for fewer output tokens, or wait."
	} else {
		f.Message += " Ask for fewer output tokens, or have it raised."
	}
	f.Fields["reserved"], f.Fields["reserved_usd"] = int64(kept.Held), kept.Held.String()
	f.Fields["worst_case"], f.Fields["worst_case_usd"] = int64(amount), amount.String()
	return refusal
}
