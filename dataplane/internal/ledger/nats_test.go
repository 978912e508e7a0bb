package ledger

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var one = wire.Spend{Requests: 1, Cost: 10}

func all(requests int64) flow.Usage {
	b := known(requests, 10*money.Nanos(requests))
	return flow.Usage{Daily: b, Weekly: b, Monthly: b}
}

func (n *node) finish(t testing.TB, ws id.Workspace, key id.Key) {
	t.Helper()
	require.NoError(t, n.spool.Complete(eventOf(ws, key, monday, one)))
}

// TestTheNextRequestSeesTheOneBefore needs no commit for it.
func TestTheNextRequestSeesTheOneBefore(t *testing.T) {
	b := newBench(t)
	b.fill(nil, nil)
	n := b.nodeIn(t.TempDir(), newClock(monday).now, Options{Every: time.Hour})
	ws, key := newKey()
	require.Equal(t, all(0), n.ledger.Usage(t.Context(), ws, key, monday), "read on its first use")
	for i := range int64(5) {
		n.finish(t, ws, key)
		require.Equal(t, all(i+1), n.ledger.Usage(t.Context(), ws, key, monday))
		total := n.ledger.Totals(t.Context(), ws, []wire.Account{wire.AccountWorkspace}, monday)[0]
		require.Equal(t, wire.Spend{Requests: i + 1, Cost: 10 * money.Nanos(i+1)}, total.Lifetime)
		require.Equal(t, total.Lifetime, total.Monthly)
	}
}

// TestWhatIsCountedStaysInView without a look at the store.
func TestWhatIsCountedStaysInView(t *testing.T) {
	b := newBench(t)
	b.fill(nil, nil)
	c := newClock(monday)
	n := b.nodeIn(t.TempDir(), c.now, Options{})
	ws, key := newKey()
	accounts := []wire.Account{wire.KeyAccount(key), wire.AccountWorkspace}
	require.True(t, n.ledger.Totals(t.Context(), ws, accounts, monday)[1].Known)
	counted := make(chan uint64, 100)
	n.ledger.OnProgress(func(p Progress) { counted <- p.Sequence })
	c.set(monday.Add(2 * warm)) // nobody looks for it any more
	for i := range int64(5) {
		n.finish(t, ws, key)
		for <-counted < uint64(i+1) {
		}
		n.ledger.mu.Lock()
		key, total := n.ledger.views[accountRef{ws, accounts[0]}].totals(dayOf(monday)), n.ledger.views[accountRef{ws, accounts[1]}].totals(dayOf(monday))
		n.ledger.mu.Unlock()
		used := wire.Spend{Requests: i + 1, Cost: 10 * money.Nanos(i+1)}
		require.Equal(t, Totals{Known: true, Daily: used, Weekly: used, Monthly: used}, key)
		require.Equal(t, Totals{Known: true, Daily: used, Weekly: used, Monthly: used, Lifetime: used}, total)
	}
}

// TestAnAnswerThatWasLost commits once what was committed without an answer.
func TestAnAnswerThatWasLost(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	n := b.node(newClock(monday).now)
	ws, key := newKey()
	for i := range int64(20) {
		n.store.lose(i % 3)
		n.finish(t, ws, key)
		require.Eventually(t, func() bool { return b.counted(epoch, monday, ws, key).Requests == i+1 }, soon, often)
	}
	n.stop()
	require.Equal(t, wire.Spend{Requests: 20, Cost: 200}, b.counted(epoch, monday, ws, key))
	require.Equal(t, wire.Spend{Requests: 20, Cost: 200}, b.ever(epoch, ws))
}

// TestABatchFromOnePlaceIsTakenOnce sends again what came through after all.
func TestABatchFromOnePlaceIsTakenOnce(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	gw := id.New[id.GatewayKind](ids)
	s := NewNATS(b.conn, gw, ids)
	ws, key := newKey()
	spend := amounts{{ws, wire.KeyAccount(key)}: {{dayOf(monday), one}}}
	_, err := s.Commit(t.Context(), epoch, 0, 3, spend)
	require.NoError(t, err)
	_, err = s.Commit(t.Context(), epoch, 0, 5, spend)
	require.Error(t, err)
	at, _, err := s.Position(t.Context(), epoch)
	require.NoError(t, err)
	require.Equal(t, uint64(3), at)
	require.Equal(t, one, b.counted(epoch, monday, ws, key), "the second one changed nothing")
	committed, err := s.Commit(t.Context(), epoch, 3, 5, spend)
	require.NoError(t, err)
	at, state, err := s.Position(t.Context(), epoch)
	require.NoError(t, err)
	require.Equal(t, uint64(5), at)
	require.Equal(t, committed, state)
}

// TestManyKeysAtOnce needs several commits.
func TestManyKeysAtOnce(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	n := b.nodeIn(t.TempDir(), newClock(monday).now, Options{Held: 100, Every: time.Hour})
	type pair struct {
		ws  id.Workspace
		key id.Key
	}
	var pairs []pair
	for range 2000 {
		ws, key := newKey()
		pairs = append(pairs, pair{ws, key})
		n.finish(t, ws, key)
	}
	for _, p := range pairs[:300] {
		require.Equal(t, all(1), n.ledger.Usage(t.Context(), p.ws, p.key, monday))
	}
	require.LessOrEqual(t, n.ledger.held(), 100)
	n.stop()
	for _, p := range pairs[1500:] {
		require.Equal(t, one, b.counted(epoch, monday, p.ws, p.key))
	}
}

// TestNATSAway: nobody waits, what is held goes on with the gateway's own
// requests, and everything is counted when NATS is back.
func TestNATSAway(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	c := newClock(monday)
	here, there := b.node(c.now), b.node(c.now)
	ws, key := newKey()
	there.finish(t, ws, key)
	require.Eventually(t, func() bool { return here.ledger.Usage(t.Context(), ws, key, monday) == all(1) }, soon, often)
	b.server.Stop()
	require.Eventually(t, func() bool {
		here.ledger.mu.Lock()
		defer here.ledger.mu.Unlock()
		return here.ledger.down
	}, soon, often)
	c.set(monday.Add(time.Hour)) // the view is old
	here.finish(t, ws, key)
	there.finish(t, ws, key)
	require.Equal(t, all(2), here.ledger.Usage(t.Context(), ws, key, monday))
	_, stranger := newKey()
	require.Zero(t, here.ledger.Usage(t.Context(), ws, stranger, monday), "unknown, at once")

	b.server.Start()
	require.Eventually(t, func() bool { return here.ledger.Usage(t.Context(), ws, key, monday) == all(3) }, soon, often)
	require.Equal(t, all(0), here.ledger.Usage(t.Context(), ws, stranger, monday))
	require.Equal(t, wire.Spend{Requests: 3, Cost: 30}, b.counted(epoch, monday, ws, key))
}

// hanging is a store that does not answer.
type hanging struct{ Store }

func (hanging) Epoch(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// TestOneRequestWaitsForAStoreThatHangs: the next one does not.
func TestOneRequestWaitsForAStoreThatHangs(t *testing.T) {
	b := newBench(t)
	s, err := spool.Open(t.TempDir(), spool.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	n := New(Options{Store: hanging{NewNATS(b.conn, s.GatewayID(), ids)}, Spool: s, Now: newClock(monday).now, Log: natstest.Discard(), Wait: time.Millisecond},
		prometheus.NewRegistry())
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() { end(); require.NoError(t, <-done) }()
	ws, key := newKey()
	require.Zero(t, n.Usage(t.Context(), ws, key, monday))
	n.mu.Lock()
	down := n.down
	n.mu.Unlock()
	require.True(t, down)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	require.Zero(t, n.Usage(canceled, ws, key, monday))
}

// TestUnfilledIsUnknown until somebody fills the counters.
func TestUnfilledIsUnknown(t *testing.T) {
	b := newBench(t)
	n := b.node(newClock(monday).now)
	ws, key := newKey()
	n.finish(t, ws, key)
	require.Zero(t, n.ledger.Usage(t.Context(), ws, key, monday))
	counted, err := n.ledger.Counted(t.Context())
	require.ErrorIs(t, err, ErrUnfilled)
	require.Zero(t, counted, "the spool keeps everything")
	b.fill(map[totalRef]wire.Spend{{accountRef{ws, wire.KeyAccount(key)}, dayOf(monday)}: {Requests: 4, Cost: 40}}, nil)
	require.Eventually(t, func() bool { return n.ledger.Usage(t.Context(), ws, key, monday) == all(5) }, soon, often)
	require.Eventually(t, func() bool {
		counted, err := n.ledger.Counted(t.Context())
		return err == nil && counted == 1
	}, soon, often)
}

// TestNATSWiped loses everything that was counted, with commits under way. The
// database had the records up to a sequence of each gateway.
func TestNATSWiped(t *testing.T) {
	b := newBench(t)
	b.fill(nil, nil)
	c := newClock(monday)
	nodes := []*node{b.node(c.now), b.node(c.now), b.node(c.now)}
	ws, key := newKey()
	for range 10 {
		for _, n := range nodes {
			n.finish(t, ws, key)
		}
	}
	for _, n := range nodes {
		require.Eventually(t, func() bool { return n.ledger.Usage(t.Context(), ws, key, monday) == all(30) }, soon, often)
	}
	b.server.Wipe()
	for _, n := range nodes {
		n.finish(t, ws, key)
	}
	b.server.Ensure(b.conn)
	for _, n := range nodes {
		n.finish(t, ws, key)
	}
	// The database has all of the first, five of the second, nothing of the third.
	whole := accountRef{ws, wire.AccountWorkspace}
	stored := wire.Spend{Requests: 17, Cost: 170}
	epoch := b.fill(
		map[totalRef]wire.Spend{{accountRef{ws, wire.KeyAccount(key)}, dayOf(monday)}: stored, {whole, dayOf(monday)}: stored, {whole, ever}: stored},
		map[id.Gateway]uint64{nodes[0].spool.GatewayID(): 12, nodes[1].spool.GatewayID(): 5})
	used := wire.Spend{Requests: 36, Cost: 360}
	for _, n := range nodes {
		require.Eventually(t, func() bool { return n.ledger.Usage(t.Context(), ws, key, monday) == all(36) }, soon, often)
		require.Eventually(t, func() bool {
			return n.ledger.Totals(t.Context(), ws, []wire.Account{whole.account}, monday)[0].Lifetime == used
		}, soon, often)
		n.stop()
	}
	require.Equal(t, used, b.counted(epoch, monday, ws, key))
	require.Equal(t, used, b.ever(epoch, ws))
}

// TestTheFirstFillingCounts when two control planes filled at once.
func TestTheFirstFillingCounts(t *testing.T) {
	b := newBench(t)
	first := b.fill(nil, nil)
	b.fill(nil, nil)
	epoch, err := NewNATS(b.conn, id.New[id.GatewayKind](ids), ids).Epoch(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, epoch)
}

// TestAfterLosingTheDisk counts on with what is left, and says what is missing.
func TestAfterLosingTheDisk(t *testing.T) {
	b := newBench(t)
	gw := func() *node { return b.node(newClock(monday).now) }
	n := gw()
	ws, key := newKey()
	for range 3 {
		n.finish(t, ws, key)
	}
	n.ledger.mu.Lock()
	n.ledger.seen += 2 // of these there is no record
	n.ledger.mu.Unlock()
	epoch := b.fill(nil, nil)
	require.Eventually(t, func() bool { return b.counted(epoch, monday, ws, key).Requests == 3 }, soon, often)
	require.Eventually(t, func() bool {
		at, err := n.ledger.Counted(t.Context())
		return err == nil && at == 5
	}, soon, often)
}

const childDir = "LEDGER_TEST_CHILD"

// child is a gateway that finishes requests until it is killed. It prints a
// line for each that is on record.
func child(dir string) {
	s, err := spool.Open(dir+"/spool", spool.Options{})
	if err != nil {
		panic(err)
	}
	names, err := os.ReadFile(dir + "/names")
	if err != nil {
		panic(err)
	}
	words := strings.Fields(string(names))
	ws, key := id.MustParse[id.WorkspaceKind](words[0]), id.MustParse[id.KeyKind](words[1])
	conn, err := natsconn.Connect(context.Background(), natsconn.Config{URL: words[2]}, natsconn.Options{Log: natstest.Discard()})
	if err != nil {
		panic(err)
	}
	l := New(Options{Store: NewNATS(conn, s.GatewayID(), ids), Spool: s, Now: time.Now, Log: natstest.Discard(), Every: time.Millisecond}, prometheus.NewRegistry())
	go func() { _ = l.Run(context.Background()) }()
	for {
		if err := s.Complete(eventOf(ws, key, monday, one)); err != nil {
			panic(err)
		}
		if _, err := os.Stdout.WriteString("x\n"); err != nil {
			return
		}
	}
}

// TestKilled kills gateways at any moment: nothing on record is counted twice
// or not at all.
func TestKilled(t *testing.T) {
	b := newBench(t)
	epoch := b.fill(nil, nil)
	dir := t.TempDir()
	ws, key := newKey()
	require.NoError(t, os.WriteFile(dir+"/names", []byte(ws.String()+" "+key.String()+" "+b.server.URL()), 0o600))
	for round := range 5 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 200 * (round + 1) {
			require.True(t, lines.Scan())
		}
		if round%2 == 0 { // in the middle of counting
			require.Eventually(t, func() bool { lines.Scan(); return b.counted(epoch, monday, ws, key).Requests > int64(round) }, soon, often)
		}
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() {
		}
		require.Error(t, cmd.Wait())
	}
	n := b.nodeIn(dir+"/spool", newClock(monday).now, Options{})
	written := n.spool.Status().Sequence
	require.Eventually(t, func() bool {
		at, err := n.ledger.Counted(t.Context())
		return err == nil && at == written
	}, soon, often)
	require.Equal(t, int64(written), b.counted(epoch, monday, ws, key).Requests)
	require.Equal(t, int64(written), b.ever(epoch, ws).Requests)
}
