package migrations_test

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/migrations"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

// cluster is private to this binary; it ends with the process.
var cluster = sync.OnceValues(func() (*pgcluster.Cluster, error) {
	return pgcluster.Start(context.Background(), pgcluster.Options{})
})

// empty is a database without a schema.
func empty(t *testing.T, name string) *sql.DB {
	t.Helper()
	c, err := cluster()
	require.NoError(t, err)
	admin := open(t, c.URL("postgres"))
	_, err = admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0")
	require.NoError(t, err)
	return open(t, c.URL(name))
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	conf, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	db := stdlib.OpenDB(*conf)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Up, down to nothing, and up again give the same schema.
func TestUpDownUp(t *testing.T) {
	db := empty(t, "up_down_up")
	require.NoError(t, migrations.Up(t.Context(), db))
	first := schema(t, db)
	latest, err := migrations.Latest()
	require.NoError(t, err)
	version, err := migrations.Version(t.Context(), db)
	require.NoError(t, err)
	require.Equal(t, latest, version)

	require.NoError(t, migrations.Down(t.Context(), db, 0))
	for _, line := range schema(t, db) {
		require.Contains(t, line, "goose_db_version", "down leaves nothing")
	}
	require.NoError(t, migrations.Up(t.Context(), db))
	require.Equal(t, first, schema(t, db))
	require.NoError(t, migrations.Up(t.Context(), db), "nothing to do is no error")

	status, err := migrations.Status(t.Context(), db)
	require.NoError(t, err)
	for _, m := range status {
		require.True(t, m.Applied, m.Name)
		require.False(t, m.AppliedAt.IsZero(), m.Name)
	}
}

// Every step down undoes exactly its step up.
func TestEveryStepIsReversible(t *testing.T) {
	db := empty(t, "steps")
	require.NoError(t, migrations.Up(t.Context(), db))
	status, err := migrations.Status(t.Context(), db)
	require.NoError(t, err)
	for i := len(status) - 1; i >= 1; i-- {
		before := schema(t, db)
		require.NoError(t, migrations.Down(t.Context(), db, status[i-1].Version), status[i].Name)
		require.NotEqual(t, before, schema(t, db), status[i].Name)
		require.NoError(t, migrations.Up(t.Context(), db), status[i].Name)
		require.NoError(t, migrations.Down(t.Context(), db, status[i-1].Version), status[i].Name)
	}
}

// Several processes start at once, on one database and on several of the same
// server: the roles belong to the server.
func TestConcurrentUp(t *testing.T) {
	dbs := []*sql.DB{empty(t, "race_a"), empty(t, "race_b"), empty(t, "race_c")}
	dbs = append(dbs, dbs[0], dbs[1])
	errs := make(chan error, len(dbs))
	for _, db := range dbs {
		go func() { errs <- migrations.Up(t.Context(), db) }()
	}
	for range dbs {
		require.NoError(t, <-errs)
	}
}

// Every table of tenants' rows has row-level security, forced, and a policy
// for the application role that compares with the chosen workspace.
func TestTenantTablesAreForced(t *testing.T) {
	db := empty(t, "forced")
	require.NoError(t, migrations.Up(t.Context(), db))
	rows, err := db.QueryContext(t.Context(), `
		SELECT c.relname, c.relispartition, c.relrowsecurity, c.relforcerowsecurity,
			coalesce((SELECT string_agg(pg_get_expr(p.polqual, p.polrelid), ' | ') FROM pg_policy p
				WHERE p.polrelid = c.oid AND p.polroles @> ARRAY(SELECT oid FROM pg_roles WHERE rolname = 'signalbox_app')), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
		WHERE c.relkind IN ('r', 'p')
			AND (c.relname IN ('workspaces', 'users') OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'workspace_id'))
		ORDER BY 1`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	seen := map[string]bool{}
	for rows.Next() {
		var table, policy string
		var partition, enabled, forced, granted bool
		require.NoError(t, rows.Scan(&table, &partition, &enabled, &forced, &policy))
		require.True(t, enabled, "%s: row-level security is off", table)
		if partition {
			// Nobody but the owner reaches a partition except through its parent,
			// and the owner moves rows between partitions of all workspaces.
			for _, role := range []string{"signalbox_app", "signalbox_system"} {
				require.NoError(t, db.QueryRowContext(t.Context(), `SELECT has_table_privilege($2, $1, 'SELECT, INSERT, UPDATE, DELETE')
					OR has_any_column_privilege($2, $1, 'SELECT, INSERT, UPDATE')`, table, role).Scan(&granted))
				require.False(t, granted, "%s may use the partition %s", role, table)
			}
			continue
		}
		require.True(t, forced, "%s: row-level security is not forced on the owner", table)
		seen[table] = true
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT has_table_privilege('signalbox_app', $1, 'SELECT')
			OR has_any_column_privilege('signalbox_app', $1, 'SELECT')`, table).Scan(&granted))
		if granted && table != "users" {
			require.Contains(t, policy, "app.workspace", "%s: the application role reads it without a tenant policy", table)
			require.Contains(t, policy, "NULLIF", "%s: the setting is '' after a transaction", table)
		}
	}
	require.NoError(t, rows.Err())
	for _, table := range []string{"workspaces", "users", "members", "workspace_revisions", "api_keys", "management_keys", "settings", "auto_routing", "audit_events", "idempotency_keys"} {
		require.True(t, seen[table], table)
	}
}

// The roles cannot log in, bypass row-level security, or own anything.
func TestRolesAreConfined(t *testing.T) {
	db := empty(t, "roles")
	require.NoError(t, migrations.Up(t.Context(), db))
	var n int
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_roles WHERE rolname IN ('signalbox_app', 'signalbox_system')
		AND NOT (rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb)`).Scan(&n))
	require.Equal(t, 2, n)
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_class WHERE relowner IN
		(SELECT oid FROM pg_roles WHERE rolname IN ('signalbox_app', 'signalbox_system'))`).Scan(&n))
	require.Zero(t, n)
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM information_schema.role_table_grants
		WHERE table_schema = 'public' AND grantee = 'PUBLIC'`).Scan(&n))
	require.Zero(t, n)
}

// A migrating role need not be a superuser, whether it makes the roles itself
// or finds them made by another, who lets it grant them.
func TestUpAsAnOrdinaryOwner(t *testing.T) {
	own, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	admin := open(t, own.URL("postgres"))
	exec := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			_, err := admin.ExecContext(t.Context(), s)
			require.NoError(t, err, s)
		}
	}
	for _, owner := range []string{"first", "second"} {
		exec("CREATE ROLE "+owner+" LOGIN CREATEROLE", "CREATE DATABASE of_"+owner+" OWNER "+owner+" TEMPLATE template0")
		if owner == "second" {
			exec("GRANT signalbox_app, signalbox_system TO second WITH ADMIN OPTION")
		}
		db := open(t, strings.Replace(own.URL("of_"+owner), "signalbox@", owner+"@", 1))
		require.NoError(t, migrations.Up(t.Context(), db))
		for _, role := range []string{"signalbox_app", "signalbox_system"} {
			_, err = db.ExecContext(t.Context(), "SET ROLE "+role)
			require.NoError(t, err, owner)
			_, err = db.ExecContext(t.Context(), "RESET ROLE")
			require.NoError(t, err)
		}
		takesEarlierKeys(t, db)
	}
}

// takesEarlierKeys: versions of the operator's catalog from before 38 keep only
// that there was a key, but for the present one.
func takesEarlierKeys(t *testing.T, db *sql.DB) {
	t.Helper()
	require.NoError(t, migrations.Down(t.Context(), db, 36))
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, statement := range []string{
		"SET ROLE signalbox_system",
		`INSERT INTO platform_catalogs (version, document, keys, actor_kind, actor_name, created_at) VALUES
			(1, '{}', '{"north": "c2VhbGVk", "south": "c2VhbGVk"}', 'operator', 'operator', now()),
			(2, '{}', '{}', 'operator', 'operator', now()),
			(3, '{}', '{"north": "c2VhbGVk"}', 'operator', 'operator', now())`,
	} {
		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	require.NoError(t, migrations.Up(t.Context(), db))
	var all string
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT jsonb_agg(keys ORDER BY version) FROM platform_catalogs").Scan(&all))
	_, err = conn.ExecContext(t.Context(), "RESET ROLE")
	require.NoError(t, err)
	require.JSONEq(t, `[{"north": null, "south": null}, {}, {"north": "c2VhbGVk"}]`, all)
}

// What was used before there were accounts is on those of the keys and workspaces.
func TestUsageFromBeforeAccounts(t *testing.T) {
	db := empty(t, "accounts")
	require.NoError(t, migrations.Up(t.Context(), db))
	require.NoError(t, migrations.Down(t.Context(), db, 54))
	key := id.New[id.KeyKind](id.SystemSource())
	_, err := db.ExecContext(t.Context(), strings.ReplaceAll(`INSERT INTO usage_hourly
		SELECT '01900000-0000-7000-8000-000000000001', at, model, '', key::uuid, outcome, requests, 1,0,0,0,0,0,0,0,0,0,0,0,0,0,0, cost FROM (VALUES
			(timestamptz '2026-01-02 23:00Z', 'a', '{key}', 'success', 2, 50),
			(timestamptz '2026-01-02 22:00Z', 'b', '{key}', 'error', 1, 5),
			(timestamptz '2026-01-03 00:00Z', 'a', '{key}', 'success', 4, 500),
			(timestamptz '2026-01-03 00:00Z', 'a', '{key}', 'refused', 8, 0),
			(timestamptz '2026-01-03 01:00Z', 'a', '00000000-0000-0000-0000-000000000000', 'success', 16, 5000)
		) AS v (at, model, key, outcome, requests, cost)`, "{key}", key.UUID().String()))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE usage_hourly SET hour = hour + ((now() AT TIME ZONE 'UTC')::date - date '2026-01-04') * interval '24 hours'")
	require.NoError(t, err)
	require.NoError(t, migrations.Up(t.Context(), db))
	var days, totals string
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT string_agg(account || ' ' || (now() AT TIME ZONE 'UTC')::date - day || ' ' || requests || ' ' || cost_nanos || ' ' || byok_nanos, ', '
		ORDER BY account, day) FROM spend_days`).Scan(&days))
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT string_agg(account || ' ' || requests || ' ' || cost_nanos || ' ' || byok_nanos, ', ') FROM spend_totals").Scan(&totals))
	require.Equal(t, "all 2 3 55 0, all 1 20 5500 0, "+key.String()+" 2 3 55 0, "+key.String()+" 1 4 500 0", days)
	require.Equal(t, "all 23 5555 0", totals)
}

// The numbers of the files rise and none is used twice.
func TestFilesAreNumbered(t *testing.T) {
	entries, err := os.ReadDir("sql")
	require.NoError(t, err)
	var last string
	for _, e := range entries {
		number, _, ok := strings.Cut(e.Name(), "_")
		require.True(t, ok && len(number) == 5, e.Name())
		require.Greater(t, number, last, e.Name())
		last = number
	}
}

// schema lists tables, columns, constraints, indexes, policies, triggers,
// functions and grants, so that two schemas can be compared.
func schema(t *testing.T, db *sql.DB) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `
		SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable FROM information_schema.columns WHERE table_schema = 'public'
		UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
		UNION ALL SELECT 'index ' || indexname || ' ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || ' ' || cmd || ' ' || coalesce(qual, '') || ' ' || coalesce(with_check, '') FROM pg_policies WHERE schemaname = 'public'
		UNION ALL SELECT 'trigger ' || tgrelid::regclass || ' ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT 'grant ' || grantee || ' ' || privilege_type || ' ' || table_name FROM information_schema.role_table_grants
			WHERE table_schema = 'public' AND grantee LIKE 'signalbox\_%'
		ORDER BY 1`)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	var lines []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	require.NoError(t, rows.Err())
	return lines
}
