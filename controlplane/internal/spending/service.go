package spending

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store tells what accounts spent.
type Store interface {
	// Spent is called inside a transaction of ws; an account that never spent
	// anything is absent. Days are those from since on.
	Spent(ctx context.Context, ws id.Workspace, accounts []wire.Account, since time.Time) (map[wire.Account]History, error)
}

// Service reports what accounts spend.
type Service struct {
	runner txn.Runner
	store  Store
	now    func() time.Time
}

// NewService returns a Service over store.
func NewService(runner txn.Runner, store Store, now func() time.Time) *Service {
	return &Service{runner: runner, store: store, now: now}
}

// Report is what an account spends.
type Report struct {
	Windows []WindowSpend // shortest first
	Days    []Day         // of the last four weeks and of the month
}

// WindowSpend is what an account spent in a window of now.
type WindowSpend struct {
	Interval policy.Interval
	Window   Window
	wire.Spend
	Projection Projection // of everything, the workspace's own credentials' part too
}

// Of reports what the account spends; lifetime says whether its lifetime is
// counted.
func (s *Service) Of(ctx context.Context, ws id.Workspace, account wire.Account, lifetime bool) (Report, error) {
	now := s.now().UTC()
	h, err := txn.Read(ctx, s.runner, ws, func(ctx context.Context) (History, error) {
		spent, err := s.store.Spent(ctx, ws, []wire.Account{account}, Since(now))
		return spent[account], err
	})
	if err != nil {
		return Report{}, err
	}
	intervals := []policy.Interval{policy.Daily, policy.Weekly, policy.Monthly}
	if lifetime {
		intervals = append(intervals, policy.Lifetime)
	}
	report := Report{Days: h.Days}
	for _, i := range intervals {
		w := WindowOf(i, now)
		report.Windows = append(report.Windows, WindowSpend{Interval: i, Window: w, Spend: h.In(w), Projection: h.Project(w, now, true)})
	}
	return report, nil
}
