package cell

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

// bench is NATS with the gateways that keep to limits there, and their clock.
type bench struct {
	t      testing.TB
	server *natstest.Server
	conn   *natsconn.Conn
	clock  *clock // nil: the real one

	mu    sync.Mutex
	nodes []*node
}

func newBench(t testing.TB, c *clock) *bench {
	server := natstest.New(t)
	b := &bench{t: t, server: server, conn: server.Ready(), clock: c}
	if c != nil {
		c.then = b.measured
	}
	return b
}

func (b *bench) now() time.Time {
	if b.clock == nil {
		return time.Now()
	}
	return b.clock.now()
}

// measured waits until all gateways know the time.
func (b *bench) measured() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.nodes {
		signal(n.wake)
		require.Eventually(b.t, func() bool {
			at, known := n.clock.at()
			return known && at.hi-at.lo <= int64(2*clockDrift) // the clock stood still meanwhile
		}, soon, often)
	}
}

// mark does a control plane's part: it names an epoch of the documents.
func (b *bench) mark(epoch string, ready time.Time) {
	b.t.Helper()
	body, err := json.Marshal(wire.CellsEpoch{Epoch: epoch, ReadyAt: ready})
	require.NoError(b.t, err)
	_, err = b.conn.JetStream().Publish(context.Background(), wire.SubjectCellsEpoch, body)
	require.NoError(b.t, err)
}

// faulty is a store with a clock of its own that can be cut off, and loses
// answers.
type faulty struct {
	Store
	now  func() time.Time
	cut  atomic.Bool
	lose atomic.Int64 // answers to writes that are made
}

func (f *faulty) hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (f *faulty) Time(ctx context.Context) (time.Time, error) {
	if f.cut.Load() {
		return time.Time{}, f.hang(ctx)
	}
	at, err := f.Store.Time(ctx)
	if f.now != nil {
		at = f.now()
	}
	return at, err
}

func (f *faulty) Load(ctx context.Context, subject string) (Stored, error) {
	if f.cut.Load() {
		return Stored{}, f.hang(ctx)
	}
	return f.Store.Load(ctx, subject)
}

func (f *faulty) Save(ctx context.Context, subject string, body []byte, before uint64, life time.Duration) (uint64, error) {
	if f.cut.Load() {
		return 0, f.hang(ctx)
	}
	seq, err := f.Store.Save(ctx, subject, body, before, life)
	if err == nil && f.lose.Add(-1) >= 0 {
		return 0, f.hang(ctx)
	}
	return seq, err
}

// node is a gateway's part with what it stands on.
type node struct {
	*Cells
	store *faulty
	stop  func()
}

// gateway starts a gateway that ends with the test, and waits until it answers.
func (b *bench) gateway(o Options) *node {
	b.t.Helper()
	n := b.start(o)
	require.Eventually(b.t, func() bool { return n.answers() == nil }, soon, often)
	return n
}

func (b *bench) start(o Options) *node {
	b.t.Helper()
	n := &node{store: &faulty{Store: NewNATS(b.server.Connect())}}
	if b.clock != nil {
		n.store.now = b.clock.now
	}
	if o.Gateway.IsZero() {
		o.Gateway = id.New[id.GatewayKind](ids)
	}
	if o.Wait == 0 {
		o.Wait = 2 * time.Second
	}
	if o.Instance == "" {
		o.Instance = ids.UUID().String()
	}
	o.Store, o.Now, o.Draw, o.Log = n.store, b.now, rand.Float64, natstest.Discard()
	n.Cells = New(o, prometheus.NewRegistry())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(b.t, <-ended)
	})
	b.t.Cleanup(n.stop)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nodes = append(b.nodes, n)
	return n
}
