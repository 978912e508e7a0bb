package health_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var stranger = uuid.UUID{0: 9, 15: 9}

// says has the table hear a stranger's message about the test's endpoint.
func (w *world) says(change func(*wire.Health, *wire.EndpointHealth)) {
	h := wire.Health{Instance: stranger, Sequence: 1, SentAt: w.now}
	e := wire.EndpointHealth{ID: name}
	change(&h, &e)
	h.Endpoints = append(h.Endpoints, e)
	w.table.Apply(own1, &h)
	w.pass(time.Second)
}

var own1 = uuid.UUID{0: 1}

func (w *world) slot() int64 { return w.now.Unix() / 10 }

func failures(slot, n int64) []wire.HealthCell {
	return []wire.HealthCell{{Slot: slot, HealthCounts: wire.HealthCounts{Failed: n}}}
}

func TestAbsurdMessagesChangeNothing(t *testing.T) {
	for what, c := range map[string]struct {
		say     func(w *world) func(*wire.Health, *wire.EndpointHealth)
		trouble health.Trouble
	}{
		"sent long ago": {func(w *world) func(*wire.Health, *wire.EndpointHealth) {
			return func(h *wire.Health, e *wire.EndpointHealth) {
				h.SentAt, e.Cells = w.now.Add(-2*time.Minute), failures(w.slot(), 100)
			}
		}, health.TroubleClock},
		"sent in the future": {func(w *world) func(*wire.Health, *wire.EndpointHealth) {
			return func(h *wire.Health, e *wire.EndpointHealth) {
				h.SentAt, e.Cells = w.now.Add(2*time.Minute), failures(w.slot(), 100)
			}
		}, health.TroubleClock},
		"counted in the future": {func(w *world) func(*wire.Health, *wire.EndpointHealth) {
			return func(_ *wire.Health, e *wire.EndpointHealth) { e.Cells = failures(w.slot()+7, 100) }
		}, health.TroubleClock},
		"counted too long ago": {func(w *world) func(*wire.Health, *wire.EndpointHealth) {
			return func(_ *wire.Health, e *wire.EndpointHealth) { e.Cells = failures(w.slot()-30, 100) }
		}, health.TroubleLate},
		"more calls than anybody makes": {func(w *world) func(*wire.Health, *wire.EndpointHealth) {
			return func(_ *wire.Health, e *wire.EndpointHealth) { e.Cells = failures(w.slot(), 1<<24) }
		}, health.TroubleCounts},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld()
			w.says(c.say(w))
			require.Equal(t, decide.EndpointHealth{}, w.see())
			require.EqualValues(t, 1, w.table.Status().Trouble[c.trouble])
		})
	}
}

func TestAbsurdDeadlinesDoNotCount(t *testing.T) {
	for _, far := range []time.Duration{-time.Hour, 48 * time.Hour, 100 * 365 * 24 * time.Hour} {
		w := newWorld()
		w.says(func(_ *wire.Health, e *wire.EndpointHealth) {
			e.Standing = wire.EndpointStanding{
				OpenUntil: w.now.Add(far), Opened: 3, ClosedThrough: w.now.Add(max(far, 0)), CoolUntil: w.now.Add(far), CoolStep: time.Minute,
			}
		})
		require.Equal(t, decide.EndpointHealth{}, w.see(), far)
		w.observe(health.Failed, 8)
		require.True(t, w.see().Open, "and the breaker works as ever")
	}
}

func TestShrinkingCountsAreNotBelieved(t *testing.T) {
	w := newWorld()
	w.says(func(_ *wire.Health, e *wire.EndpointHealth) { e.Cells = failures(w.slot(), 5) })
	w.says(func(h *wire.Health, e *wire.EndpointHealth) {
		h.Sequence = 2
		e.Cells = []wire.HealthCell{{Slot: w.slot(), HealthCounts: wire.HealthCounts{Failed: 3, Succeeded: 9}}}
	})
	require.EqualValues(t, 5, w.see().Calls)
	require.EqualValues(t, 1, w.table.Status().Trouble[health.TroubleCounts])
}

func TestStrangersAreBounded(t *testing.T) {
	w := newWorld()
	for n := range 2100 {
		w.table.Apply(own1, &wire.Health{Instance: stranger, Sequence: 1, SentAt: w.now, Endpoints: []wire.EndpointHealth{
			{ID: fmt.Sprint("junk", n), Cells: failures(w.slot(), 1)},
		}})
	}
	w.pass(time.Second)
	status := w.table.Status()
	require.Equal(t, 2048, status.Endpoints)
	require.EqualValues(t, 52, status.Trouble[health.TroubleEndpoints])
	w.observe(health.Failed, 8)
	require.True(t, w.see().Open, "what this gateway calls has room still")

	w = newWorld()
	for n := range 300 {
		w.table.Apply(own1, &wire.Health{Instance: uuid.UUID{0: 3, 14: byte(n >> 8), 15: byte(n)}, Sequence: 1, SentAt: w.now})
	}
	require.Equal(t, 256, w.table.Status().Gateways)
	require.EqualValues(t, 44, w.table.Status().Trouble[health.TroublePeers])
	w.pass(31 * time.Minute)
	w.table.Apply(own1, &wire.Health{Instance: stranger, Sequence: 1, SentAt: w.now})
	require.Equal(t, 1, w.table.Status().Gateways, "those that left make room")
}

func TestLostMessagesAreCounted(t *testing.T) {
	w := newWorld()
	for _, sequence := range []uint64{3, 4, 7, 6, 7, 8} {
		w.says(func(h *wire.Health, _ *wire.EndpointHealth) { h.Sequence = sequence })
	}
	require.EqualValues(t, 2, w.table.Status().Trouble[health.TroubleLost])
}

// TestClocksApart: a minute between clocks costs nothing.
func TestClocksApart(t *testing.T) {
	for _, apart := range []time.Duration{-55 * time.Second, -10 * time.Second, 10 * time.Second, 55 * time.Second} {
		f := newFleet(2)
		f.gateways[1].pass(apart)
		for range 12 {
			for _, g := range f.gateways {
				g.good(100)
			}
			f.exchange(t)
			f.pass(30 * time.Second)
		}
		for _, g := range f.gateways {
			require.EqualValues(t, 24, g.see().Calls, apart)
			require.Empty(t, quiet(g.table.Status().Trouble), apart)
		}
		late := f.start()
		late.pass(-apart)
		late.hear(t, f.gateways[1].answer()...)
		if apart > 0 {
			continue // two minutes apart may well be refused
		}
		late.pass(time.Second)
		require.LessOrEqual(t, late.see().Calls, int64(24), "never twice")
	}
}

func quiet(troubles map[health.Trouble]int64) map[health.Trouble]int64 {
	for kind, n := range troubles {
		if n == 0 {
			delete(troubles, kind)
		}
	}
	return troubles
}

func TestOwnMessagesAreNotHeard(t *testing.T) {
	f := newFleet(1)
	g := f.gateways[0]
	g.good(100)
	g.hear(t, g.sent(g.table.Deltas())...)
	g.hear(t, g.answer()...)
	f.pass(time.Second)
	require.EqualValues(t, 1, g.see().Calls)
}

// TestLargeViewFits: an answer about many busy endpoints is divided, and is
// whole when it is put together.
func TestLargeViewFits(t *testing.T) {
	f := newFleet(1)
	g := f.gateways[0]
	for slot := range 180 {
		for e := range 40 {
			for n := range 8 {
				g.table.Observe(health.Observation{
					Endpoint: fmt.Sprint("e", e), At: g.now, Verdict: health.Succeeded, FirstByte: time.Duration(1<<n) * time.Millisecond,
					Generation: time.Second, InputTokens: int64(slot), OutputTokens: int64(n + 1),
				})
			}
		}
		f.pass(10 * time.Second)
	}
	answer := g.answer()
	require.Greater(t, len(answer), 1)
	late := f.start()
	late.hear(t, answer...)
	for e := range 40 {
		name := fmt.Sprint("e", e)
		require.Equal(t, g.table.View().Endpoint(name), late.table.View().Endpoint(name))
	}
	total := 0
	for _, body := range answer {
		total += len(body)
	}
	t.Logf("%d bytes in %d messages", total, len(answer))
}
