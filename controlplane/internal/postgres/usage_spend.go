package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const addSpendEverSQL = `INSERT INTO spend_totals AS t (workspace_id, account, requests, cost_nanos, byok_nanos)
	SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
	ON CONFLICT (workspace_id, account) DO UPDATE SET
	  requests = t.requests + EXCLUDED.requests, cost_nanos = t.cost_nanos + EXCLUDED.cost_nanos, byok_nanos = t.byok_nanos + EXCLUDED.byok_nanos`

const addSpendDaysSQL = `INSERT INTO spend_days AS t (workspace_id, account, requests, cost_nanos, byok_nanos, day)
	SELECT * FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::date[])
	ON CONFLICT (workspace_id, account, day) DO UPDATE SET
	  requests = t.requests + EXCLUDED.requests, cost_nanos = t.cost_nanos + EXCLUDED.cost_nanos, byok_nanos = t.byok_nanos + EXCLUDED.byok_nanos`

// addSpends adds sorted changes to the totals of accounts: those of all time
// come first in them.
func addSpends(ctx context.Context, conn gorm.ConnPool, list []usage.Spend) error {
	ever := 0
	for ever < len(list) && list[ever].Day.IsZero() {
		ever++
	}
	if ever > 0 {
		if _, err := conn.ExecContext(ctx, addSpendEverSQL, spendArrays(list[:ever])...); err != nil {
			return err
		}
	}
	if ever == len(list) {
		return nil
	}
	days := make([]time.Time, len(list)-ever)
	for i := range days {
		days[i] = list[ever+i].Day
	}
	_, err := conn.ExecContext(ctx, addSpendDaysSQL, append(spendArrays(list[ever:]), days)...)
	return err
}

func spendArrays(list []usage.Spend) []any {
	n := len(list)
	workspaces, accounts := make([]uuid.UUID, n), make([]string, n)
	requests, costs, byok := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range list {
		s := &list[i]
		workspaces[i], accounts[i] = s.Workspace.UUID(), string(s.Account)
		requests[i], costs[i], byok[i] = s.Requests, int64(s.Cost), int64(s.BYOK)
	}
	return []any{workspaces, accounts, requests, costs, byok}
}

func date(t time.Time) string { return t.Format(time.DateOnly) }

func spendOf(requests, cost, byok int64) wire.Spend {
	return wire.Spend{Requests: requests, Cost: money.Nanos(cost), BYOK: money.Nanos(byok)}
}
