package pgtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/pgcluster"
)

// Test binaries that share a running server share one template, made once,
// and remove what killed ones left behind.
func TestExternalServersAreShared(t *testing.T) {
	cluster, err := pgcluster.Start(t.Context(), pgcluster.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	admin := cluster.URL("postgres")
	old, young := fmt.Sprintf("sbtest_%x_old", time.Now().Add(-7*time.Hour).Unix()), "sbtest_"+random()
	plain := &server{admin: admin}
	for _, name := range []string{old, young} {
		require.NoError(t, plain.exec(t.Context(), "CREATE DATABASE "+name))
	}

	const n = 3
	type result struct {
		s   *server
		err error
	}
	results := make(chan result, n)
	for range n {
		go func() {
			s, err := external(context.WithoutCancel(t.Context()), admin)
			results <- result{s, err}
		}()
	}
	var s *server
	for range n {
		r := <-results
		require.NoError(t, r.err)
		s = r.s
	}
	require.NoError(t, s.exec(t.Context(), "CREATE DATABASE clone TEMPLATE "+s.template))

	conn, err := pgx.Connect(t.Context(), s.url("clone"))
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	var names []string
	rows, err := conn.Query(t.Context(), `SELECT datname FROM pg_database WHERE datname LIKE 'sb%' ORDER BY 1`)
	require.NoError(t, err)
	names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.ElementsMatch(t, []string{young, s.template}, names)
	var migrated bool
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT to_regclass('workspaces') IS NOT NULL").Scan(&migrated))
	require.True(t, migrated)
}

func TestURLForms(t *testing.T) {
	require.Equal(t, "postgres://u@h/x?host=%2Ftmp", (&server{admin: "postgres://u@h/postgres?host=%2Ftmp"}).url("x"))
	require.Equal(t, "host=h dbname=postgres dbname=x", (&server{admin: "host=h dbname=postgres"}).url("x"))
}
