package health_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
)

// ended is a call that ends now and began so long ago.
func (w *world) ended(v health.Verdict, ago time.Duration) {
	w.table.Observe(health.Observation{Endpoint: name, Began: w.now.Add(-ago), At: w.now, Verdict: v})
}

// An old stream that ends well says how the endpoint was before it failed.
func TestWhatBeganBeforeIsNoProbe(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.pass(30 * time.Second)
	for range 20 {
		w.ended(health.Succeeded, time.Millisecond)
		w.ended(health.Succeeded, time.Minute)
	}
	require.InDelta(t, 0.95, w.open(), 0.02, "none began while it was half open")
	for range 5 {
		w.ended(health.Succeeded, 0)
	}
	require.Zero(t, w.open())
	w.pass(2 * time.Second)
	require.Equal(t, int64(53), w.see().Calls, "uptime counts them all")
}

// Nor does an old call that times out take a half-open endpoint away again, or
// one that was closed since.
func TestAnOldTimeoutDoesNotOpenAgain(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.pass(31 * time.Second)
	w.ended(health.Failed, time.Minute)
	require.InDelta(t, 0.95, w.open(), 0.02)
	w.observe(health.Succeeded, 5)
	for range 20 {
		w.ended(health.Failed, 20*time.Second)
	}
	require.Zero(t, w.open(), "closed by calls that are newer")
	for range 20 {
		w.ended(health.Failed, 500*time.Millisecond)
	}
	require.InDelta(t, 1, w.open(), 0, "these began since")
}

// What a failed probe is judged by is when it began.
func TestAProbeThatFailsOpensAgain(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.pass(90 * time.Second)
	w.ended(health.Failed, time.Minute)
	require.InDelta(t, 1, w.open(), 0)
}

// A clock that jumps back must not make every call an old one.
func TestProbesAfterTheClockJumpedBack(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 8)
	w.pass(-time.Hour)
	w.observe(health.Succeeded, 5)
	require.Zero(t, w.open())
}

// The others see totals and no calls: what is no probe here is none there, and
// counts all the same.
func TestWhatBeganBeforeIsNoProbeElsewhere(t *testing.T) {
	for _, verdict := range []health.Verdict{health.Succeeded, health.Failed} {
		for _, after := range []time.Duration{0, 4 * time.Second, 9999 * time.Millisecond, time.Minute, 3 * time.Minute} {
			f := newFleet(2)
			a, b := f.gateways[0], f.gateways[1]
			a.observe(health.Failed, 8)
			f.exchange(t)
			require.InDelta(t, 1, b.open(), 0)
			f.pass(30*time.Second + after)
			for range 20 {
				a.ended(verdict, 31*time.Second+after)
			}
			f.exchange(t)
			require.InDelta(t, 0.95, a.open(), 0.02, after)
			require.InDelta(t, 0.95, b.open(), 0.02, after)
			f.pass(2 * time.Second)
			require.Equal(t, int64(28), a.see().Calls)
			require.Equal(t, int64(28), b.see().Calls, "uptime is the same everywhere")

			a.observe(health.Succeeded, 5)
			f.exchange(t)
			require.Zero(t, a.open())
			require.Zero(t, b.open())
		}
	}
}

// What ends after its bucket was closed is in the sum, as everything that old.
func TestAVeryOldCallIsInTheSumAlone(t *testing.T) {
	f := newFleet(1)
	a := f.gateways[0]
	a.observe(health.Failed, 8)
	f.pass(10 * time.Minute)
	for range 5 {
		a.ended(health.Succeeded, 10*time.Minute)
	}
	f.pass(2 * time.Second)
	require.Equal(t, int64(13), a.see().Calls)
	require.InDelta(t, 0.95, a.open(), 0.02)
	c := f.start()
	c.hear(t, a.answer()...)
	require.Equal(t, int64(13), c.see().Calls)
	require.InDelta(t, 0.95, c.open(), 0.02)
}

// Where the money is used up the endpoint cools, and it counts against uptime.
func TestUnpaidCoolsAndCounts(t *testing.T) {
	w := newWorld()
	w.observe(health.Unpaid, 1)
	require.True(t, w.see().Open)
	require.Equal(t, w.now.Add(10*time.Second), w.see().CoolingUntil)
	w.pass(10 * time.Second)
	require.False(t, w.see().Open, "it is asked again")
	require.Equal(t, int64(1), w.see().Calls)
	require.Zero(t, w.see().Success)
	w.table.Observe(health.Observation{Endpoint: name, At: w.now, Verdict: health.Unpaid, RetryAfter: time.Hour})
	require.Equal(t, w.now.Add(time.Hour), w.see().CoolingUntil, "as long as the provider says")
	w.observe(health.Unpaid, 6)
	w.pass(time.Hour)
	require.False(t, w.see().CoolingUntil.After(w.now))
}
