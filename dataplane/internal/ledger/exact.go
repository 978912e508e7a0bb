package ledger

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// ErrUnavailable says that the counters could not be read, or not as of the
// state that was asked for.
var ErrUnavailable = errors.New("the counters of usage cannot be read")

// behind is how long a read of a store that is behind waits for the next.
const behind = 2 * time.Millisecond

// OnProgress has fn told, from now on, how far the counters have this gateway's
// spool: after every commit, and when the ledger found its place in them. fn must
// not block.
func (l *Ledger) OnProgress(fn func(Progress)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, fn)
}

func (l *Ledger) progress(p Progress) {
	l.mu.Lock()
	told := l.told
	l.mu.Unlock()
	for _, fn := range told {
		fn(p)
	}
}

// Exact reads what an account has used from a state of the counters that is after
// or a later one, and returns that state. What no gateway has counted by then is
// not in it, this gateway's own requests neither. It fails with ErrUnavailable when
// no such state is to be had until ctx ends, and when the counters are not those
// that after is of.
func (l *Ledger) Exact(ctx context.Context, ws id.Workspace, account wire.Account, now time.Time, after Point) (Totals, Point, error) {
	l.mu.Lock()
	epoch := l.epoch
	l.mu.Unlock()
	if epoch == "" || after.Epoch != "" && after.Epoch != epoch {
		return Totals{}, Point{}, fmt.Errorf("%w: %w", ErrUnavailable, ErrUnfilled)
	}
	ref, today := accountRef{ws, account}, dayOf(now)
	for {
		read, err := l.readTogether(ctx, epoch, ref, today)
		switch {
		case err != nil && ctx.Err() == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)):
			continue // who read for everybody has left
		case err != nil:
			return Totals{}, Point{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
		case read.Stream >= after.Stream:
			return read.Totals, read.Point, nil
		}
		select {
		case <-ctx.Done():
			return Totals{}, Point{}, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		case <-time.After(behind):
		}
	}
}

// reading is what was read of an account.
type reading struct {
	Totals
	Point
}

// readTogether reads an account once for all who ask for it at the same time: what
// counts is of which state the answer is, not who asked.
func (l *Ledger) readTogether(ctx context.Context, epoch string, ref accountRef, today day) (reading, error) {
	name := epoch + ref.ws.String() + string(ref.account) + strconv.Itoa(int(today))
	read, err, _ := l.reads.Do(name, func() (any, error) {
		windows, refs := windowsOf(ref, today)
		got, state, err := l.opts.Store.Read(ctx, epoch, refs)
		if err != nil {
			return reading{}, err
		}
		return reading{windows(got), Point{epoch, state}}, nil
	})
	return read.(reading), err
}

// windowsOf are the counters of an account for the windows of a day, and what
// makes totals of them.
func windowsOf(ref accountRef, today day) (windows func(map[totalRef]wire.Spend) Totals, refs []totalRef) {
	monday, month := today.monday(), today.month()
	for d := min(monday, month); d <= today; d++ {
		refs = append(refs, totalRef{ref, d})
	}
	if ref.account.Lifetime() {
		refs = append(refs, totalRef{ref, ever})
	}
	return func(got map[totalRef]wire.Spend) Totals {
		since := func(from day) (all wire.Spend) {
			for d := from; d <= today; d++ {
				all = all.Add(got[totalRef{ref, d}])
			}
			return all
		}
		return Totals{Known: true, Daily: since(today), Weekly: since(monday), Monthly: since(month), Lifetime: got[totalRef{ref, ever}]}
	}, refs
}
