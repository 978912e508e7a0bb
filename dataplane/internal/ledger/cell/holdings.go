package cell

import (
	"context"
	"errors"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Reservation is what one request may cost. It is safe for use by one goroutine
// at a time.
type Reservation struct {
	once   sync.Once
	settle func(r *Reservation, actual money.Nanos, through uint64)
	raise  func(ctx context.Context, r *Reservation, amount money.Nanos, bounds []Bound) (Reserved, error)

	// Guarded by the cell.
	amount  money.Nanos
	settled bool
	through uint64 // the sequence of the spool that counts it
}

// Settle says what was spent of the reservation in the end, and the sequence of
// the gateway's spool up to which that is on record. The amount stays reserved
// until the ledger has counted so far; with a sequence of 0 there is nothing to
// count, and nothing stays. It does not wait, and what comes after the first call
// has no effect.
func (r *Reservation) Settle(actual money.Nanos, through uint64) {
	r.once.Do(func() { r.settle(r, max(actual, 0), through) })
}

// Raise reserves amount in all, where less was reserved, if all bounds hold with
// it; else what was reserved stays.
func (r *Reservation) Raise(ctx context.Context, amount money.Nanos, bounds []Bound) (Reserved, error) {
	if r.settled {
		return Reserved{}, errSettled
	}
	if amount <= r.amount {
		return Reserved{OK: true, Index: -1}, nil
	}
	return r.raise(ctx, r, amount, bounds)
}

var errSettled = errors.New("the reservation is settled")

// missing is what has to be added to reserve amount.
func (r *Reservation) missing(amount money.Nanos) int64 { return max(0, int64(amount-r.amount)) }

// reserved is what a gateway has reserved of a subject.
type reserved struct {
	open  map[*Reservation]struct{}
	total money.Nanos // of open

	// What an earlier process of the gateway had reserved: it is let go of when the
	// ledger has counted what that process left in the spool, up to started.
	carried money.Nanos
	started uint64

	counted ledger.Progress // as the ledger said last
	let     uint64          // the highest sequence that was waited for and let go of
	point   ledger.Point    // of the counters, that has everything up to let
	fresh   int64           // until when the point is to be known; Unix ns
}

func newReserved(started uint64, counted ledger.Progress) *reserved {
	return &reserved{open: make(map[*Reservation]struct{}), started: started, counted: counted}
}

func (r *reserved) state(own *entry, at instant) {
	own.setHeld(r.carried.Add(r.total), at)
	own.point = r.point
	own.stated = at.hi / milli
}

func (e *entry) setHeld(n money.Nanos, at instant) {
	e.held, e.lease = n, leaseFrom(at)
}

// counts is what of an entry counts as spent: what it has reserved, with what a
// gateway that is gone had reserved, for a day.
func (e *entry) counts(at instant) money.Nanos {
	if !e.leased(at) && (e.stated*milli)+int64(heldLife) <= at.lo {
		return 0
	}
	return e.held
}

func (r *reserved) judge(a *ask, others []entry, own *entry, at instant) verdict {
	v := verdict{index: -1, held: own.held}
	for i := range others {
		v.held = v.held.Add(others[i].counts(at))
	}
	if len(a.bounds) > 0 {
		v.spent = a.bounds[0].spent
	}
	for i := range a.bounds {
		b := &a.bounds[i]
		if b.spent.Add(v.held).Add(money.Nanos(a.n)) > b.Limit {
			v.index, v.spent = i, b.spent
			return v
		}
	}
	own.setHeld(own.held.Add(money.Nanos(a.n)), at)
	v.ok = true
	return v
}

func (r *reserved) grant(a *ask, _ instant) {
	a.reservation.amount = a.reservation.amount.Add(money.Nanos(a.n))
	r.open[a.reservation] = struct{}{}
	r.sum()
}

// sum works out the total. It is not kept by differences: sums that were cut off
// at the largest amount would not come back.
func (r *reserved) sum() {
	r.total = 0
	for o := range r.open {
		r.total = r.total.Add(o.amount)
	}
}

// close notes what a reservation came to, and says whether anything changed.
func (r *reserved) close(o *Reservation, actual money.Nanos, through uint64, at instant) bool {
	if _, ok := r.open[o]; !ok {
		return false
	}
	before := o.amount
	o.amount, o.settled, o.through = actual, true, through
	if through == 0 {
		delete(r.open, o)
	}
	r.sum()
	return r.progress(r.counted, at) || through == 0 || actual != before
}

// progress lets go of what the ledger has counted, and says whether anything
// changed. Counters that have less than the gateway let go of, as they are being
// filled anew, change nothing; once they have it, theirs is the point that is
// stated.
func (r *reserved) progress(p ledger.Progress, at instant) (changed bool) {
	r.counted = p
	if p.Epoch == "" || p.Sequence < r.let {
		return false
	}
	if r.carried > 0 && p.Sequence >= r.started {
		r.carried, r.let, changed = 0, max(r.let, r.started), true
	}
	for o := range r.open {
		if o.settled && o.through <= p.Sequence {
			delete(r.open, o)
			r.let, changed = max(r.let, o.through), true
		}
	}
	if changed {
		r.sum()
	}
	if moved := r.point.Epoch != "" && r.point.Epoch != p.Epoch; !changed && !moved {
		return false
	}
	r.point, r.fresh = p.Point, at.hi+int64(lease)
	return true
}

func (r *reserved) adopt(e *entry, earlier bool) {
	if !earlier {
		return // it was let go of before the table was
	}
	r.carried, r.point = e.held, e.point
	if r.point.Epoch != "" {
		r.let = r.started
	}
}

func (r *reserved) tend(at instant) condition {
	held := len(r.open) > 0 || r.carried > 0
	return condition{empty: !held && r.fresh <= at.lo, leased: held}
}
