package health_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

const name = "north:acme/small"

// world is a table under a clock and a seed that the test moves.
type world struct {
	moving sync.Mutex // the table's Run looks at now too
	now    time.Time
	seed   uint64
	table  *health.Table
}

func newWorld() *world {
	w := &world{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.table = health.New(health.Options{Now: w.clock, Seed: func() uint64 { return w.seed }})
	return w
}

func (w *world) observe(v health.Verdict, n int) {
	for range n {
		w.table.Observe(health.Observation{Endpoint: name, At: w.now, Verdict: v})
	}
}

func (w *world) limited(after time.Duration) {
	w.table.Observe(health.Observation{Endpoint: name, At: w.now, Verdict: health.RateLimited, RetryAfter: after})
}

func (w *world) pass(d time.Duration) {
	w.moving.Lock()
	defer w.moving.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) clock() time.Time {
	w.moving.Lock()
	defer w.moving.Unlock()
	return w.now
}

func (w *world) see() decide.EndpointHealth { return w.table.View().Endpoint(name) }

// open is the share of requests that see the endpoint as open.
func (w *world) open() float64 {
	const draws = 2000
	open := 0
	for w.seed = range draws {
		if w.see().Open {
			open++
		}
	}
	return float64(open) / draws
}

// While Run runs no request works statistics out, and standings show at once all
// the same.
func TestRunSparesRequestsTheStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { w.table.Run(ctx); close(ended) }()
		synctest.Wait()
		w.observe(health.Succeeded, 10)
		w.pass(time.Minute)
		require.Zero(t, w.see().Calls, "a request does not")
		<-time.After(time.Second) // of the bubble
		synctest.Wait()
		require.EqualValues(t, 10, w.see().Calls)
		w.observe(health.Succeeded, 5)
		w.limited(time.Hour)
		require.True(t, w.see().Open)
		require.EqualValues(t, 10, w.see().Calls, "nor for a change of standing")
		end()
		<-ended
		require.EqualValues(t, 10, w.see().Calls, "old, by a clock that stands still")
		w.pass(time.Second)
		require.EqualValues(t, 15, w.see().Calls, "then requests do again")
	})
}

func TestNothingKnownIsNeutral(t *testing.T) {
	w := newWorld()
	require.Equal(t, decide.EndpointHealth{}, w.see())
	w.observe(health.Neutral, 100)
	w.pass(time.Second)
	require.Equal(t, decide.EndpointHealth{}, w.see())
}

func TestBreakerOpens(t *testing.T) {
	for name, c := range map[string]struct {
		succeeded, failed int
		open              bool
	}{
		"too few calls":      {0, 7, false},
		"eight failures":     {0, 8, true},
		"exactly half":       {4, 4, true},
		"less than half":     {5, 4, false},
		"many, nearly half":  {101, 100, false},
		"many, just as many": {100, 100, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.observe(health.Succeeded, c.succeeded)
			w.observe(health.Failed, c.failed)
			require.Equal(t, c.open, w.see().Open)
		})
	}
}

func TestBreakerCountsOneMinute(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 7)
	w.pass(59 * time.Second)
	w.observe(health.Failed, 1)
	require.True(t, w.see().Open, "the first failures are 59 s old")

	w = newWorld()
	w.observe(health.Failed, 7)
	w.pass(60 * time.Second)
	w.observe(health.Failed, 1)
	require.False(t, w.see().Open, "the first failures are 60 s old")
}

func TestRateLimitsAndGeographyDoNotOpen(t *testing.T) {
	w := newWorld()
	w.observe(health.GeoBlocked, 20)
	w.observe(health.Neutral, 20)
	require.False(t, w.see().Open)
	require.Zero(t, w.see().Calls)
}

func TestBreakerDoublesAndProbes(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	for _, open := range []time.Duration{30, 60, 120, 240, 480, 900, 900} {
		open *= time.Second
		w.pass(open - time.Millisecond)
		require.InDelta(t, 1, w.open(), 0, "open for all of %s", open)
		w.pass(time.Millisecond)
		require.InDelta(t, 0.95, w.open(), 0.02, "half open lets 5 %% through")
		w.observe(health.Failed, 1)
		require.InDelta(t, 1, w.open(), 0, "a failed probe opens it again")
	}
}

func TestFiveSuccessesClose(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.observe(health.Succeeded, 20)
	require.InDelta(t, 1, w.open(), 0, "while open, nothing closes it")
	w.pass(30 * time.Second)
	w.observe(health.Succeeded, 4)
	require.InDelta(t, 0.95, w.open(), 0.02)
	w.observe(health.Succeeded, 1)
	require.Zero(t, w.open())
	w.observe(health.Failed, 4)
	require.Zero(t, w.open(), "failures from before are forgotten")
	w.observe(health.Failed, 8)
	w.pass(30 * time.Second)
	require.InDelta(t, 0.95, w.open(), 0.02, "after closing it opens for 30 s again")
}

func TestCoolDown(t *testing.T) {
	w := newWorld()
	w.limited(7 * time.Second)
	require.True(t, w.see().Open)
	require.Equal(t, w.now.Add(7*time.Second), w.see().CoolingUntil)
	w.pass(7 * time.Second)
	require.False(t, w.see().Open, "it returns by itself")
}

func TestCoolDownKeepsTheLaterDeadline(t *testing.T) {
	w := newWorld()
	w.limited(100 * time.Second)
	until := w.see().CoolingUntil
	w.limited(time.Second)
	w.limited(0)
	require.Equal(t, until, w.see().CoolingUntil)
	w.limited(200 * time.Second)
	require.Equal(t, w.now.Add(200*time.Second), w.see().CoolingUntil)
}

func TestCoolDownDoubles(t *testing.T) {
	w := newWorld()
	for _, want := range []time.Duration{10, 20, 40, 80, 160, 300, 300} {
		for range 5 { // a burst counts once
			w.limited(0)
		}
		require.Equal(t, w.now.Add(want*time.Second), w.see().CoolingUntil)
		w.pass(want * time.Second)
	}
	w.observe(health.Succeeded, 1)
	w.limited(0)
	require.Equal(t, w.now.Add(10*time.Second), w.see().CoolingUntil, "a success starts over")
	w.pass(time.Hour)
	w.limited(0)
	require.Equal(t, w.now.Add(10*time.Second), w.see().CoolingUntil, "so does time")
}

func TestStandingShowsAtOnceAndViewsAreFrozen(t *testing.T) {
	w := newWorld()
	before := w.table.View()
	w.limited(time.Minute)
	require.False(t, before.Endpoint(name).Open)
	require.True(t, w.see().Open)
	frozen := w.table.View()
	first := frozen.Endpoint(name)
	w.observe(health.Failed, 20)
	w.pass(time.Hour)
	require.Equal(t, first, frozen.Endpoint(name))
}

func TestStatistics(t *testing.T) {
	w := newWorld()
	for i := range 100 {
		w.table.Observe(health.Observation{
			Endpoint: name, At: w.now, Verdict: health.Succeeded,
			FirstByte: time.Duration(i+1) * 10 * time.Millisecond, Generation: 2 * time.Second, OutputTokens: 100,
		})
	}
	w.observe(health.Failed, 25)
	w.pass(time.Second)
	h := w.see()
	require.EqualValues(t, 125, h.Calls)
	require.InDelta(t, 0.8, h.Success, 1e-9)
	require.InEpsilon(t, 0.5, h.FirstByte.Seconds(), 0.07)
	require.InEpsilon(t, 50, h.Throughput, 0.07)

	w.pass(31 * time.Minute)
	require.Zero(t, w.see().Calls, "thirty minutes are remembered")
	w.pass(time.Hour)
	require.Equal(t, decide.EndpointHealth{}, w.see(), "and then the endpoint is forgotten")
}

func TestWindowRolls(t *testing.T) {
	w := newWorld()
	for range 180 {
		w.observe(health.Succeeded, 1)
		w.pass(10 * time.Second)
	}
	require.InDelta(t, 179, w.see().Calls, 1)
	w.pass(15 * time.Minute)
	require.InDelta(t, 90, w.see().Calls, 1)
}

func TestClockJumps(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.pass(-24 * time.Hour)
	w.observe(health.Failed, 8)
	require.True(t, w.see().Open)
	w.pass(10 * 365 * 24 * time.Hour)
	w.observe(health.Succeeded, 5)
	require.False(t, w.see().Open)
}

func TestObserveDoesNotAllocate(t *testing.T) {
	w := newWorld()
	w.observe(health.Succeeded, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() { w.observe(health.Failed, 1) }))
}

func BenchmarkObserve(b *testing.B) {
	w := newWorld()
	b.ReportAllocs()
	for b.Loop() {
		w.now = w.now.Add(time.Millisecond)
		w.table.Observe(health.Observation{
			Endpoint: name, At: w.now, Verdict: health.Succeeded,
			FirstByte: time.Second, Generation: time.Second, OutputTokens: 100,
		})
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			for i := range n {
				w.table.Observe(health.Observation{Endpoint: fmt.Sprint(i), At: w.now, Verdict: health.Succeeded})
			}
			b.ReportAllocs()
			for b.Loop() {
				_ = w.table.View().Endpoint("7")
			}
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	w := newWorld()
	done := make(chan struct{})
	for g := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 200 {
				w.table.Observe(health.Observation{Endpoint: fmt.Sprint(i % 7), At: w.now.Add(time.Duration(i) * time.Second), Verdict: health.Verdict(g + 1)})
				_ = w.table.View().Endpoint("3")
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.NotZero(t, w.table.View().Endpoint("3").CoolingUntil)
}
