package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/cell"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Exactly are the cells of package cell.
type Exactly interface {
	Take(ctx context.Context, s cell.Subject, n int64, l cell.Limit) (cell.Took, error)
	GiveBack(s cell.Subject, n int64)
	Acquire(ctx context.Context, s cell.Subject, l cell.Limit) (*cell.Slot, cell.Took, error)
	Reserve(ctx context.Context, s cell.Subject, amount money.Nanos, bounds []cell.Bound) (*cell.Reservation, cell.Reserved, error)
}

// Spent reads what an account spent, from a state of the counters that is at
// least as new as after.
type Spent interface {
	Exact(ctx context.Context, ws id.Workspace, account wire.Account, now time.Time, after ledger.Point) (ledger.Totals, ledger.Point, error)
}

// CellsOver are Cells that reserve beside what was spent.
func CellsOver(c Exactly, s Spent) Cells { return cellsOver{c, s} }

type cellsOver struct {
	cells Exactly
	spent Spent
}

func (c cellsOver) Take(ctx context.Context, s Subject, n int64, l Most) (Took, error) {
	took, err := c.cells.Take(ctx, cell.Subject(s), n, cell.Limit{Most: l.N, Unavailable: l.Unavailable})
	return tookOf(took), err
}

func tookOf(t cell.Took) Took { return Took{OK: t.OK, Used: t.Used, Wait: t.Wait} }

func (c cellsOver) GiveBack(s Subject, n int64) { c.cells.GiveBack(cell.Subject(s), n) }

func (c cellsOver) Acquire(ctx context.Context, s Subject, l Most) (Slot, Took, error) {
	slot, took, err := c.cells.Acquire(ctx, cell.Subject(s), cell.Limit{Most: l.N, Unavailable: l.Unavailable})
	if slot == nil {
		return nil, tookOf(took), err
	}
	return slot, tookOf(took), err
}

func (c cellsOver) Reserve(ctx context.Context, s Subject, amount money.Nanos, bounds []Bound) (Reservation, Reserved, error) {
	r, reserved, err := c.cells.Reserve(ctx, cell.Subject(s), amount, c.bounds(s.Workspace, bounds))
	if r == nil {
		return nil, reservedOf(reserved), err
	}
	return &reservationOver{r, c, s.Workspace}, reservedOf(reserved), err
}

func reservedOf(r cell.Reserved) Reserved {
	return Reserved{OK: r.OK, Index: r.Index, Spent: r.Spent, Held: r.Held}
}

// bounds reads what was spent where it is asked for.
func (c cellsOver) bounds(ws id.Workspace, bounds []Bound) []cell.Bound {
	out := make([]cell.Bound, len(bounds))
	for i := range bounds {
		b := &bounds[i]
		out[i] = cell.Bound{Limit: b.Limit, Spent: func(ctx context.Context, after ledger.Point) (money.Nanos, ledger.Point, error) {
			t, at, err := c.spent.Exact(ctx, ws, b.Account, b.At, after)
			if err != nil {
				return 0, at, fmt.Errorf("what an account spent: %w", err)
			}
			return b.Of(&t), at, nil
		}}
	}
	return out
}

type reservationOver struct {
	*cell.Reservation
	cells cellsOver
	ws    id.Workspace
}

// Raise implements Reservation.
func (r *reservationOver) Raise(ctx context.Context, amount money.Nanos, bounds []Bound) (Reserved, error) {
	reserved, err := r.Reservation.Raise(ctx, amount, r.cells.bounds(r.ws, bounds))
	return reservedOf(reserved), err
}
