package cell

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var strict = policy.DenyUnavailable

// opened is a bench whose documents are marked.
func opened(t testing.TB, c *clock) *bench {
	b := newBench(t, c)
	b.mark("first", b.now().Add(-time.Hour))
	return b
}

// document is what the stream has of a subject.
func (b *bench) document(r ref) (document, bool) {
	s, err := NewNATS(b.conn).Load(context.Background(), subjectOf(r))
	require.NoError(b.t, err)
	if s.Sequence == 0 {
		return document{}, false
	}
	d, err := decode(s.Body, r.kind)
	require.NoError(b.t, err)
	return d, true
}

// TestLostAnswers: a write whose answer does not come is made once, whatever the
// caller was told.
func TestLostAnswers(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	one, other := b.gateway(Options{fresh: -1}), b.gateway(Options{fresh: -1})
	s := newSubject()
	var taken int64
	for i := range 12 {
		one.store.lose.Store(i%2 == 1)
		took, err := one.Take(t.Context(), s, 1, Limit{Most: 8, Unavailable: strict})
		if err != nil {
			require.ErrorIs(t, err, ErrUnavailable)
			require.Eventually(t, func() bool {
				d, ok := b.document(ref{minutes, s})
				return one.answers() == nil && ok && len(d.entries) == 1 && sum(d.entries[0].buckets, 0) == taken
			}, soon, often, "what was not answered is not used")
			continue
		}
		if took.OK {
			taken++
		}
	}
	require.Equal(t, int64(6), taken, "every second one was not answered")
	require.Equal(t, Took{OK: true, Used: 6}, take(t, other, s, 2, 8))
	require.False(t, take(t, one, s, 1, 8).OK)
}

// TestWithoutNATS: what becomes of who asks is what the limit says, nobody but
// the first waits for it, and afterwards others know what was taken.
func TestWithoutNATS(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	one, other := b.gateway(Options{fresh: -1}), b.gateway(Options{fresh: -1})
	s := newSubject()
	one.peers.hear(wire.Heartbeat{Gateway: other.opts.Gateway, Instance: "other"})
	one.store.cut.Store(true)
	_, err := one.Take(t.Context(), s, 1, Limit{Most: 4, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	require.True(t, one.down.Load())
	for i := range int64(5) {
		took, err := one.Take(t.Context(), s, 1, Limit{Most: 4})
		require.NoError(t, err)
		require.Equal(t, Took{OK: true, Used: i, Alone: true}, took, "allowed, and counted")
	}
	took, err := one.Take(t.Context(), s, 1, Limit{Most: 4, Unavailable: policy.ShareUnavailable})
	require.NoError(t, err)
	require.False(t, took.OK)
	require.True(t, took.Alone)
	share := newSubject()
	var slots []*Slot
	for i := range 3 {
		slot, took, err := one.Acquire(t.Context(), share, Limit{Most: 4, Unavailable: policy.ShareUnavailable})
		require.NoError(t, err)
		require.Equal(t, Took{OK: i < 2, Used: int64(min(i, 2)), Alone: true}, took, "half of it")
		slots = append(slots, slot)
	}
	_, _, err = one.Reserve(t.Context(), s, 1, newSpending(0).bound(10))
	require.ErrorIs(t, err, ErrUnavailable)

	one.store.cut.Store(false)
	require.Eventually(t, func() bool { return one.answers() == nil }, soon, often)
	require.Eventually(t, func() bool {
		d, ok := b.document(ref{minutes, s})
		return ok && sum(d.entries[0].buckets, 0) == 5
	}, soon, often, "it is stated")
	require.Equal(t, Took{OK: true, Used: 5}, take(t, other, s, 1, 6))
	require.Eventually(t, func() bool {
		slot, took, err := other.Acquire(t.Context(), share, Limit{Most: 100})
		require.NoError(t, err)
		slot.Release()
		return took.Used >= 2
	}, soon, often)
	slots[0].Release()
	slots[1].Release()
}

// TestNobodyWaitsTwice: the store hangs, and only who asks before that is known
// waits for the deadline.
func TestNobodyWaitsTwice(t *testing.T) {
	b := opened(t, newClock(monday))
	n := b.gateway(Options{Wait: 50 * time.Millisecond})
	n.store.hang.Store(true)
	_, err := n.Take(t.Context(), newSubject(), 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = n.Take(ended, newSubject(), 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, context.Canceled, "nobody waits any more")
	require.Eventually(t, n.down.Load, soon, often)
	l := n.cell(ref{minutes, newSubject()})
	_, err = l.ask(t.Context(), ask{n: 1, most: 1})
	require.ErrorIs(t, err, errAway, "it is not even tried")
}

// TestAPausedGateway stands still for longer than its lease: others take its
// slots, and it takes none before theirs are given back.
func TestAPausedGateway(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	paused, other := b.gateway(Options{fresh: -1}), b.gateway(Options{fresh: -1})
	s := newSubject()
	for range 3 {
		_, took, err := paused.Acquire(t.Context(), s, Limit{Most: 3, Unavailable: strict})
		require.NoError(t, err)
		require.True(t, took.OK)
	}
	acquire := func(n *node) bool {
		_, took, err := n.Acquire(t.Context(), s, Limit{Most: 3, Unavailable: strict})
		require.NoError(t, err)
		return took.OK
	}
	require.False(t, acquire(other))
	paused.store.cut.Store(true)
	c.then = nil // it does not learn the time
	c.advance(lease + 2*time.Second)
	signal(other.wake)
	require.Eventually(t, func() bool { return other.answers() == nil }, soon, often)
	require.True(t, acquire(other), "its lease is over")
	paused.store.cut.Store(false)
	c.then = b.measured
	c.advance(time.Second)
	for _, n := range []*node{paused, other} {
		require.Eventually(t, func() bool { return n.answers() == nil }, soon, often)
	}
	require.False(t, acquire(paused), "four are running")
	require.Eventually(t, func() bool { return !acquire(other) }, soon, often, "it has stated again what it has")
}

// kill ends a gateway without its last words.
func (n *node) kill() {
	n.store.cut.Store(true)
	n.stop()
}

// TestAKilledGateway: its slots are free as soon as others know that it is gone,
// after its lease in any case; what it took in the last minute stays taken.
func TestAKilledGateway(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	killed, other := b.gateway(Options{Instance: "before", fresh: -1}), b.gateway(Options{fresh: -1})
	s, restarted := newSubject(), newSubject()
	for _, s := range []Subject{s, restarted} {
		require.True(t, take(t, killed, s, 2, 2).OK)
		_, took, err := killed.Acquire(t.Context(), s, Limit{Most: 1, Unavailable: strict})
		require.NoError(t, err)
		require.True(t, took.OK)
	}
	other.peers.hear(wire.Heartbeat{Gateway: killed.opts.Gateway, Instance: "before"})
	killed.kill()
	b.mu.Lock()
	b.nodes = b.nodes[1:]
	b.mu.Unlock()
	free := func(s Subject) bool {
		_, took, err := other.Acquire(t.Context(), s, Limit{Most: 1, Unavailable: strict})
		require.NoError(t, err)
		return took.OK
	}
	require.False(t, free(s))
	other.peers.hear(wire.Heartbeat{Gateway: killed.opts.Gateway, Instance: "after"})
	require.True(t, free(restarted), "its process is another one")
	require.False(t, take(t, other, s, 1, 2).OK)
	again := b.gateway(Options{Gateway: killed.opts.Gateway, Instance: "after", fresh: -1})
	require.False(t, take(t, again, s, 1, 2).OK, "it knows what it took before")
	c.advance(61*time.Second + 10*time.Millisecond)
	require.True(t, take(t, again, s, 2, 2).OK)
}

// TestWhatIsReservedOutlivesItsGateway until the gateway comes back and its
// ledger has counted what it left, or for a day.
func TestWhatIsReservedOutlivesItsGateway(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	killed, other := b.gateway(Options{Instance: "before", fresh: -1}), b.gateway(Options{fresh: -1})
	s, away := newSubject(), newSubject()
	account := newSpending(0)
	fits := func(n *node, s Subject, amount money.Nanos) bool {
		r, got := reserve(t, n, s, amount, account.bound(100))
		if got.OK {
			r.Settle(0, 0)
		}
		return got.OK
	}
	for _, s := range []Subject{s, away} {
		_, got := reserve(t, killed, s, 60, account.bound(100))
		require.True(t, got.OK)
	}
	killed.kill()
	b.mu.Lock()
	b.nodes = b.nodes[1:]
	b.mu.Unlock()
	c.advance(2 * time.Minute)
	require.False(t, fits(other, s, 41), "it may have been spent")
	again := b.gateway(Options{Gateway: killed.opts.Gateway, Instance: "after", Started: 7, fresh: -1})
	require.False(t, fits(again, s, 41))
	require.True(t, fits(again, s, 40))
	again.hears(t, s, account.count(50, 6))
	require.False(t, fits(again, s, 1), "counted, and still reserved")
	again.Progress(account.count(0, 7))
	require.Eventually(t, func() bool { return fits(other, s, 50) }, soon, often, "all that it left is counted")
	require.False(t, fits(other, s, 51))

	require.False(t, fits(other, away, 41), "of this one it was not asked since")
	c.advance(heldLife)
	require.True(t, fits(other, away, 41))
}

// TestWiped loses all documents. Nobody is answered before they are marked anew
// and everybody has stated what it holds.
func TestWiped(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	nodes := []*node{b.gateway(Options{fresh: -1}), b.gateway(Options{fresh: -1})}
	s := newSubject()
	account := newSpending(0)
	for _, n := range nodes {
		require.True(t, take(t, n, s, 2, 4).OK)
		_, took, err := n.Acquire(t.Context(), s, Limit{Most: 2, Unavailable: strict})
		require.NoError(t, err)
		require.True(t, took.OK)
		_, got := reserve(t, n, s, 50, account.bound(100))
		require.True(t, got.OK)
	}
	b.server.Wipe()
	b.server.Ensure(b.conn)
	for _, n := range nodes {
		require.Eventually(t, func() bool { return n.answers() != nil }, soon, often)
		_, err := n.Take(t.Context(), s, 1, Limit{Most: 100, Unavailable: strict})
		require.ErrorIs(t, err, ErrUnavailable)
	}
	b.mark("second", c.now().Add(lease*2/3))
	for _, k := range []kind{minutes, slots, holdings} {
		require.Eventually(t, func() bool {
			d, ok := b.document(ref{k, s})
			return ok && len(d.entries) == 2
		}, soon, often, "both have stated what they hold")
	}
	_, err := nodes[0].Take(t.Context(), s, 1, Limit{Most: 100, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable, "others may not have")
	c.advance(lease*2/3 + 2*clockDrift)
	for _, n := range nodes {
		require.Eventually(t, func() bool { return n.answers() == nil }, soon, often)
		took := take(t, n, s, 1, 4)
		require.Equal(t, int64(4), took.Used)
		require.False(t, took.OK)
		_, took, err := n.Acquire(t.Context(), s, Limit{Most: 2, Unavailable: strict})
		require.NoError(t, err)
		require.False(t, took.OK)
		_, got := reserve(t, n, s, 1, account.bound(100))
		require.False(t, got.OK)
		require.Equal(t, money.Nanos(100), got.Held)
	}
}

// hears waits until a gateway has taken in what its ledger says.
func (n *node) hears(t *testing.T, s Subject, p ledger.Progress) {
	t.Helper()
	n.Progress(p)
	l := n.cell(ref{holdings, s})
	require.Eventually(t, func() bool { return l.is(func() bool { return l.table.(*reserved).counted == p }) }, soon, often)
}

// TestDataThatIsGone is noticed by who misses it, not only when it is looked for.
func TestDataThatIsGone(t *testing.T) {
	b := opened(t, newClock(monday))
	n := b.gateway(Options{every: time.Hour})
	s := newSubject()
	require.True(t, take(t, n, s, 1, 5).OK)
	stream, err := b.conn.JetStream().Stream(t.Context(), wire.StreamCells)
	require.NoError(t, err)
	require.NoError(t, stream.Purge(t.Context()))
	_, err = n.Take(t.Context(), s, 1, Limit{Most: 5, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	_, err = n.Take(t.Context(), newSubject(), 1, Limit{Most: 5, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	b.mark("second", monday.Add(-time.Hour))
	signal(n.wake)
	require.Eventually(t, func() bool { d, ok := b.document(ref{minutes, s}); return ok && len(d.entries) == 1 }, soon, often, "it is stated anew")
	require.Equal(t, Took{OK: true, Used: 1}, take(t, n, s, 1, 5))
}

// TestALateAnswer counts for the second in which it came.
func TestALateAnswer(t *testing.T) {
	c := newClock(monday.Add(995 * time.Millisecond))
	b := opened(t, c)
	n := b.gateway(Options{every: time.Hour})
	s := newSubject()
	n.store.saving = func() { c.at.Add(int64(10 * time.Millisecond)) }
	require.True(t, take(t, n, s, 1, 1).OK)
	require.Eventually(t, func() bool {
		d, ok := b.document(ref{minutes, s})
		return ok && len(d.entries[0].buckets) == 1 && d.entries[0].buckets[0] == bucket{monday.Unix() + 1, 1}
	}, soon, often)
}

// TestOtherCounters: who let go of what is counted in other counters than those
// that are asked has to say first where these stand.
func TestOtherCounters(t *testing.T) {
	c := newClock(monday)
	b := opened(t, c)
	one, other := b.gateway(Options{fresh: -1, Wait: 200 * time.Millisecond}), b.gateway(Options{fresh: -1, Wait: 200 * time.Millisecond})
	s, account := newSubject(), newSpending(0)
	r, _ := reserve(t, one, s, 50, account.bound(100))
	held, _ := reserve(t, one, s, 10, account.bound(100))
	r.Settle(40, 3)
	one.Progress(account.count(40, 3))
	require.Eventually(t, func() bool {
		d, ok := b.document(ref{holdings, s})
		return ok && len(d.entries) == 1 && d.entries[0].point == account.point && d.entries[0].held == 10
	}, soon, often)
	account.mu.Lock()
	account.point, account.spent = ledger.Point{Epoch: "f", Stream: 1}, 0 // filled anew, without what one has not counted there
	account.mu.Unlock()
	_, _, err := other.Reserve(t.Context(), s, 90, account.bound(100))
	require.ErrorIs(t, err, ErrUnavailable)
	one.hears(t, s, account.count(0, 2))
	require.Equal(t, "e", one.cell(ref{holdings, s}).table.(*reserved).point.Epoch, "it let go of more than that")
	_, _, err = other.Reserve(t.Context(), s, 90, account.bound(100))
	require.ErrorIs(t, err, ErrUnavailable)
	one.Progress(account.count(40, 3))
	require.Eventually(t, func() bool {
		_, got, err := other.Reserve(t.Context(), s, 50, account.bound(100))
		return err == nil && got.OK
	}, soon, often)
	held.Settle(0, 0)
}

// TestCountersThatAreBehind are read again until they have what was let go of.
func TestCountersThatAreBehind(t *testing.T) {
	b := opened(t, newClock(monday))
	one, other := b.gateway(Options{fresh: -1}), b.gateway(Options{fresh: -1})
	s, account := newSubject(), newSpending(0)
	r, _ := reserve(t, one, s, 100, account.bound(100))
	behind, point := account.spent, account.point
	r.Settle(100, 1)
	one.Progress(account.count(100, 1))
	require.Eventually(t, func() bool {
		d, ok := b.document(ref{holdings, s})
		return ok && d.entries[0].held == 0
	}, soon, often)
	var reads atomic.Int64
	late := []Bound{{Limit: 100, Spent: func(ctx context.Context, after ledger.Point) (money.Nanos, ledger.Point, error) {
		if reads.Add(1); after.Stream <= point.Stream {
			return behind, point, nil // a server that has not heard of it
		}
		return account.read(ctx, after)
	}}}
	_, got := reserve(t, other, s, 1, late)
	require.False(t, got.OK)
	require.Equal(t, money.Nanos(100), got.Spent)
	require.Equal(t, int64(2), reads.Load())
}

// TestSubjectsDoNotWaitForEachOther: one hangs at its account.
func TestSubjectsDoNotWaitForEachOther(t *testing.T) {
	b := opened(t, newClock(monday))
	n := b.gateway(Options{})
	hung, release := make(chan struct{}), make(chan struct{})
	hanging := []Bound{{Limit: 1, Spent: func(context.Context, ledger.Point) (money.Nanos, ledger.Point, error) {
		close(hung)
		<-release
		return 0, ledger.Point{}, ErrUnavailable
	}}}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _, err := n.Reserve(context.Background(), newSubject(), 1, hanging)
		if err == nil {
			t.Error("it must not be reserved")
		}
	})
	<-hung
	require.True(t, take(t, n, newSubject(), 1, 1).OK)
	close(release)
	wg.Wait()
}

// TestADocumentOfALaterVersion is left alone.
func TestADocumentOfALaterVersion(t *testing.T) {
	b := opened(t, newClock(monday))
	n := b.gateway(Options{})
	s := newSubject()
	body := append([]byte{codecVersion + 1}, "whatever"...)
	_, err := NewNATS(b.conn).Save(t.Context(), subjectOf(ref{minutes, s}), body, 0, minuteTTL)
	require.NoError(t, err)
	_, err = n.Take(t.Context(), s, 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	require.True(t, take(t, n, newSubject(), 1, 1).OK, "others are not affected")
	stored, err := NewNATS(b.conn).Load(t.Context(), subjectOf(ref{minutes, s}))
	require.NoError(t, err)
	require.Equal(t, body, stored.Body)
}

// TestBeforeRunAndAfter nobody is answered, and nothing is left running.
func TestBeforeRunAndAfter(t *testing.T) {
	b := opened(t, newClock(monday))
	n := b.gateway(Options{})
	s := newSubject()
	slot, took, err := n.Acquire(t.Context(), s, Limit{Most: 1, Unavailable: strict})
	require.NoError(t, err)
	require.True(t, took.OK)
	n.stop()
	_, err = n.Take(t.Context(), s, 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	took, err = n.Take(t.Context(), s, 1, Limit{Most: 1})
	require.NoError(t, err)
	require.True(t, took.Alone)
	slot.Release()
	_, err = n.Take(t.Context(), Subject{Workspace: id.New[id.WorkspaceKind](ids), Name: "a.b"}, 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable, "not a name")
}

// TestACrowd: callers name subjects as they like, and those of one workspace are
// in the way neither of another's nor of what it reserves itself.
func TestACrowd(t *testing.T) {
	c := newClock(monday)
	n := opened(t, c).gateway(Options{Most: 2})
	crowd := newSubject()
	for _, name := range []string{"a", "b"} {
		require.True(t, take(t, n, Subject{crowd.Workspace, name}, 1, 1).OK)
	}
	require.False(t, take(t, n, Subject{crowd.Workspace, "b"}, 1, 1).OK, "those that are there go on")
	_, err := n.Take(t.Context(), Subject{crowd.Workspace, "c"}, 1, Limit{Most: 1, Unavailable: strict})
	require.ErrorIs(t, err, ErrUnavailable)
	others := newSubject()
	require.True(t, take(t, n, others, 1, 1).OK)
	require.False(t, take(t, n, others, 1, 1).OK)
	r, got, err := n.Reserve(t.Context(), crowd, 1, newSpending(0).bound(10))
	require.NoError(t, err)
	require.True(t, got.OK)
	r.Settle(0, 0)

	c.advance(Minute + cellLife + 2*time.Second)
	require.Eventually(t, func() bool {
		signal(n.wake)
		took, err := n.Take(t.Context(), Subject{crowd.Workspace, "c"}, 1, Limit{Most: 1, Unavailable: strict})
		return err == nil && took.OK
	}, soon, often, "there is room again")
}

// TestSlowCounters: who asks what was spent and hears nothing gets no answer, and
// what the gateway has to state of other requests is stated all the same.
func TestSlowCounters(t *testing.T) {
	n := opened(t, newClock(monday)).gateway(Options{Wait: 50 * time.Millisecond})
	s := newSubject()
	_, got := reserve(t, n, s, 5, newSpending(0).bound(10))
	require.True(t, got.OK)
	l := n.cell(ref{holdings, s})
	require.Eventually(t, func() bool { return l.is(func() bool { return !l.dirty && l.loaded }) }, soon, often)
	l.mu.Lock()
	l.dirty = true
	l.rest = []entry{{gateway: id.New[id.GatewayKind](ids), point: ledger.Point{Epoch: "e", Stream: 9}}}
	l.mu.Unlock()
	asked := &op{ask: ask{n: 1, bounds: []bound{{point: ledger.Point{Epoch: "e", Stream: 1}}}, reservation: &Reservation{}}, done: make(chan decision, 1)}
	asked.bounds[0].Spent = func(ctx context.Context, _ ledger.Point) (money.Nanos, ledger.Point, error) {
		<-ctx.Done()
		return 0, ledger.Point{}, ctx.Err()
	}
	_, err := l.attempt(t.Context(), &turn{batch: []*op{asked}})
	require.NoError(t, err)
	require.Error(t, (<-asked.done).err)
	require.NoError(t, n.answers(), "the store of limits was not at fault")
	require.False(t, l.is(func() bool { return l.dirty }))
}
