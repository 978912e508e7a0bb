package rate

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// converge waits until all gateways see the same use, and fails when one ever
// sees more, or less than least.
func converge(t *testing.T, nodes []*node, ws id.Workspace, name string, least, want int64) {
	t.Helper()
	for i, n := range nodes {
		require.Eventually(t, func() bool {
			got := used(n, ws, name)
			require.GreaterOrEqual(t, got, least, "gateway %d", i)
			require.LessOrEqual(t, got, want, "gateway %d", i)
			return got == want
		}, soon, often, "gateway %d", i)
	}
}

// TestTwoGatewaysShareALimit is 100 tokens a minute, and 60 through each of two.
func TestTwoGatewaysShareALimit(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	one, two := b.node(c, Options{}), b.node(c, Options{})
	ws := newWorkspace()
	one.Add(ws, 60, named("tokens"))
	two.Add(ws, 60, named("tokens"))
	converge(t, []*node{one, two}, ws, "tokens", 60, 120)
	for _, n := range []*node{one, two} {
		require.Positive(t, wait(n, ws, "tokens", 100), "refused")
	}
}

// TestThreeGatewaysConverge with the real clock and the usual pace: each adds on
// its own, and all come to the sum.
func TestThreeGatewaysConverge(t *testing.T) {
	b := newBench(t)
	var nodes []*node
	for range 3 {
		nodes = append(nodes, b.node(nil, Options{Every: 200 * time.Millisecond}))
	}
	ws := newWorkspace()
	var group sync.WaitGroup
	for _, n := range nodes {
		for range 4 {
			group.Go(func() {
				for i := range 250 {
					n.Add(ws, 1, named(strconv.Itoa(i%5)))
				}
			})
		}
	}
	group.Wait()
	for i := range 5 {
		converge(t, nodes, ws, strconv.Itoa(i), 0, 600)
	}
}

// TestTheOwnCountIsSeenAtOnce needs no round for it.
func TestTheOwnCountIsSeenAtOnce(t *testing.T) {
	b := newBench(t)
	n := b.node(newClock(noon), Options{Every: time.Hour})
	ws := newWorkspace()
	for i := range int64(5) {
		n.Add(ws, 1, named("s"))
		m := minutes(t.Context(), n, ws, "s")
		require.True(t, m[0].Known)
		require.Equal(t, i+1, m[0].Used)
	}
}

// TestAnAnswerThatWasLost counts once what was counted without an answer.
func TestAnAnswerThatWasLost(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	nodes := []*node{b.node(c, Options{}), b.node(c, Options{})}
	ws := newWorkspace()
	for i := range int64(20) {
		nodes[i%2].store.lose(i % 4)
		nodes[i%2].Add(ws, 3, named("s"))
		converge(t, nodes, ws, "s", 3*i, 3*i+3)
	}
	for _, n := range nodes {
		n.stop()
	}
	require.EqualValues(t, 60, b.counted(ws, "s"))
}

// TestTheLastMomentIsCounted when a gateway ends.
func TestTheLastMomentIsCounted(t *testing.T) {
	b := newBench(t)
	n := b.node(newClock(noon), Options{Every: time.Hour})
	ws := newWorkspace()
	for i := range int64(20) {
		n.Add(ws, i+1, named(strconv.FormatInt(i, 10)))
	}
	n.stop()
	for i := range int64(20) {
		require.Equal(t, i+1, b.counted(ws, strconv.FormatInt(i, 10)))
	}
}

// TestManySubjects takes several writes and reads.
func TestManySubjects(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	one, two := b.node(c, Options{}), b.node(c, Options{})
	ws := newWorkspace()
	names := make([]string, 2*together+1)
	for i := range names {
		names[i] = strconv.Itoa(i)
		one.Add(ws, int64(i+1), named(names[i]))
	}
	require.Eventually(t, func() bool {
		for i, m := range minutes(t.Context(), two, ws, names...) {
			if !m.Known || m.Used != int64(i+1) {
				return false
			}
		}
		return true
	}, soon, often)
}

// TestNATSAway: nobody waits, what is held goes on with the gateway's own
// counts, what is older than a minute goes, and the rest is counted when NATS is
// back, in the slots that it belongs to.
func TestNATSAway(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	here, there := b.node(c, Options{}), b.node(c, Options{})
	both := []*node{here, there}
	ws := newWorkspace()
	there.Add(ws, 1, named("s"))
	converge(t, both, ws, "s", 0, 1)
	b.server.Stop()
	c.advance(40 * time.Second)
	here.Add(ws, 10, named("s"))
	there.Add(ws, 100, named("s"))
	require.Eventually(t, func() bool { return here.down.Load() && there.down.Load() }, soon, often)
	m := minutes(t.Context(), here, ws, "s", "stranger")
	require.True(t, m[0].Known)
	require.EqualValues(t, 11, m[0].Used)
	require.False(t, m[1].Known, "at once")
	c.advance(40 * time.Second)
	here.Add(ws, 1000, named("s"))
	m = minutes(t.Context(), here, ws, "s")
	require.False(t, m[0].Known, "nothing was heard of the others within the minute")
	require.EqualValues(t, 1010, m[0].Used)

	b.server.Start()
	b.server.Ensure(b.conn)
	converge(t, both, ws, "s", 100, 1110)
	require.True(t, minutes(t.Context(), here, ws, "stranger")[0].Known)
	c.advance(22 * time.Second)
	converge(t, both, ws, "s", 1000, 1000)
}

// TestNATSLosesItsMemory restarts the server, whose memory the stream was in,
// with increments on the way whose answers were lost. No gateway ever sees less
// than before, or more than there was.
func TestNATSLosesItsMemory(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	nodes := []*node{b.node(c, Options{}), b.node(c, Options{}), b.node(c, Options{})}
	ws := newWorkspace()
	total := int64(0)
	for range 3 {
		for i, n := range nodes {
			n.Add(ws, int64(i+1), named("s"))
			total += int64(i + 1)
		}
		converge(t, nodes, ws, "s", 0, total)
		c.advance(5 * time.Second)
		nodes[0].store.lose(2)
		nodes[0].Add(ws, 7, named("s"))
		nodes[1].Add(ws, 8, named("s"))
		before := total
		total += 15
		b.server.Restart()
		b.server.Ensure(b.conn)
		converge(t, nodes, ws, "s", before, total)
		require.Eventually(t, func() bool { return b.counted(ws, "s") == total }, soon, often, "NATS has all of it again")
	}
	late := b.node(c, Options{})
	converge(t, []*node{late}, ws, "s", total, total)
}

// TestTheStreamIsMadeAnew by an operator, while all are connected.
func TestTheStreamIsMadeAnew(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	nodes := []*node{b.node(c, Options{}), b.node(c, Options{})}
	ws := newWorkspace()
	nodes[0].Add(ws, 1, named("s"))
	nodes[1].Add(ws, 2, named("s"))
	converge(t, nodes, ws, "s", 0, 3)
	stream, err := b.conn.JetStream().Stream(t.Context(), wire.StreamRate)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(t.Context()))
	nodes[0].Add(ws, 4, named("s"))
	converge(t, nodes, ws, "s", 3, 7)
	require.Eventually(t, func() bool { return b.counted(ws, "s") == 7 }, soon, often)
}

// TestManyBeginAtOnce: gateways that make an epoch at the same time come to one.
func TestManyBeginAtOnce(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	ws := newWorkspace()
	var nodes []*node
	for range 6 {
		n := b.start(c, Options{})
		n.Add(ws, 1, named("s"))
		nodes = append(nodes, n)
	}
	converge(t, nodes, ws, "s", 1, 6)
}

// TestClocksApart: what counts is NATS's clock.
func TestClocksApart(t *testing.T) {
	b := newBench(t)
	var nodes []*node
	for _, off := range []time.Duration{0, 10 * time.Minute, -7 * time.Hour} {
		now := func() time.Time { return time.Now().Add(off) }
		n := b.start(nil, Options{Now: now})
		n.Add(newWorkspace(), 1, named("before it knows the clock"))
		nodes = append(nodes, n)
	}
	ws := newWorkspace()
	for _, n := range nodes {
		n.Add(ws, 5, named("s"))
	}
	converge(t, nodes, ws, "s", 5, 15)
}

// TestAStoreThatHangs: one request waits, the next one does not.
func TestAStoreThatHangs(t *testing.T) {
	b := newBench(t)
	n := b.start(newClock(noon), Options{Wait: time.Millisecond, Every: time.Hour})
	n.store.hang.Store(true)
	ws := newWorkspace()
	require.False(t, minutes(t.Context(), n, ws, "a", "b")[1].Known)
	require.True(t, n.down.Load())
	require.False(t, minutes(t.Context(), n, ws, "c")[0].Known)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	n.down.Store(false)
	require.False(t, minutes(canceled, n, ws, "a")[0].Known)
	n.store.hang.Store(false)
}

// TestTooMany: those that were not used for longest go, and what they had to say
// is counted all the same.
func TestTooMany(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	n := b.node(c, Options{Held: 64, Every: time.Hour})
	ws := newWorkspace()
	for i := range 120 {
		n.Add(ws, 1, named(strconv.Itoa(i)))
	}
	require.LessOrEqual(t, n.held(), 64)
	require.EqualValues(t, 1, used(n, ws, "119"))
	n.stop()
	epoch, found := b.epoch(), b.subjects()
	for i := range 120 {
		require.Contains(t, found, wire.RateIn(epoch, ws, named(strconv.Itoa(i)).Token(), minuteOf(slotOf(noon))))
	}
}

// TestIdleCostsNothing: after a minute nothing is held, and nothing is sent.
func TestIdleCostsNothing(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	n := b.node(c, Options{})
	ws := newWorkspace()
	for i := range 50 {
		n.Add(ws, 1, named(strconv.Itoa(i)))
	}
	require.Eventually(t, func() bool { return b.counted(ws, "49") == 1 }, soon, often)
	require.GreaterOrEqual(t, n.held(), 50)
	c.advance(Window + 1)
	require.Eventually(t, func() bool { return n.held() == 0 }, soon, often)
	mark := b.sequence(wire.SubjectRateMark)
	c.advance(2 * renewal)
	n.Add(ws, 1, named("busy"))
	require.Eventually(t, func() bool {
		c.advance(renewal)
		n.Add(ws, 1, named("busy"))
		return b.sequence(wire.SubjectRateMark) > mark
	}, soon, often, "the mark is renewed while something is counted")
	require.InDelta(t, 1, metricOf(t, n.metrics.epochs), 0)
}

// TestTheMinuteBefore is read by a gateway that comes later, and again by one
// that is in use: others that were away bring what belongs to it.
func TestTheMinuteBefore(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	first := b.node(c, Options{})
	ws := newWorkspace()
	first.Add(ws, 3, named("s"))
	require.Eventually(t, func() bool { return b.counted(ws, "s") == 3 }, soon, often)
	c.advance(40*time.Second + settles) // into the next minute
	second := b.node(c, Options{})
	both := []*node{first, second}
	converge(t, both, ws, "s", 3, 3)
	away := Increment{
		Ref: Ref{ws, named("s").Token(), minuteOf(slotOf(noon))}, ID: "of another", By: &wire.RateMinute{wire.RateSlots - 1: 4},
	}
	require.NoError(t, NewNATS(b.conn).Add(t.Context(), b.epoch(), []Increment{away}))
	converge(t, both, ws, "s", 3, 7)
}
