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
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	// lookEvery gathers what is spent, so that a busy workspace is looked at once in
	// that time.
	lookEvery  = time.Second
	retryAfter = 5 * time.Second
	keysAtOnce = 200 // looked at by themselves; beyond, all of the workspace's
	daysAtOnce = 16
	// lateMost is how long after its day what was spent still tells, as when usage
	// waited for the database over midnight.
	lateMost = 7 * 24 * time.Hour
)

// WatcherDeps are what a Watcher works with.
type WatcherDeps struct {
	Runner   txn.Runner
	System   txn.System
	Store    Store
	Limits   Limits
	Spending spending.Store
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
	touched map[id.Workspace]*touch
}

// touch is what of a workspace is to be looked at: its keys, and the UTC days on
// which something was spent.
type touch struct {
	keys map[id.Key]bool
	days map[time.Time]bool
}

// NewWatcher returns a watcher that does nothing yet.
func NewWatcher(d WatcherDeps) *Watcher {
	return &Watcher{d: d, touched: map[id.Workspace]*touch{}}
}

// Touch has the limits of a workspace and of one of its keys looked at soon, for
// the windows of now and, where something was spent before today, of then. The
// zero key is none.
func (w *Watcher) Touch(ws id.Workspace, key id.Key, spent time.Time) {
	day := spent.UTC().Truncate(24 * time.Hour)
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.touched[ws]
	if t == nil {
		t = &touch{keys: map[id.Key]bool{}, days: map[time.Time]bool{}}
		w.touched[ws] = t
	}
	if !key.IsZero() && len(t.keys) <= keysAtOnce {
		t.keys[key] = true
	}
	if len(t.days) < daysAtOnce {
		t.days[day] = true
	}
}

// Run looks until ctx ends.
func (w *Watcher) Run(ctx context.Context) error {
	failing := false
	for ctx.Err() == nil {
		err := w.Look(ctx)
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
	w.touched = map[id.Workspace]*touch{}
	w.mu.Unlock()
	var first error
	for ws, t := range touched {
		err := w.workspace(ctx, ws, slices.Collect(maps.Keys(t.keys)), len(t.keys) > keysAtOnce, w.moments(t))
		if err == nil {
			continue
		}
		first = cmp.Or(first, err)
		for day := range t.days {
			w.Touch(ws, id.Key{}, day)
		}
		for key := range t.keys {
			w.Touch(ws, key, w.d.Now())
		}
	}
	return first
}

// moments are now and the last of each earlier day of t that is not long over.
func (w *Watcher) moments(t *touch) []time.Time {
	now := w.d.Now().UTC()
	list := []time.Time{now}
	for day := range t.days {
		if end := day.Add(24*time.Hour - time.Microsecond); end.Before(now) && now.Sub(end) < lateMost {
			list = append(list, end)
		}
	}
	return list
}

// workspace tells of what is reached in the windows of moments. Most looks find
// nothing, and only read.
func (w *Watcher) workspace(ctx context.Context, ws id.Workspace, keys []id.Key, all bool, moments []time.Time) error {
	due, err := txn.Read(ctx, w.d.Runner, ws, func(ctx context.Context) ([]Alert, error) {
		return w.reached(ctx, ws, keys, all, moments)
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

// reached are the alerts of what is reached in the windows of moments and was not
// told yet.
func (w *Watcher) reached(ctx context.Context, ws id.Workspace, keys []id.Key, all bool, moments []time.Time) ([]Alert, error) {
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
	spent, err := w.d.Spending.Spent(ctx, ws, slices.Compact(accounts), since(slices.MinFunc(moments, time.Time.Compare)))
	if err != nil {
		return nil, err
	}
	var due []Alert
	for _, l := range limits {
		var seen []spending.Window
		for _, at := range moments {
			if window := spending.WindowOf(l.Interval, at); !slices.Contains(seen, window) {
				seen = append(seen, window)
				due = append(due, w.alerts(ws, l, window, l.used(spent[l.Account], window), shares)...)
			}
		}
	}
	if len(due) == 0 {
		return nil, nil
	}
	return w.d.Store.Untold(ctx, ws, due)
}

// alerts are those of the shares that used reaches.
func (w *Watcher) alerts(ws id.Workspace, l Limit, window spending.Window, used money.Nanos, shares Shares) []Alert {
	now := txn.Moment(w.d.Now())
	var due []Alert
	for _, share := range reached(used, l.Amount, shares.Percents) {
		due = append(due, Alert{
			ID: id.New[id.EventKind](w.d.IDs), Workspace: ws, LimitID: l.ID, Scope: l.Scope, Target: l.Target, Interval: l.Interval,
			WindowStart: window.Start, Share: share, Amount: l.Amount, Used: used, At: now,
		})
	}
	return due
}

// since is when the first of the windows of now began.
func since(now time.Time) time.Time {
	week, month := spending.WindowOf(policy.Weekly, now).Start, spending.WindowOf(policy.Monthly, now).Start
	if week.Before(month) {
		return week
	}
	return month
}
