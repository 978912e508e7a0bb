package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

func TestRolloutRoundTrip(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewRouteVersionStore().Add(ctx, w.ID, versionOf(w.ID)))
		storeRollout(ctx, t, owner)
		store := NewRolloutStore()
		want := rolloutOf(owner)
		want.Version = 2
		require.Empty(t, fill.Zero(want))
		require.NoError(t, store.Update(ctx, w.ID, want))
		got, err := store.Latest(ctx, w.ID, want.Route)
		require.NoError(t, err)
		require.Equal(t, want, got)
		return nil
	})
}

// A role that makes changes cannot change what a rollout was begun with.
func TestWhatARolloutIsStays(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	in(t, db, w.ID, func(ctx context.Context) error {
		require.NoError(t, NewRouteVersionStore().Add(ctx, w.ID, versionOf(w.ID)))
		storeRollout(ctx, t, owner)
		return nil
	})
	for _, text := range []string{
		"UPDATE dynamic_route_rollouts SET guard = '{}'", "UPDATE dynamic_route_rollouts SET steps = '[]'", "DELETE FROM dynamic_route_rollouts",
		"UPDATE dynamic_route_rollout_counts SET requests = 0", "UPDATE dynamic_route_rollouts SET candidate = 2",
	} {
		err := db.Runner().InTx(t.Context(), w.ID, func(ctx context.Context) error { return tenant(ctx, w.ID).Exec(text).Error })
		require.ErrorContains(t, err, "permission denied", text)
	}
	err := db.System().InTx(t.Context(), func(ctx context.Context) error {
		return system(ctx).Exec("UPDATE dynamic_route_rollouts SET state = 'paused'").Error
	})
	require.ErrorContains(t, err, "permission denied")
}

// explained is the text of a query.
func explained(q *gorm.DB) string {
	dry := q.Session(&gorm.Session{DryRun: true}).Find(&[]map[string]any{})
	return dry.Explain(dry.Statement.SQL.String(), dry.Statement.Vars...)
}
