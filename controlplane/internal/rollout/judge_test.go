package rollout

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lone is an elector of the only process that there is.
type lone struct{ wake chan struct{} }

func (l lone) Lead(ctx context.Context, work func(context.Context, <-chan struct{}) error) error {
	return work(ctx, l.wake)
}

// looked is a docket that counts how often it is looked at.
type looked struct {
	times atomic.Int64
	open  atomic.Bool // a rollout is, which waits for requests
}

func (l *looked) Open(context.Context) ([]Case, error) {
	l.times.Add(1)
	if !l.open.Load() {
		return nil, nil
	}
	return []Case{{Rollout: Rollout{State: Paused, Steps: []Step{{Percent: 100}}, Guard: Guard{MinRequests: 1}}}}, nil
}

// While no rollout is open a judge waits for a change, and looks now and then by
// itself; while one is open it looks four times a second.
func TestAJudgeWithNothingToDoWaitsForAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docket, elector := &looked{}, lone{wake: make(chan struct{}, 1)}
		judge := NewJudge(elector, docket, nil, time.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- judge.Run(ctx) }()
		in := func(d time.Duration) int64 { // times since it was asked last
			<-time.After(d)
			synctest.Wait()
			return docket.times.Swap(0)
		}
		require.EqualValues(t, 1, in(idleFor-time.Millisecond), "at the begin of the term")
		require.EqualValues(t, 1, in(time.Millisecond))

		docket.open.Store(true)
		elector.wake <- struct{}{}
		require.EqualValues(t, 1, in(0), "a rollout may have begun")
		elector.wake <- struct{}{}
		require.EqualValues(t, 4, in(4*judgeEvery), "however much changes")

		docket.open.Store(false)
		require.EqualValues(t, 2, in(judgeEvery), "the change of before is looked at")
		require.EqualValues(t, 1, in(idleFor))
		cancel()
		require.NoError(t, <-ended)
	})
}
