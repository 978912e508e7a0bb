package budgetalert

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// nobody spends anything.
type nobody struct {
	asked atomic.Int64
	fails atomic.Bool
}

func (n *nobody) Spenders(context.Context, time.Time, id.Workspace, int) ([]id.Workspace, error) {
	n.asked.Add(1)
	if n.fails.Load() {
		return nil, errors.New("away")
	}
	return nil, nil
}

func (*nobody) Sweep(context.Context, time.Time, int) (int, error) { return 0, nil }

type plain struct{}

func (plain) InTx(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }
func (plain) Read(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }

// Whoever is the one that sweeps does so at once and every now and then, sooner
// after a failure; a watcher that only looks does not.
func TestOneSweepsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		everybody := &nobody{}
		noon := time.Now().UTC().Truncate(24 * time.Hour).Add(12 * time.Hour)
		w := NewWatcher(WatcherDeps{System: plain{}, Spenders: everybody, Now: func() time.Time { return noon }, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- w.Run(ctx) }()
		<-time.After(time.Hour)
		require.Zero(t, everybody.asked.Load(), "only looks")

		go func() { ended <- w.RunSweeps(ctx) }()
		synctest.Wait()
		require.Equal(t, int64(1), everybody.asked.Load())
		everybody.fails.Store(true)
		<-time.After(sweepEvery)
		synctest.Wait()
		require.Equal(t, int64(2), everybody.asked.Load())
		everybody.fails.Store(false)
		<-time.After(sweepAgain)
		synctest.Wait()
		require.Equal(t, int64(3), everybody.asked.Load())
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	})
}
