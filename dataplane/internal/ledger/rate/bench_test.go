package rate

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

var ids = id.SystemSource()

func newWorkspace() id.Workspace { return id.New[id.WorkspaceKind](ids) }

const (
	soon  = 20 * time.Second
	often = 2 * time.Millisecond
)

// noon is well within a minute, and at the beginning of a slot.
var noon = time.Date(2026, 11, 30, 12, 0, 20, 0, time.UTC)

// clock is one that tests set.
type clock struct{ at atomic.Int64 }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.at.Store(at.UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// flaky is a store that loses answers, hangs, and has another clock.
type flaky struct {
	Store
	now  func() time.Time // in place of the store's; nil: the store's
	left atomic.Int64     // answers to be lost
	hang atomic.Bool
}

var errLost = errors.New("the answer was lost")

// lose has the answers to the next n writes get lost.
func (f *flaky) lose(n int64) { f.left.Store(n) }

func (f *flaky) Mark(ctx context.Context, by uint64) (uint64, time.Time, error) {
	if f.hang.Load() {
		<-ctx.Done()
		return 0, time.Time{}, ctx.Err()
	}
	epoch, at, err := f.Store.Mark(ctx, by)
	if f.now != nil {
		at = f.now()
	}
	return epoch, at, err
}

func (f *flaky) Add(ctx context.Context, epoch uint64, list []Increment) error {
	err := f.Store.Add(ctx, epoch, list)
	if err == nil && len(list) > 0 && f.left.Add(-1) >= 0 {
		for i := range list {
			list[i].Taken, list[i].Told = false, false
		}
		return errLost
	}
	return err
}

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

// counted is what the stream has for a subject in all minutes, in the epoch that
// counts.
func (b *bench) counted(ws id.Workspace, name string) (total int64) {
	b.t.Helper()
	of := strings.TrimSuffix(wire.RateIn(b.epoch(), ws, named(name).Token(), 0), "0")
	for subject := range b.subjects() {
		if strings.HasPrefix(subject, of) {
			minute, err := wire.ParseRateBody(b.last(subject).Data)
			require.NoError(b.t, err)
			for _, n := range minute {
				total += n
			}
		}
	}
	return total
}

func (b *bench) epoch() uint64 {
	b.t.Helper()
	epoch, err := wire.ParseRateMark(b.last(wire.SubjectRateMark).Data)
	require.NoError(b.t, err)
	return epoch
}

func (b *bench) sequence(subject string) uint64 { return b.last(subject).Sequence }

func (b *bench) last(subject string) *jetstream.RawStreamMsg {
	b.t.Helper()
	m, err := b.stream().GetLastMsgForSubject(context.Background(), subject)
	require.NoError(b.t, err)
	return m
}

// subjects are those that have something.
func (b *bench) subjects() map[string]uint64 {
	b.t.Helper()
	info, err := b.stream().Info(context.Background(), jetstream.WithSubjectFilter(">"))
	require.NoError(b.t, err)
	return info.State.Subjects
}

func (b *bench) stream() jetstream.Stream {
	b.t.Helper()
	stream, err := b.conn.JetStream().Stream(context.Background(), wire.StreamRate)
	require.NoError(b.t, err)
	return stream
}

// node is a gateway's part with what it stands on.
type node struct {
	*Rates
	store *flaky
	stop  func() // ends it, with what it does at its end
}

// node starts a gateway that ends with the test, and waits until it counts. A
// nil clock is the real one, of the store too.
func (b *bench) node(c *clock, o Options) *node {
	b.t.Helper()
	n := b.start(c, o)
	probe := newWorkspace()
	require.Eventually(b.t, func() bool {
		return minutes(context.Background(), n, probe, "probe")[0].Known
	}, soon, often)
	return n
}

func (b *bench) start(c *clock, o Options) *node {
	b.t.Helper()
	store := &flaky{Store: NewNATS(b.server.Connect())}
	o.Store, o.IDs, o.Log = store, ids, natstest.Discard()
	if c != nil {
		store.now, o.Now = c.now, c.now
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every == 0 {
		o.Every = 5 * time.Millisecond
	}
	if o.Wait == 0 {
		o.Wait = soon
	}
	n := &node{Rates: New(o, prometheus.NewRegistry()), store: store}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	n.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(b.t, <-done)
	})
	b.t.Cleanup(n.stop)
	return n
}

// named is a name of its own for each text.
func named(text string) Name {
	sum := sha256.Sum256([]byte(text))
	return Name{Kind: 's', IDs: [...]uuid.UUID{uuid.UUID(sum[:16]), {}, {}}}
}

// minutes are what a gateway sees of subjects.
func minutes(ctx context.Context, p part, ws id.Workspace, names ...string) []Minute {
	asked := make([]Asked, len(names))
	for i, name := range names {
		asked[i].Name = named(name)
	}
	return p.AppendMinutes(ctx, nil, ws, asked)
}

// used is what a gateway sees of a subject.
func used(p part, ws id.Workspace, name string) int64 {
	return minutes(context.Background(), p, ws, name)[0].Used
}

// wait is how long a gateway has a request wait for a limit.
func wait(p part, ws id.Workspace, name string, limit int64) time.Duration {
	return p.AppendMinutes(context.Background(), nil, ws, []Asked{{named(name), limit}})[0].Wait
}
