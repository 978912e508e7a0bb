package postgres

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACommittedChangeWakesTheLeader(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	leads, woken, done := make(chan struct{}), make(chan struct{}, 1), make(chan error, 1)
	go func() {
		done <- NewElector(db, slog.New(slog.DiscardHandler)).Lead(ctx, func(ctx context.Context, wake <-chan struct{}) error {
			close(leads)
			for {
				select {
				case <-ctx.Done():
					return nil
				case <-wake:
					woken <- struct{}{}
				}
			}
		})
	}()
	<-leads
	_, err := newMutator(db).Mutate(t.Context(), w.ID, testChange(), func(context.Context, int64) error { return nil })
	require.NoError(t, err)
	select {
	case <-woken:
	case <-time.After(15 * time.Second):
		t.Fatal("no notification came")
	}
	cancel()
	require.NoError(t, <-done)
}

// The connection must outlive the pauses in which it proves itself.
func TestALeaderStaysOverQuietTimes(t *testing.T) {
	db := openTest(t)
	ctx, cancel := context.WithCancel(t.Context())
	var terms atomic.Int64
	done := make(chan error, 1)
	go func() {
		done <- NewElector(db, slog.New(slog.DiscardHandler)).Lead(ctx, func(ctx context.Context, _ <-chan struct{}) error {
			terms.Add(1)
			<-ctx.Done()
			return nil
		})
	}()
	require.Eventually(t, func() bool { return terms.Load() == 1 }, 15*time.Second, time.Millisecond)
	require.Never(t, func() bool { return terms.Load() > 1 }, proveEvery+time.Second, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.EqualValues(t, 1, terms.Load())
}
