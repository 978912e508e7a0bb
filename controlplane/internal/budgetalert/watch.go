package budgetalert

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	// lookEvery gathers what is spent, so that a busy workspace is looked at once in
	// that time.
	lookEvery  = time.Second
	retryAfter = 5 * time.Second
	// sweepEvery is how often everybody who spends is looked at, for what a control
	// plane took in and died before it looked.
	sweepEvery = 5 * time.Minute
	sweepBatch = 500
	keysAtOnce = 200 // looked at by themselves; beyond, all of the workspace's
)

// WatcherDeps are what a Watcher works with.
type WatcherDeps struct {
	Runner   txn.Runner
	System   txn.System
	Store    Store
	Limits   Limits
	Spending Spending
	Spenders Spenders
	Queue    Queue
	IDs      *id.Source
	Now      func() time.Time
	Log      *slog.Logger
}

// Watcher looks at the limits of whoever spent something, after it was stored.
// Any number may run: what is told is kept in the transaction that puts it on its
// way, once for each limit, window, share and amount.
type Watcher struct {
	d WatcherDeps

	mu      sync.Mutex
	touched map[id.Workspace]map[id.Key]bool
}

// NewWatcher returns a watcher that does nothing yet.
func NewWatcher(d WatcherDeps) *Watcher {
	return &Watcher{d: d, touched: map[id.Workspace]map[id.Key]bool{}}
}

// Touch has the limits of a workspace and of one of its keys looked at soon. The
// zero key is none.
func (w *Watcher) Touch(ws id.Workspace, key id.Key) {
	w.mu.Lock()
	keys := w.touched[ws]
	if keys == nil {
		keys = map[id.Key]bool{}
		w.touched[ws] = keys
	}
	if !key.IsZero() && len(keys) <= keysAtOnce {
		keys[key] = true
	}
	w.mu.Unlock()
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	swept, failing := time.Time{}, false
	for ctx.Err() == nil {
		var err error
		if now := w.d.Now(); now.Sub(swept) >= sweepEvery {
			if err = w.Sweep(ctx); err == nil {
				swept = now
			}
		}
		err = cmp.Or(w.Look(ctx), err)
		if err != nil && ctx.Err() == nil && !failing {
			w.d.Log.Warn("budgets are not watched, it is tried again", slog.Any("error", err))
		}
		failing = err != nil
		pause := lookEvery
		if failing {
			pause = retryAfter
		}
		rest(ctx, pause)
	}
	return nil
}

func rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Look looks at whoever was touched. One that cannot be looked at stays for the
// next time, and keeps no other from it.
func (w *Watcher) Look(ctx context.Context) error {
	w.mu.Lock()
	touched := w.touched
	w.touched = map[id.Workspace]map[id.Key]bool{}
	w.mu.Unlock()
	var first error
	for ws, keys := range touched {
		err := w.workspace(ctx, ws, slices.Collect(maps.Keys(keys)), len(keys) > keysAtOnce)
		if err == nil {
			continue
		}
		if first == nil {
			first = err
		}
		w.Touch(ws, id.Key{})
		for key := range keys {
			w.Touch(ws, key)
		}
	}
	return first
}

// Sweep looks at everybody who spent something today, and removes old alerts. One
// that cannot be looked at keeps no other from it.
func (w *Watcher) Sweep(ctx context.Context) error {
	now := w.d.Now().UTC()
	var first error
	var after id.Workspace
	for {
		var list []id.Workspace
		err := w.d.System.Read(ctx, func(ctx context.Context) (err error) {
			list, err = w.d.Spenders.Spenders(ctx, now, after, sweepBatch)
			return err
		})
		if err != nil {
			return err
		}
		for _, ws := range list {
			if err := w.workspace(ctx, ws, nil, true); err != nil {
				first = cmp.Or(first, err)
			}
			if ctx.Err() != nil {
				return first
			}
		}
		if len(list) < sweepBatch {
			break
		}
		after = list[len(list)-1]
	}
	return cmp.Or(first, w.d.System.InTx(ctx, func(ctx context.Context) error {
		_, err := w.d.Spenders.Sweep(ctx, now.Add(-Kept), sweepBatch)
		return err
	}))
}

// workspace tells of what is reached. Most looks find nothing, and only read.
func (w *Watcher) workspace(ctx context.Context, ws id.Workspace, keys []id.Key, all bool) error {
	now := w.d.Now().UTC().Truncate(time.Microsecond)
	var due []Alert
	err := w.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		due, err = w.reached(ctx, ws, keys, all, now)
		return err
	})
	if err != nil || len(due) == 0 {
		return err
	}
	return w.d.Runner.InTx(ctx, ws, func(ctx context.Context) error {
		for _, a := range due {
			fresh, err := w.d.Store.Note(ctx, ws, a)
			if err != nil {
				return err
			}
			if !fresh {
				continue
			}
			if err := w.d.Queue.Add(ctx, webhook.Event{ID: a.ID, Workspace: ws, Type: webhook.BudgetAlert, At: a.At, Data: a.data()}); err != nil {
				return err
			}
		}
		return nil
	})
}

// reached are the alerts of what is reached now and was not told yet.
func (w *Watcher) reached(ctx context.Context, ws id.Workspace, keys []id.Key, all bool, now time.Time) ([]Alert, error) {
	limits, err := w.d.Limits.Limits(ctx, ws, keys, all)
	if err != nil || len(limits) == 0 {
		return nil, err
	}
	shares, err := w.d.Store.Shares(ctx, ws)
	if err != nil {
		return nil, err
	}
	accounts := make([]wire.Account, 0, len(limits))
	for _, l := range limits {
		accounts = append(accounts, l.Account)
	}
	slices.Sort(accounts)
	spent, err := w.d.Spending.Spent(ctx, ws, slices.Compact(accounts), since(now))
	if err != nil {
		return nil, err
	}
	var due []Alert
	for _, l := range limits {
		window := spending.WindowOf(l.Interval, now)
		used := l.used(spent[l.Account], window)
		for _, share := range reached(used, l.Amount, shares.Percents) {
			due = append(due, Alert{
				ID: id.New[id.EventKind](w.d.IDs), Workspace: ws, LimitID: l.ID, Scope: l.Scope, Target: l.Target, Interval: l.Interval,
				WindowStart: window.Start, Share: share, Amount: l.Amount, Used: used, At: now,
			})
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	return w.d.Store.Untold(ctx, ws, due)
}

// since is when the first of the windows of now began.
func since(now time.Time) time.Time {
	week, month := spending.WindowOf(policy.Weekly, now).Start, spending.WindowOf(policy.Monthly, now).Start
	if week.Before(month) {
		return week
	}
	return month
}
