package limits

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Ledger knows what accounts have spent, over all gateways.
type Ledger interface {
	// AppendTotals appends those of accounts in the windows of now, in their order,
	// to dst. It hardly waits: what it cannot tell in time is not known.
	AppendTotals(ctx context.Context, dst []ledger.Totals, ws id.Workspace, accounts []wire.Account, now time.Time) []ledger.Totals
	// Seen is the last sequence of this gateway's spool that it was told of.
	Seen() uint64
}

// Rates count what subjects do, each for a rolling minute, over all gateways. A
// view is a quarter of a second old at most.
type Rates interface {
	// AppendMinutes appends what subjects did in the last 60 seconds, in their
	// order, to dst. It hardly waits, as Ledger.
	AppendMinutes(ctx context.Context, dst []rate.Minute, ws id.Workspace, asked []rate.Asked) []rate.Minute
	// Add counts n of each.
	Add(ws id.Workspace, n int64, names ...rate.Name)
}

// Cells admit exactly, over all gateways. Each call is answered within a deadline
// of its own. An error means that there was no answer and the limit says that
// nothing is admitted then, or that ctx ended.
type Cells interface {
	// Take counts n for the last 60 seconds of a subject, if they fit.
	Take(ctx context.Context, s Subject, n int64, l Most) (Took, error)
	// GiveBack takes back what was just taken.
	GiveBack(s Subject, n int64)
	// Acquire takes one of a subject's slots, until it is released.
	Acquire(ctx context.Context, s Subject, l Most) (Slot, Took, error)
	// Reserve keeps an amount of what the accounts of bounds may spend, if all of
	// it fits.
	Reserve(ctx context.Context, s Subject, amount money.Nanos, bounds []Bound) (Reservation, Reserved, error)
}

// Subject is what something is counted for. Name is a NATS token.
type Subject struct {
	Workspace id.Workspace
	Name      string
}

// Most is a limit, and what becomes of a request when nobody can tell.
type Most struct {
	N           int64
	Unavailable policy.Unavailable
}

// Took is how it went. Used is what was there before.
type Took struct {
	OK   bool
	Used int64
	Wait time.Duration // until it would fit
}

// Slot is a part in what may go on at once.
type Slot interface{ Release() }

// Bound is a limit on what an account spends in the interval that At is in.
type Bound struct {
	Account  wire.Account
	Interval policy.Interval
	At       time.Time
	BYOK     bool // what own credentials were charged for counts too
	Limit    money.Nanos
}

// Of is what of an account's totals counts toward the bound.
func (b *Bound) Of(t *ledger.Totals) money.Nanos { return spentIn(t, b.Interval).Counted(b.BYOK) }

// spentIn is what was spent in an interval.
func spentIn(t *ledger.Totals, i policy.Interval) *wire.Spend {
	switch i {
	case policy.Daily:
		return &t.Daily
	case policy.Weekly:
		return &t.Weekly
	case policy.Monthly:
		return &t.Monthly
	case policy.Lifetime:
	}
	return &t.Lifetime
}

// Reserved is how a reservation went. Spent and Held, what is reserved by all
// that are open, are of the bound at Index, the first that it does not fit.
type Reserved struct {
	OK          bool
	Index       int
	Spent, Held money.Nanos
}

// Reservation is an amount that is kept for a request.
type Reservation interface {
	// Raise makes it amount in all; what it was stands when that does not fit.
	Raise(ctx context.Context, amount money.Nanos, bounds []Bound) (Reserved, error)
	// Settle ends it: it stands for actual until the ledger has counted the spool
	// through a sequence, and for nothing then.
	Settle(actual money.Nanos, through uint64)
}
