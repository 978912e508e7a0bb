package postgres

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
)

// lead runs an elector of db until the test ends and counts its terms.
func lead(t *testing.T, e *Elector) *atomic.Int64 {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var terms atomic.Int64
	done := make(chan error, 1)
	go func() {
		done <- e.Lead(ctx, func(ctx context.Context, _ <-chan struct{}) error {
			terms.Add(1)
			<-ctx.Done()
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	return &terms
}

// TestAFrozenLeaderIsReplaced holds the leader's lock on a connection that says
// nothing more, as that of a process does that is frozen or cut off.
func TestAFrozenLeaderIsReplaced(t *testing.T) {
	db := openTest(t)
	frozen := NewElector(db, slog.New(slog.DiscardHandler))
	frozen.silence = 300 * time.Millisecond
	conn, err := frozen.stand(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	elected, err := frozen.try(t.Context(), conn)
	require.NoError(t, err)
	require.True(t, elected)

	terms := lead(t, NewElector(db, slog.New(slog.DiscardHandler)))
	require.Eventually(t, func() bool { return terms.Load() == 1 }, 15*time.Second, 5*time.Millisecond)
	require.Error(t, prove(t.Context(), conn), "who thaws must find out")
}

// TestABusyLeaderProvesItself keeps the leader's connection from being quiet:
// notifications do not count as a sign of life.
func TestABusyLeaderProvesItself(t *testing.T) {
	db := openTest(t)
	e := NewElector(db, slog.New(slog.DiscardHandler))
	e.silence = proveEvery + time.Second
	terms := lead(t, e)
	require.Eventually(t, func() bool { return terms.Load() == 1 }, 15*time.Second, time.Millisecond)
	conn, err := db.Direct(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.Never(t, func() bool {
		_, err := conn.Exec(t.Context(), "NOTIFY "+outbox.Channel)
		return err != nil || terms.Load() != 1
	}, e.silence+2*time.Second, 50*time.Millisecond)
}

func TestAStalledTransactionEnds(t *testing.T) {
	db := openTest(t)
	for name, p := range map[string]*pool{"app": db.app, "system": db.system} {
		var limit string
		require.NoError(t, p.sql.QueryRowContext(t.Context(), "SHOW idle_in_transaction_session_timeout").Scan(&limit))
		require.Equal(t, "10s", limit, name)
	}
}
