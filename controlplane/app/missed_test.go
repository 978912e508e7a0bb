package app_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

// What one control plane stored, and died before it looked at the budgets of, the
// one that leads tells of when it begins to.
func TestAnAlertThatWasMissedIsTold(t *testing.T) {
	database := pgtest.New(t)
	conn, err := pgx.Connect(t.Context(), database.URL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), `
		INSERT INTO workspaces (id, name, slug, status, tags, version, created_at, updated_at)
			VALUES ('01890000-0000-7000-8000-000000000001', 'Acme', 'acme', 'active', '{}', 1, now(), now());
		INSERT INTO budgets (id, workspace_id, agent, "interval", limit_nanos, reserve, include_byok, version, created_at, updated_at)
			VALUES ('01890000-0000-7000-8000-000000000002', '01890000-0000-7000-8000-000000000001', '', 'daily', 10, false, false, 1, now(), now());
		INSERT INTO spend_days (workspace_id, account, day, requests, cost_nanos, byok_nanos)
			VALUES ('01890000-0000-7000-8000-000000000001', 'all', (now() AT TIME ZONE 'UTC')::date, 1, 9, 0);`)
	require.NoError(t, err)

	cfg := config(t, database.URL)
	cfg.NATS.URL = natstest.New(t).URL()
	a, err := app.New(t.Context(), cfg, deps())
	require.NoError(t, err)
	stop := run(t, a)
	require.Eventually(t, func() bool {
		var told int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM budget_alerts WHERE share = 80").Scan(&told)
		return err == nil && told == 1
	}, 20*time.Second, 20*time.Millisecond)
	require.NoError(t, stop())
}
