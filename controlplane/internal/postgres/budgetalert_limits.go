package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Limits implements budgetalert.Limits.
func (*BudgetAlertStore) Limits(ctx context.Context, ws id.Workspace, keys []id.Key, all bool) ([]budgetalert.Limit, error) {
	var budgets []budgetRow
	if err := scoped(ctx, ws).Find(&budgets).Error; err != nil {
		return nil, translate(err, "read the budgets")
	}
	var limits []budgetalert.Limit
	for _, r := range budgets {
		b := r.budget()
		published := b.Published()
		limits = append(limits, budgetalert.Limit{
			ID: b.ID.String(), Scope: published.Scope(), Target: targetOf(published), Interval: b.Interval, Amount: b.Limit,
			IncludeBYOK: b.IncludeBYOK, Account: b.Target.Account(),
		})
	}
	if len(keys) == 0 && !all {
		return limits, nil
	}
	q := scoped(ctx, ws).Where("greatest(daily_cost_nanos, weekly_cost_nanos, monthly_cost_nanos) > 0")
	if !all {
		q = q.Where("id IN ?", uuidsOf(keys))
	}
	var rows []apiKeyRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, translate(err, "read the limits of keys")
	}
	for _, r := range rows {
		limits = append(limits, keyLimits(r)...)
	}
	return limits, nil
}

// targetOf is who a budget is about; "" for the workspace.
func targetOf(b policy.Budget) string {
	switch b.Scope() {
	case policy.LimitsDepartment:
		return b.Department.String()
	case policy.LimitsGuardrail:
		return b.Guardrail.String()
	case policy.LimitsAgent:
		return b.Agent
	default:
		return ""
	}
}

func keyLimits(r apiKeyRow) []budgetalert.Limit {
	k := r.key()
	var list []budgetalert.Limit
	for _, w := range []struct {
		interval policy.Interval
		amount   money.Nanos
	}{{policy.Daily, k.Limits.Daily.Cost}, {policy.Weekly, k.Limits.Weekly.Cost}, {policy.Monthly, k.Limits.Monthly.Cost}} {
		if w.amount > 0 {
			list = append(list, budgetalert.Limit{
				ID: k.ID.String(), Scope: policy.LimitsKey, Target: k.ID.String(), Interval: w.interval, Amount: w.amount,
				IncludeBYOK: k.Limits.IncludeBYOK, Account: wire.KeyAccount(k.ID),
			})
		}
	}
	return list
}

// BudgetSpenders looks over all workspaces for who spends, as the system role.
type BudgetSpenders struct{}

// NewBudgetSpenders returns a reader that works in the transaction of its context.
func NewBudgetSpenders() *BudgetSpenders { return &BudgetSpenders{} }

// Spenders implements budgetalert.Spenders.
func (*BudgetSpenders) Spenders(ctx context.Context, at time.Time, after id.Workspace, limit int) ([]id.Workspace, error) {
	var rows []uuid.UUID
	err := system(ctx).Raw(`SELECT DISTINCT workspace_id FROM spend_days WHERE day = ?::date AND account = ? AND workspace_id > ? ORDER BY 1 LIMIT ?`,
		at.UTC().Format(time.DateOnly), string(wire.AccountWorkspace), after.UUID(), limit).Scan(&rows).Error
	list := make([]id.Workspace, len(rows))
	for i, ws := range rows {
		list[i] = id.FromUUID[id.WorkspaceKind](ws)
	}
	return list, translate(err, "look for who spends")
}

// Sweep implements budgetalert.Spenders.
func (*BudgetSpenders) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	done := system(ctx).Exec(`DELETE FROM budget_alerts WHERE id IN
		(SELECT id FROM budget_alerts WHERE window_start < ? AND "interval" <> 'lifetime' ORDER BY window_start LIMIT ?)`, before, limit)
	return int(done.RowsAffected), translate(done.Error, "remove old budget alerts")
}

var (
	_ budgetalert.Limits   = (*BudgetAlertStore)(nil)
	_ budgetalert.Spenders = (*BudgetSpenders)(nil)
)
