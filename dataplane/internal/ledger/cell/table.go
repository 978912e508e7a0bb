package cell

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Bound is what the spend of an account, with everything that is reserved, must
// not pass.
type Bound struct {
	Limit money.Nanos
	// Spent is what the account has spent, by a state of the counters that is at
	// least as new as after, and that state.
	Spent func(ctx context.Context, after ledger.Point) (money.Nanos, ledger.Point, error)
}

// ask is what one caller asks for.
type ask struct {
	n      int64 // requests, slots or nano-USD
	most   int64 // of minutes and slots
	bounds []bound

	slot        *Slot
	reservation *Reservation
}

// bound is a Bound with what was read of its account.
type bound struct {
	Bound
	spent money.Nanos
	point ledger.Point
}

// verdict is what becomes of an ask.
type verdict struct {
	ok    bool
	used  int64
	wait  time.Duration
	index int
	spent money.Nanos
	held  money.Nanos
}

func (v verdict) took(alone bool) Took {
	return Took{OK: v.ok, Used: v.used, Wait: v.wait, Alone: alone}
}

func (v verdict) reserved() Reserved {
	return Reserved{OK: v.ok, Index: v.index, Spent: v.spent, Held: v.held}
}

// table is this gateway's part of a subject: the one truth of it, which the
// document follows. Whoever has it guards it.
type table interface {
	// state fills in what the gateway states at a moment.
	state(own *entry, at instant)
	// judge says whether an ask fits beside what others state and what the gateway
	// would, and adds it to that if so.
	judge(a *ask, others []entry, own *entry, at instant) verdict
	// grant notes that an ask was admitted.
	grant(a *ask, at instant)
	// adopt takes in what the document has of this gateway that the table has not,
	// from before its making. earlier says that another process stated it.
	adopt(e *entry, earlier bool)
	// tend lets go of what is over, and says how the table is then.
	tend(at instant) condition
}

// condition is how a table is.
type condition struct {
	changed bool // others do not know by themselves what is over
	empty   bool // nothing is lost with the table
	leased  bool // what is stated has to be stated again from time to time
}

// newTable returns the empty table of a kind. A minute has 60 of unit.
func newTable(k kind, unit time.Duration, started uint64, counted ledger.Progress) table {
	switch k {
	case minutes:
		return newTaken(unit)
	case slots:
		return newRunning()
	default:
		return newReserved(started, counted)
	}
}

// without decides by the gateway's own table.
func without(t table, a *ask, own *entry, u policy.Unavailable, live int, at instant) (verdict, error) {
	most := a.most
	defer func() { a.most = most }()
	switch u {
	case policy.DenyUnavailable:
		return verdict{}, ErrUnavailable
	case policy.ShareUnavailable:
		a.most = max(1, most/int64(max(live, 1)))
		v := t.judge(a, nil, own, at)
		if v.ok {
			t.grant(a, at)
		}
		return v, nil
	default:
		a.most = unlimited
		v := t.judge(a, nil, own, at)
		t.grant(a, at)
		v.ok = true
		return v, nil
	}
}

// read reads what the accounts of bounds have spent.
func read(ctx context.Context, bounds []Bound, after ledger.Point) ([]bound, error) {
	list := make([]bound, len(bounds))
	for i, b := range bounds {
		spent, point, err := b.Spent(ctx, after)
		if err != nil {
			return nil, fmt.Errorf("%w: read what is spent: %w", ErrUnavailable, err)
		}
		list[i] = bound{Bound: b, spent: spent, point: point}
	}
	return list, nil
}

// unlimited is more than anything uses.
const unlimited = math.MaxInt64

// add is a and b together, at most the largest number.
func add(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
