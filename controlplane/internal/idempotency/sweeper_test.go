package idempotency

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type sweeping struct {
	Store
	calls atomic.Int64
	left  atomic.Int64
	fail  atomic.Bool
}

func (s *sweeping) Sweep(_ context.Context, limit int) (int, error) {
	s.calls.Add(1)
	if s.fail.Load() {
		return 0, errors.New("away")
	}
	n := min(s.left.Load(), int64(limit))
	s.left.Add(-n)
	return int(n), nil
}

func TestTheSweeperWorksThroughBatchesAndSurvivesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sweeping{}
		s.left.Store(2*sweepBatch + 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			NewSweeper(s, slog.New(slog.DiscardHandler)).Run(ctx)
			close(ended)
		}()
		synctest.Wait()
		require.Zero(t, s.left.Load())
		require.Equal(t, int64(3), s.calls.Load())
		s.fail.Store(true)
		<-time.After(sweepEvery)
		synctest.Wait()
		s.fail.Store(false)
		s.left.Store(1)
		<-time.After(sweepEvery)
		synctest.Wait()
		require.Zero(t, s.left.Load())
		cancel()
		<-ended
	})
}

func TestClaimsTravelInTheContext(t *testing.T) {
	_, ok := ClaimOf(t.Context())
	require.False(t, ok)
	got, ok := ClaimOf(WithClaim(t.Context(), Claim{Request: Request{Key: "k"}}))
	require.True(t, ok)
	require.Equal(t, "k", got.Request.Key)
}
