package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
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

// spentSQL sums up the days of the windows of a day, and puts the total of all
// time beside them.
const spentSQL = `SELECT 0 AS window, account, sum(requests)::bigint, sum(cost_nanos)::bigint, sum(byok_nanos)::bigint
	  FROM spend_days WHERE workspace_id = @ws AND account IN @accounts AND day = @today GROUP BY account
	UNION ALL SELECT 1, account, sum(requests)::bigint, sum(cost_nanos)::bigint, sum(byok_nanos)::bigint
	  FROM spend_days WHERE workspace_id = @ws AND account IN @accounts AND day BETWEEN @monday AND @today GROUP BY account
	UNION ALL SELECT 2, account, sum(requests)::bigint, sum(cost_nanos)::bigint, sum(byok_nanos)::bigint
	  FROM spend_days WHERE workspace_id = @ws AND account IN @accounts AND day BETWEEN @first AND @today GROUP BY account
	UNION ALL SELECT 3, account, requests, cost_nanos, byok_nanos
	  FROM spend_totals WHERE workspace_id = @ws AND account IN @accounts`

// SpentBy returns what accounts have used in the windows of now, one for each
// account that used anything. It runs inside a transaction of the workspace.
func (s *UsageStore) SpentBy(ctx context.Context, ws id.Workspace, accounts []wire.Account, now time.Time) (map[wire.Account]usage.Spent, error) {
	spent := make(map[wire.Account]usage.Spent, len(accounts))
	if len(accounts) == 0 {
		return spent, nil
	}
	today := now.UTC().Truncate(day)
	rows, err := tenant(ctx, ws).Raw(spentSQL, map[string]any{
		"ws": ws.UUID(), "accounts": accounts, "today": date(today),
		"monday": date(today.AddDate(0, 0, -(int(today.Weekday())+6)%7)), "first": date(today.AddDate(0, 0, 1-today.Day())),
	}).Rows()
	if err != nil {
		return nil, translate(err, "read what accounts used")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var window int
		var account wire.Account
		var requests, cost, byok int64
		if err := rows.Scan(&window, &account, &requests, &cost, &byok); err != nil {
			return nil, translate(err, "read what accounts used")
		}
		u := spent[account]
		*[]*wire.Spend{&u.Daily, &u.Weekly, &u.Monthly, &u.Lifetime}[window] = spendOf(requests, cost, byok)
		spent[account] = u
	}
	return spent, translate(rows.Err(), "read what accounts used")
}

func date(t time.Time) string { return t.Format(time.DateOnly) }

func spendOf(requests, cost, byok int64) wire.Spend {
	return wire.Spend{Requests: requests, Cost: money.Nanos(cost), BYOK: money.Nanos(byok)}
}
