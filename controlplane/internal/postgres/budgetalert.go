package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm/clause"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

type budgetAlertRow struct {
	ID          uuid.UUID `gorm:"column:id;primaryKey"`
	WorkspaceID uuid.UUID `gorm:"column:workspace_id"`
	LimitID     string    `gorm:"column:limit_id"`
	Scope       string    `gorm:"column:scope"`
	Target      string    `gorm:"column:target"`
	Interval    string    `gorm:"column:interval"`
	WindowStart time.Time `gorm:"column:window_start"`
	Share       int       `gorm:"column:share"`
	LimitNanos  int64     `gorm:"column:limit_nanos"`
	UsedNanos   int64     `gorm:"column:used_nanos"`
	CreatedAt   time.Time `gorm:"column:created_at;autoCreateTime:false"`
}

func (budgetAlertRow) TableName() string { return "budget_alerts" }

func budgetAlertRowOf(a budgetalert.Alert) budgetAlertRow {
	return budgetAlertRow{
		ID: a.ID.UUID(), WorkspaceID: a.Workspace.UUID(), LimitID: a.LimitID, Scope: string(a.Scope), Target: a.Target,
		Interval: string(a.Interval), WindowStart: a.WindowStart, Share: a.Share, LimitNanos: int64(a.Amount), UsedNanos: int64(a.Used), CreatedAt: a.At,
	}
}

func (r budgetAlertRow) alert() budgetalert.Alert {
	return budgetalert.Alert{
		ID: id.FromUUID[id.EventKind](r.ID), Workspace: id.FromUUID[id.WorkspaceKind](r.WorkspaceID), LimitID: r.LimitID,
		Scope: policy.LimitScope(r.Scope), Target: r.Target, Interval: policy.Interval(r.Interval), WindowStart: r.WindowStart.UTC(),
		Share: r.Share, Amount: money.Nanos(r.LimitNanos), Used: money.Nanos(r.UsedNanos), At: r.CreatedAt.UTC(),
	}
}

// told is what there is one alert of.
type told struct {
	limit, interval string
	start           time.Time
	share           int
	amount          int64
}

func (r budgetAlertRow) told() told {
	return told{r.LimitID, r.Interval, r.WindowStart.UTC(), r.Share, r.LimitNanos}
}

// BudgetAlertStore keeps the shares and what was told.
type BudgetAlertStore struct{}

// NewBudgetAlertStore returns a store that works in the transaction of its context.
func NewBudgetAlertStore() *BudgetAlertStore { return &BudgetAlertStore{} }

// Shares implements budgetalert.Store.
func (*BudgetAlertStore) Shares(ctx context.Context, ws id.Workspace) (budgetalert.Shares, error) {
	var rows []struct {
		Share   int
		Version int64
	}
	err := scoped(ctx, ws).Table("budget_alert_shares").Select("unnest(shares) AS share, version").Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return budgetalert.DefaultShares(), translate(err, "read the shares of budget alerts")
	}
	s := budgetalert.Shares{Version: rows[0].Version}
	for _, r := range rows {
		s.Percents = append(s.Percents, r.Share)
	}
	return s, nil
}

// SetShares implements budgetalert.Store.
func (*BudgetAlertStore) SetShares(ctx context.Context, ws id.Workspace, s budgetalert.Shares) error {
	const what = "set the shares of budget alerts"
	conn, err := driverOf(tenant(ctx, ws))
	if err != nil {
		return translate(err, what)
	}
	done, err := conn.ExecContext(ctx, `INSERT INTO budget_alert_shares AS s (workspace_id, shares, version) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id) DO UPDATE SET shares = EXCLUDED.shares, version = EXCLUDED.version WHERE s.version = EXCLUDED.version - 1`,
		ws.UUID(), s.Percents, s.Version)
	if err != nil {
		return translate(err, what)
	}
	if n, err := done.RowsAffected(); err != nil || n == 1 {
		return translate(err, what)
	}
	return stale(scoped(ctx, ws).Table("budget_alert_shares"), what)
}

// Untold implements budgetalert.Store.
func (*BudgetAlertStore) Untold(ctx context.Context, ws id.Workspace, list []budgetalert.Alert) ([]budgetalert.Alert, error) {
	if len(list) == 0 {
		return nil, nil
	}
	limits, starts := make([]string, len(list)), make([]time.Time, len(list))
	for i, a := range list {
		limits[i], starts[i] = a.LimitID, a.WindowStart
	}
	var rows []budgetAlertRow
	err := scoped(ctx, ws).Where("limit_id = ANY (?) AND window_start IN ?", textArray(limits), starts).Find(&rows).Error
	if err != nil {
		return nil, translate(err, "look for budget alerts")
	}
	have := make(map[told]bool, len(rows))
	for _, r := range rows {
		have[r.told()] = true
	}
	var untold []budgetalert.Alert
	for _, a := range list {
		if !have[budgetAlertRowOf(a).told()] {
			untold = append(untold, a)
		}
	}
	return untold, nil
}

// Note implements budgetalert.Store. Of two at once the second waits for the
// first, and then finds it there.
func (*BudgetAlertStore) Note(ctx context.Context, ws id.Workspace, a budgetalert.Alert) (bool, error) {
	row := budgetAlertRowOf(a)
	done := tenant(ctx, ws).Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	return done.RowsAffected == 1, translate(done.Error, "keep a budget alert")
}

// Alerts implements budgetalert.Store.
func (*BudgetAlertStore) Alerts(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[budgetalert.Alert], error) {
	return newest(scoped(ctx, ws), "id", q, func(r budgetAlertRow) uuid.UUID { return r.ID }, budgetAlertRow.alert, "list budget alerts")
}

var _ budgetalert.Store = (*BudgetAlertStore)(nil)
