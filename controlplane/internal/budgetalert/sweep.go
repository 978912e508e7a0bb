package budgetalert

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

const (
	// sweepEvery is how often everybody who spends is looked at, for what a control
	// plane took in and died before it looked.
	sweepEvery = 5 * time.Minute
	// sweepAgain is when it is repeated where somebody could not be looked at: not
	// at once, as all others are looked at again too.
	sweepAgain = time.Minute
	sweepBatch = 500
)

// RunSweeps sweeps every now and then until ctx ends. It is enough that one of all
// control planes does.
func (w *Watcher) RunSweeps(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		err := w.Sweep(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			w.d.Log.Warn("what was missed of budgets is not looked for, it is tried again", slog.Any("error", err))
		}
		failing = err != nil
		pause := sweepEvery
		if failing {
			pause = sweepAgain
		}
		rest(ctx, pause)
	}
	return nil
}

// Sweep looks at everybody who spent something today, and for a while after
// midnight at those of the day before, whose windows have just ended. It also
// removes old alerts. One that cannot be looked at keeps no other from it.
func (w *Watcher) Sweep(ctx context.Context) error {
	now := w.d.Now().UTC()
	moments := []time.Time{now}
	if before := now.Truncate(24 * time.Hour).Add(-time.Microsecond); now.Sub(before) <= 2*sweepEvery {
		moments = append(moments, before)
	}
	var first error
	for _, at := range moments {
		first = cmp.Or(first, w.sweep(ctx, at))
	}
	return cmp.Or(first, w.d.System.InTx(ctx, func(ctx context.Context) error {
		_, err := w.d.Spenders.Sweep(ctx, now.Add(-Kept), sweepBatch)
		return err
	}))
}

// sweep looks at everybody who spent something on the day of at, in the windows
// of that moment.
func (w *Watcher) sweep(ctx context.Context, at time.Time) error {
	var first error
	var after id.Workspace
	for {
		var list []id.Workspace
		err := w.d.System.Read(ctx, func(ctx context.Context) (err error) {
			list, err = w.d.Spenders.Spenders(ctx, at, after, sweepBatch)
			return err
		})
		if err != nil {
			return err
		}
		for _, ws := range list {
			first = cmp.Or(first, w.workspace(ctx, ws, nil, true, []time.Time{at}))
			if ctx.Err() != nil {
				return first
			}
		}
		if len(list) < sweepBatch {
			return first
		}
		after = list[len(list)-1]
	}
}
