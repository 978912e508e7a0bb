package postgres

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/migrations"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/pgcluster"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// While Postgres is away calls fail with unavailable, nothing is half-done,
// and the pools recover by themselves.
func TestAnOutageIsUnavailableAndPasses(t *testing.T) {
	parent, err := os.MkdirTemp("/tmp", "sbpg-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(parent, 0o755))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	startCluster := func() *pgcluster.Cluster {
		c, err := pgcluster.Start(t.Context(), pgcluster.Options{DataDir: filepath.Join(parent, "pg")})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Stop() })
		return c
	}
	cluster := startCluster()
	owned, err := sql.Open("pgx", cluster.URL("postgres"))
	require.NoError(t, err)
	require.NoError(t, migrations.Up(t.Context(), owned))
	require.NoError(t, owned.Close())
	db, err := Open(t.Context(), Config{URL: secret.NewString(cluster.URL("postgres"))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	w, _ := newWorkspace(t, db)
	store := NewWorkspaceStore()
	renamed := w
	renamed.Name, renamed.Version = "Renamed", 2

	err = db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error {
		require.NoError(t, store.Update(ctx, renamed))
		require.NoError(t, cluster.Stop())
		return nil
	})
	require.True(t, fault.Is(err, fault.Unavailable), "a commit into the void: %v", err)
	err = db.Runner().Read(t.Context(), w.ID, func(ctx context.Context) error { return nil })
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	err = db.System().Read(t.Context(), func(ctx context.Context) error { return nil })
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	require.True(t, fault.Is(db.Ping(t.Context()), fault.Unavailable))

	startCluster()
	var got workspace.Workspace
	require.Eventually(t, func() bool {
		return db.Runner().Read(t.Context(), w.ID, func(ctx context.Context) (err error) {
			got, err = store.Get(ctx, w.ID)
			return err
		}) == nil
	}, 30*time.Second, 20*time.Millisecond)
	require.Equal(t, w, got, "nothing half-done")
}
