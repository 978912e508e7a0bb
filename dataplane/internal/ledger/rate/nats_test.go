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
	one.Add(ws, "tokens", 60)
	two.Add(ws, "tokens", 60)
	converge(t, []*node{one, two}, ws, "tokens", 60, 120)
	for _, n := range []*node{one, two} {
		m := n.Minutes(t.Context(), ws, []string{"tokens"})
		require.Positive(t, m[0].Until(100), "refused")
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
					n.Add(ws, strconv.Itoa(i%5), 1)
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
		n.Add(ws, "s", 1)
		m := n.Minutes(t.Context(), ws, []string{"s"})
		require.True(t, m[0].Known)
		require.Equal(t, i+1, m[0].Used())
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
		nodes[i%2].Add(ws, "s", 3)
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
	for i := range 2000 {
		n.Add(ws, strconv.Itoa(i), 1)
	}
	n.stop()
	n.stop()
	epoch, found := b.epoch(), b.subjects()
	for i := range 2000 {
		require.Contains(t, found, wire.RateIn(epoch, ws, strconv.Itoa(i), minuteOf(slotOf(noon))))
	}
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
	there.Add(ws, "s", 1)
	converge(t, both, ws, "s", 0, 1)
	b.server.Stop()
	c.advance(40 * time.Second)
	here.Add(ws, "s", 10)
	there.Add(ws, "s", 100)
	require.Eventually(t, func() bool { return here.down.Load() && there.down.Load() }, soon, often)
	m := here.Minutes(t.Context(), ws, []string{"s", "stranger"})
	require.True(t, m[0].Known)
	require.EqualValues(t, 11, m[0].Used())
	require.False(t, m[1].Known, "at once")
	c.advance(40 * time.Second)
	here.Add(ws, "s", 1000)
	m = here.Minutes(t.Context(), ws, []string{"s"})
	require.False(t, m[0].Known, "nothing was heard of the others within the minute")
	require.EqualValues(t, 1010, m[0].Used())

	b.server.Start()
	b.server.Ensure(b.conn)
	converge(t, both, ws, "s", 100, 1110)
	require.True(t, here.Minutes(t.Context(), ws, []string{"stranger"})[0].Known)
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
			n.Add(ws, "s", int64(i+1))
			total += int64(i + 1)
		}
		converge(t, nodes, ws, "s", 0, total)
		c.advance(5 * time.Second)
		nodes[0].store.lose(2)
		nodes[0].Add(ws, "s", 7)
		nodes[1].Add(ws, "s", 8)
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
	nodes[0].Add(ws, "s", 1)
	nodes[1].Add(ws, "s", 2)
	converge(t, nodes, ws, "s", 0, 3)
	stream, err := b.conn.JetStream().Stream(t.Context(), wire.StreamRate)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(t.Context()))
	nodes[0].Add(ws, "s", 4)
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
		n.Add(ws, "s", 1)
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
		n.Add(newWorkspace(), "before it knows the clock", 1)
		nodes = append(nodes, n)
	}
	ws := newWorkspace()
	for _, n := range nodes {
		n.Add(ws, "s", 5)
	}
	converge(t, nodes, ws, "s", 5, 15)
}

// TestAStoreThatHangs: one request waits, the next one does not.
func TestAStoreThatHangs(t *testing.T) {
	b := newBench(t)
	n := b.start(newClock(noon), Options{Wait: time.Millisecond, Every: time.Hour})
	n.store.hang.Store(true)
	ws := newWorkspace()
	require.False(t, n.Minutes(t.Context(), ws, []string{"a", "b"})[1].Known)
	require.True(t, n.down.Load())
	require.False(t, n.Minutes(t.Context(), ws, []string{"c"})[0].Known)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	n.down.Store(false)
	require.False(t, n.Minutes(canceled, ws, []string{"a"})[0].Known)
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
		n.Add(ws, strconv.Itoa(i), 1)
	}
	require.LessOrEqual(t, n.held(), 64)
	require.EqualValues(t, 1, used(n, ws, "119"))
	n.stop()
	epoch, found := b.epoch(), b.subjects()
	for i := range 120 {
		require.Contains(t, found, wire.RateIn(epoch, ws, strconv.Itoa(i), minuteOf(slotOf(noon))))
	}
}

// TestIdleCostsNothing: after a minute nothing is held, and nothing is sent.
func TestIdleCostsNothing(t *testing.T) {
	b := newBench(t)
	c := newClock(noon)
	n := b.node(c, Options{})
	ws := newWorkspace()
	for i := range 50 {
		n.Add(ws, strconv.Itoa(i), 1)
	}
	require.Eventually(t, func() bool { return b.counted(ws, "49") == 1 }, soon, often)
	require.GreaterOrEqual(t, n.held(), 50)
	c.advance(Window + 1)
	require.Eventually(t, func() bool { return n.held() == 0 }, soon, often)
	mark := b.sequence(wire.SubjectRateMark)
	c.advance(2 * renewal)
	n.Add(ws, "busy", 1)
	require.Eventually(t, func() bool {
		c.advance(renewal)
		n.Add(ws, "busy", 1)
		return b.sequence(wire.SubjectRateMark) > mark
	}, soon, often, "the mark is renewed while something is counted")
	require.InDelta(t, 1, metricOf(t, n.metrics.epochs), 0)
}
