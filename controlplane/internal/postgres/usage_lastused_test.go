package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUsageNotesWhenKeysWereUsed(t *testing.T) {
	b := newUsageBench(t)
	w, owner := newWorkspace(t, b.db)
	other, _ := newWorkspace(t, b.db)
	key := filledKey(t, owner, 1)
	key.LastUsedAt = nil
	in(t, b.db, w.ID, func(ctx context.Context) error { return NewAPIKeyStore().Create(ctx, w.ID, key) })
	used := func() (at *time.Time) {
		in(t, b.db, w.ID, func(ctx context.Context) error {
			got, err := NewAPIKeyStore().Get(ctx, w.ID, key.ID)
			at = got.LastUsedAt
			require.Equal(t, key.Version, got.Version, "a use is no change")
			return err
		})
		return at
	}
	write := func(after time.Duration) time.Time {
		e := b.entry(b.now.Add(after))
		e.Workspace, e.Key = w.ID, key.ID
		b.write(e)
		return e.StartedAt
	}

	foreign := b.entry(b.now)
	foreign.Workspace, foreign.Key = other.ID, key.ID
	b.write(foreign)
	require.Nil(t, used(), "another workspace's record does not touch it")

	first := write(0)
	require.Equal(t, first, *used())
	write(30 * time.Second)
	require.Equal(t, first, *used(), "once a minute")
	later := write(2 * time.Minute)
	require.Equal(t, later, *used())
	write(-time.Hour)
	require.Equal(t, later, *used(), "it does not go back")
}
