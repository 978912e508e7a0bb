package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
)

func TestInTxCommitsOrLeavesNothing(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	store := NewWorkspaceStore()
	renamed := w
	renamed.Name, renamed.Version = "Renamed", 2

	boom := errors.New("boom")
	err := db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error {
		require.NoError(t, store.Update(ctx, renamed))
		return boom
	})
	require.ErrorIs(t, err, boom)
	require.PanicsWithValue(t, "boom", func() {
		_ = db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error {
			require.NoError(t, store.Update(ctx, renamed))
			panic("boom")
		})
	})
	in(t, db, w.ID, func(ctx context.Context) error {
		got, err := store.Get(ctx, w.ID)
		require.Equal(t, w, got)
		return err
	})
}

func TestJoiningAndRefusingTransactions(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	other := id.New[id.WorkspaceKind](testIDs)
	nothing := func(context.Context) error { return nil }

	in(t, db, w.ID, func(ctx context.Context) error {
		outer, _ := txOf(ctx)
		require.NoError(t, db.Runner().InTx(ctx, w.ID, func(ctx context.Context) error {
			inner, _ := txOf(ctx)
			require.Same(t, outer.db, inner.db, "the same workspace joins")
			return nil
		}))
		require.NoError(t, db.Runner().Read(ctx, w.ID, nothing))
		require.ErrorIs(t, db.Runner().InTx(ctx, other, nothing), errScope)
		require.ErrorIs(t, db.System().InTx(ctx, nothing), errScope)
		return nil
	})
	require.NoError(t, db.Runner().Read(t.Context(), w.ID, func(ctx context.Context) error {
		require.ErrorIs(t, db.Runner().InTx(ctx, w.ID, nothing), errScope, "a read cannot become a write")
		return nil
	}))
	require.ErrorIs(t, db.Runner().InTx(t.Context(), id.Workspace{}, nothing), errScope)
}

func TestReadSeesOneSnapshotAndWritesNothing(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	store := NewWorkspaceStore()
	renamed := w
	renamed.Name, renamed.Version = "Renamed", 2

	require.NoError(t, db.Runner().Read(t.Context(), w.ID, func(ctx context.Context) error {
		before, err := store.Get(ctx, w.ID)
		require.NoError(t, err)
		require.NoError(t, db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error { return store.Update(ctx, renamed) }))
		after, err := store.Get(ctx, w.ID)
		require.NoError(t, err)
		require.Equal(t, before, after)
		return nil
	}))
	err := db.Runner().Read(t.Context(), w.ID, func(ctx context.Context) error {
		renamed.Version = 3
		return store.Update(ctx, renamed)
	})
	require.ErrorContains(t, err, "read-only")
}

// Two transactions that lock two rows in opposite order: Postgres ends one,
// which runs again and succeeds.
func TestDeadlocksAreRetried(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	a, b := filledKey(t, owner, 1), filledKey(t, owner, 2)
	in(t, db, w.ID, func(ctx context.Context) error {
		return errors.Join(NewAPIKeyStore().Create(ctx, w.ID, a), NewAPIKeyStore().Create(ctx, w.ID, b))
	})
	lock := func(ctx context.Context, key id.Key) error {
		done := scoped(ctx, w.ID).Model(&apiKeyRow{}).Where("id = ?", key.UUID()).Update("name", "locked")
		return changed(done, "lock")
	}
	var barrier sync.WaitGroup
	barrier.Add(2)
	var runs [2]int
	work := func(n int, first, second id.Key) error {
		return db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error {
			runs[n]++
			if err := lock(ctx, first); err != nil {
				return err
			}
			if runs[n] == 1 {
				barrier.Done()
				barrier.Wait()
			}
			return lock(ctx, second)
		})
	}
	results := make(chan error, 2)
	go func() { results <- work(0, a.ID, b.ID) }()
	go func() { results <- work(1, b.ID, a.ID) }()
	require.NoError(t, <-results)
	require.NoError(t, <-results)
	require.Greater(t, runs[0]+runs[1], 2, "one of them ran again; Postgres may end both")
}

func TestRetriesEnd(t *testing.T) {
	n := 0
	err := retried(t.Context(), func() error {
		n++
		return translate(&pgconn.PgError{Code: serializationFailure}, "work")
	})
	require.True(t, fault.Is(err, fault.Unavailable))
	require.Equal(t, attempts, n)
}

func TestOpenTellsRefusedFromAway(t *testing.T) {
	_, err := Open(t.Context(), Config{URL: secret.NewString("postgres://u:hunter2@[bad")})
	require.ErrorContains(t, err, "want postgres://")
	require.NotContains(t, err.Error(), "hunter2")

	empty := pgtest.Empty(t).URL
	_, err = Open(t.Context(), Config{URL: secret.NewString(empty[:] + "&dbname=no_such_database")})
	require.ErrorContains(t, err, "does not exist")

	db, err := Open(t.Context(), Config{URL: secret.NewString("postgres://u:hunter2@127.0.0.1:1/x?sslmode=disable")})
	require.NoError(t, err, "a server that is away may come back")
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	err = db.Runner().Read(t.Context(), id.New[id.WorkspaceKind](testIDs), func(context.Context) error { return nil })
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.NotContains(t, err.Error(), "hunter2")
	require.True(t, fault.Of(err).Retryable)
}

func TestPoolsWorkAsTheirRoles(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	var role string
	in(t, db, w.ID, func(ctx context.Context) error {
		return tenant(ctx, w.ID).Raw("SELECT current_user").Scan(&role).Error
	})
	require.Equal(t, appRole, role)
	require.NoError(t, db.System().Read(t.Context(), func(ctx context.Context) error {
		return system(ctx).Raw("SELECT current_user").Scan(&role).Error
	}))
	require.Equal(t, systemRole, role)

	conn, err := db.Direct(t.Context())
	require.NoError(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "LISTEN something")
	require.NoError(t, err)
}
