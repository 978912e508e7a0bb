package ledger

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// clock is one that tests set.
type clock struct{ at atomic.Int64 }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.set(at)
	return c
}

func (c *clock) set(at time.Time) { c.at.Store(at.UnixNano()) }
func (c *clock) now() time.Time   { return time.Unix(0, c.at.Load()) }

// bench is NATS with the gateways that count there.
type bench struct {
	t      testing.TB
	server *natstest.Server
	conn   *natsconn.Conn
}

func newBench(t testing.TB) *bench {
	server := natstest.New(t)
	return &bench{t: t, server: server, conn: server.Ready()}
}

// fill does a control plane's part: it fills an epoch, and returns its name.
func (b *bench) fill(spend map[totalRef]wire.Spend, marks map[id.Gateway]uint64) string {
	b.t.Helper()
	epoch := ids.UUID().String()
	for ref, s := range spend {
		b.increment(subjectOf(epoch, ref), s.Text())
	}
	for gw, mark := range marks {
		b.increment(wire.SpendAt(epoch, gw), strconv.FormatUint(mark, 10))
	}
	b.increment(wire.SpendEpoch(epoch), "1")
	return epoch
}

func (b *bench) increment(subject, by string) {
	b.t.Helper()
	b.back()
	msg := nats.NewMsg(subject)
	msg.Header.Set(headerIncrement, by)
	_, err := b.conn.JetStream().PublishMsg(context.Background(), msg)
	require.NoError(b.t, err)
}

// counted is what the stream has for a key and a day.
func (b *bench) counted(epoch string, at time.Time, ws id.Workspace, key id.Key) wire.Spend {
	b.t.Helper()
	return b.stored(wire.SpendOn(epoch, at, ws, wire.KeyAccount(key)))
}

// ever is what the stream has for a workspace.
func (b *bench) ever(epoch string, ws id.Workspace) wire.Spend {
	b.t.Helper()
	return b.stored(wire.SpendEver(epoch, ws, wire.AccountWorkspace))
}

// back waits for the test's own connection, which a stop of the server ended.
func (b *bench) back() {
	b.t.Helper()
	require.Eventually(b.t, b.conn.Connected, soon, often)
}

func (b *bench) stored(subject string) wire.Spend {
	b.t.Helper()
	b.back()
	stream, err := b.conn.JetStream().Stream(context.Background(), wire.StreamSpend)
	require.NoError(b.t, err)
	msg, err := stream.GetLastMsgForSubject(context.Background(), subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return wire.Spend{}
	}
	require.NoError(b.t, err)
	s, err := wire.ParseSpend(msg.Data)
	require.NoError(b.t, err)
	return s
}

// flaky is a store that loses answers.
type flaky struct {
	Store
	left atomic.Int64
}

var errLost = errors.New("the answer was lost")

// lose has the answers to the next n commits that are made get lost.
func (f *flaky) lose(n int64) { f.left.Store(n) }

func (f *flaky) Commit(ctx context.Context, epoch string, from, to uint64, spend amounts) (uint64, error) {
	state, err := f.Store.Commit(ctx, epoch, from, to, spend)
	if err == nil && f.left.Add(-1) >= 0 {
		return 0, errLost
	}
	return state, err
}

// node is a gateway's ledger with what it stands on.
type node struct {
	ledger *Ledger
	spool  *spool.Spool
	store  *flaky
	dir    string
	stop   func() // ends it, with what it does at its end
}

// node starts a gateway that ends with the test.
func (b *bench) node(now func() time.Time) *node { return b.nodeIn(b.t.TempDir(), now, Options{}) }

func (b *bench) nodeIn(dir string, now func() time.Time, o Options) *node {
	b.t.Helper()
	s, err := spool.Open(dir, spool.Options{})
	require.NoError(b.t, err)
	conn := b.server.Connect()
	store := &flaky{Store: NewNATS(conn, s.GatewayID(), ids)}
	o.Store, o.Spool, o.Now, o.Log = store, s, now, natstest.Discard()
	if o.Every == 0 {
		o.Every = 5 * time.Millisecond
	}
	if o.Wait == 0 {
		o.Wait = soon
	}
	n := &node{ledger: New(o, prometheus.NewRegistry()), spool: s, store: store, dir: dir}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.ledger.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(b.t, <-done)
		require.NoError(b.t, s.Close())
	})
	b.t.Cleanup(n.stop)
	return n
}
