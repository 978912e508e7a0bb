package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func (s *services) watcher() *budgetalert.Watcher { return budgetalert.NewWatcher(s.watcherDeps()) }

func (s *services) watcherDeps() budgetalert.WatcherDeps {
	store := NewBudgetAlertStore()
	return budgetalert.WatcherDeps{
		Runner: s.db.Runner(), System: s.db.System(), Store: store, Limits: store, Spending: NewSpendingStore(), Spenders: NewBudgetSpenders(),
		Queue: webhook.NewQueue(NewWebhookStore(), NewDeliveryStore(), testIDs), IDs: testIDs, Now: s.clock.now, Log: slog.New(slog.DiscardHandler),
	}
}

// spends counts what an account spent today.
func (s *services) spends(t *testing.T, ws id.Workspace, account wire.Account, cost, byok money.Nanos) {
	t.Helper()
	day := s.clock.now().UTC().Truncate(24 * time.Hour)
	list := []usage.Spend{{SpendCell: usage.SpendCell{Workspace: ws, Account: account, Day: day}, Spend: wire.Spend{Requests: 1, Cost: cost, BYOK: byok}}}
	if account.Lifetime() {
		list = append([]usage.Spend{{SpendCell: usage.SpendCell{Workspace: ws, Account: account}, Spend: list[0].Spend}}, list...)
	}
	require.NoError(t, s.db.System().InTx(t.Context(), func(ctx context.Context) error {
		conn, err := driverOf(system(ctx))
		require.NoError(t, err)
		return addSpends(ctx, conn, list)
	}))
}

// limited keeps a budget of the workspace, whatever the service would say.
func (s *services) limited(t *testing.T, created workspace.Created, interval policy.Interval, limit money.Nanos, target budget.Target) budget.Budget {
	t.Helper()
	b := budget.Budget{
		ID: id.New[id.BudgetKind](testIDs), Workspace: created.Workspace.ID, Target: target, Interval: interval, Limit: limit,
		CreatedBy: created.Owner.User, Version: 1, CreatedAt: s.clock.now(), UpdatedAt: s.clock.now(),
	}
	in(t, s.db, b.Workspace, func(ctx context.Context) error { return NewBudgetStore().Create(ctx, b.Workspace, b) })
	return b
}

func (s *services) alerts(t *testing.T, ws id.Workspace) []budgetalert.Alert {
	t.Helper()
	found, err := budgetalert.NewService(budgetalert.Deps{Runner: s.db.Runner(), Store: NewBudgetAlertStore()}).Alerts(t.Context(), ws, page.Query{})
	require.NoError(t, err)
	return found.Items
}

const usd = money.Nanos(1_000_000_000)

// Each share of each limit is told of once in a window, by whichever of several
// control planes notices, also over restarts; a changed limit tells anew.
func TestBudgetsTellOnce(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	hooks := s.hooks(true, noNames{})
	w, _ := s.hook(t, hooks, created, "https://192.0.2.1/")
	b := s.limited(t, created, policy.Daily, 10*usd, budget.Target{})
	look := func() {
		t.Helper()
		var group sync.WaitGroup
		for range 3 {
			one := s.watcher() // each knows nothing of before
			one.Touch(ws, id.Key{}, s.clock.now())
			group.Go(func() {
				if err := one.Look(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	told := func(want ...string) {
		t.Helper()
		look()
		look()
		var got []string
		for _, a := range s.alerts(t, ws) {
			got = append([]string{fmt.Sprintf("%d%% of %s", a.Share, a.Amount)}, got...)
		}
		require.Equal(t, want, got)
		require.Len(t, s.log(t, hooks, w), len(want))
	}
	s.spends(t, ws, wire.AccountWorkspace, 8*usd-1, 0)
	told()
	s.spends(t, ws, wire.AccountWorkspace, 1, 0)
	told("80% of 10.00")
	s.spends(t, ws, wire.AccountWorkspace, 5*usd, 0)
	told("80% of 10.00", "100% of 10.00")

	b.Limit, b.Version = 15*usd, b.Version+1
	in(t, s.db, ws, func(ctx context.Context) error { return NewBudgetStore().Update(ctx, ws, b) })
	told("80% of 10.00", "100% of 10.00", "80% of 15.00")
	b.Limit, b.Version = 10*usd, b.Version+1
	in(t, s.db, ws, func(ctx context.Context) error { return NewBudgetStore().Update(ctx, ws, b) })
	told("80% of 10.00", "100% of 10.00", "80% of 15.00")

	s.clock.advance(24 * time.Hour)
	told("80% of 10.00", "100% of 10.00", "80% of 15.00")
	s.spends(t, ws, wire.AccountWorkspace, 9*usd, 0)
	told("80% of 10.00", "100% of 10.00", "80% of 15.00", "80% of 10.00")

	last := s.alerts(t, ws)[0]
	delivery := s.log(t, hooks, w)[0]
	require.Equal(t, last.ID, delivery.Event, "the alert is the event")
	var body struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(delivery.Body), &body))
	require.Equal(t, "budget.alert", body.Type)
	day := s.clock.now().UTC().Truncate(24 * time.Hour)
	require.Equal(t, map[string]any{
		"scope": "workspace", "id": b.ID.String(), "interval": "daily", "share": 80.0, "used_nanos": 9e9, "used_usd": "9.00", "limit_nanos": 10e9,
		"limit_usd": "10.00", "window_start": day.Format(time.RFC3339), "reset_at": day.AddDate(0, 0, 1).Format(time.RFC3339),
	}, body.Data)
}

// Every kind of limit tells, of its own account, and of what counts toward it.
func TestEveryLimitTells(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	s.limited(t, created, policy.Lifetime, usd, budget.Target{})
	s.limited(t, created, policy.Weekly, usd, budget.Target{Agent: "bot"})
	key := filledKey(t, created.Owner, 1)
	key.Profile, key.Department, key.Route = id.Profile{}, id.Department{}, id.Route{}
	key.Limits = &policy.KeyLimits{Monthly: policy.KeyWindow{Cost: usd}}
	in(t, s.db, ws, func(ctx context.Context) error { return NewAPIKeyStore().Create(ctx, ws, key) })
	for _, account := range []wire.Account{wire.AccountWorkspace, wire.AgentAccount("bot"), wire.KeyAccount(key.ID)} {
		s.spends(t, ws, account, 2*usd, 2*usd) // with credentials of its own, which does not count
	}
	watcher := s.watcher()
	watcher.Touch(ws, key.ID, s.clock.now())
	require.NoError(t, watcher.Look(t.Context()))
	require.Empty(t, s.alerts(t, ws))
	for _, account := range []wire.Account{wire.AccountWorkspace, wire.AgentAccount("bot"), wire.KeyAccount(key.ID)} {
		s.spends(t, ws, account, usd, 0)
	}
	watcher.Touch(ws, id.Key{}, s.clock.now())
	require.NoError(t, watcher.Look(t.Context()))
	require.Len(t, s.alerts(t, ws), 4, "of the key nothing was said")
	watcher.Touch(ws, key.ID, s.clock.now())
	require.NoError(t, watcher.Look(t.Context()))
	got := map[string]int{}
	for _, a := range s.alerts(t, ws) {
		got[fmt.Sprintf("%s %s %s", a.Scope, a.Target, a.Interval)]++
		require.Equal(t, a.Interval == policy.Lifetime, a.ResetAt() == nil)
	}
	require.Equal(t, map[string]int{"workspace  lifetime": 2, "agent bot weekly": 2, "key " + key.ID.String() + " monthly": 2}, got)

	// The shares are the workspace's own.
	in(t, s.db, ws, func(ctx context.Context) error {
		return NewBudgetAlertStore().SetShares(ctx, ws, budgetalert.Shares{Percents: []int{50, 80}, Version: 1})
	})
	watcher.Touch(ws, id.Key{}, s.clock.now())
	require.NoError(t, watcher.Look(t.Context()))
	require.Len(t, s.alerts(t, ws), 8, "50% of two budgets")
}

// What a control plane took in and did not look at is noticed by the next sweep,
// of every workspace that spent something.
func TestASweepNoticesWhatWasMissed(t *testing.T) {
	s := openServices(t)
	var all []workspace.Created
	for i := range 3 {
		created := s.create(t, fmt.Sprintf("acme-%d", i))
		s.limited(t, created, policy.Monthly, usd, budget.Target{})
		s.spends(t, created.Workspace.ID, wire.AccountWorkspace, usd, 0)
		all = append(all, created)
	}
	require.NoError(t, s.watcher().Sweep(t.Context()))
	for _, created := range all {
		require.Len(t, s.alerts(t, created.Workspace.ID), 2)
	}
	var page []id.Workspace
	require.NoError(t, s.db.System().Read(t.Context(), func(ctx context.Context) (err error) {
		page, err = NewBudgetSpenders().Spenders(ctx, s.clock.now(), id.Workspace{}, 2)
		return err
	}))
	require.Len(t, page, 2)
	s.clock.advance(budgetalert.Kept + 40*24*time.Hour)
	require.NoError(t, s.watcher().Sweep(t.Context()))
	for _, created := range all {
		require.Empty(t, s.alerts(t, created.Workspace.ID), "and what is old is removed")
	}
}

// What was missed at the end of a window is noticed for a while after it.
func TestASweepNoticesWhatWasMissedBeforeMidnight(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	s.limited(t, created, policy.Daily, usd, budget.Target{})
	s.spends(t, created.Workspace.ID, wire.AccountWorkspace, usd, 0)
	day := s.clock.now().UTC().Truncate(24 * time.Hour)
	s.clock.advance(day.AddDate(0, 0, 1).Add(time.Hour).Sub(s.clock.now()))
	require.NoError(t, s.watcher().Sweep(t.Context()))
	require.Empty(t, s.alerts(t, created.Workspace.ID), "it is long over")
	s.clock.advance(-55 * time.Minute)
	require.NoError(t, s.watcher().Sweep(t.Context()))
	told := s.alerts(t, created.Workspace.ID)
	require.Len(t, told, 2)
	require.Equal(t, day, told[0].WindowStart)
}

// What was spent at the end of a window is told of after it, when it was stored
// only then; what is long over is not.
func TestUsageOverMidnightTells(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws := created.Workspace.ID
	for _, interval := range []policy.Interval{policy.Daily, policy.Monthly, policy.Lifetime} {
		s.limited(t, created, interval, usd, budget.Target{})
	}
	s.spends(t, ws, wire.AccountWorkspace, usd, 0)
	then := s.clock.now()
	s.clock.advance(40 * 24 * time.Hour)
	look := func(spent time.Time) (told []string) {
		t.Helper()
		w := s.watcher()
		w.Touch(ws, id.Key{}, spent)
		require.NoError(t, w.Look(t.Context()))
		for _, a := range s.alerts(t, ws) {
			told = append(told, fmt.Sprintf("%s %d", a.Interval, a.Share))
		}
		return told
	}
	require.ElementsMatch(t, []string{"lifetime 80", "lifetime 100"}, look(then))
	s.clock.advance(-39 * 24 * time.Hour)
	want := []string{"lifetime 80", "lifetime 100", "daily 80", "daily 100", "monthly 80", "monthly 100"}
	require.ElementsMatch(t, want, look(then))
	require.ElementsMatch(t, want, look(then))
	for _, a := range s.alerts(t, ws) {
		if a.Interval == policy.Daily {
			require.Equal(t, then.UTC().Truncate(24*time.Hour), a.WindowStart)
		}
	}
}

// failing is a runner whose transactions of one workspace fail.
type failing struct {
	txn.Runner
	ws id.Workspace
}

var errBroken = errors.New("broken")

func (f failing) InTx(ctx context.Context, ws id.Workspace, fn func(context.Context) error) error {
	if ws == f.ws {
		return errBroken
	}
	return f.Runner.InTx(ctx, ws, fn)
}

// One workspace that cannot be told keeps no other from being told, nor what is
// old from going.
func TestASweepGoesOnBehindABrokenWorkspace(t *testing.T) {
	s := openServices(t)
	var all []workspace.Created
	for i := range 2 {
		created := s.create(t, fmt.Sprintf("acme-%d", i))
		s.limited(t, created, policy.Monthly, usd, budget.Target{})
		s.spends(t, created.Workspace.ID, wire.AccountWorkspace, usd, 0)
		all = append(all, created)
	}
	slices.SortFunc(all, func(a, b workspace.Created) int {
		return strings.Compare(a.Workspace.ID.UUID().String(), b.Workspace.ID.UUID().String())
	})
	deps := s.watcherDeps()
	deps.Runner = failing{deps.Runner, all[0].Workspace.ID}
	require.ErrorIs(t, budgetalert.NewWatcher(deps).Sweep(t.Context()), errBroken)
	require.Empty(t, s.alerts(t, all[0].Workspace.ID))
	require.Len(t, s.alerts(t, all[1].Workspace.ID), 2)
	s.clock.advance(budgetalert.Kept + 40*24*time.Hour)
	s.spends(t, all[0].Workspace.ID, wire.AccountWorkspace, usd, 0)
	require.ErrorIs(t, budgetalert.NewWatcher(deps).Sweep(t.Context()), errBroken)
	require.Empty(t, s.alerts(t, all[1].Workspace.ID))
}
