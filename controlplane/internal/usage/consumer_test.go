package usage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ids = id.SystemSource()

type bench struct {
	t      testing.TB
	server *natstest.Server
	conn   *natsconn.Conn // the publisher's
	db     *postgres.DB
	store  *usage.Query
	writer *postgres.UsageStore
	ws     id.Workspace
	gw     id.Gateway
	seq    uint64
}

func newBench(t testing.TB) *bench {
	t.Helper()
	server := natstest.New(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: secret.NewString(pgtest.New(t).URL)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	writer := postgres.NewUsageStore(db, id.SystemSource(), time.Now)
	require.NoError(t, usage.NewKeeper(writer, time.Now, natstest.Discard()).Keep(t.Context()))
	return &bench{
		t: t, server: server, conn: server.Ready(), db: db, writer: writer, store: usage.NewQuery(db.Runner(), writer),
		ws: id.New[id.WorkspaceKind](ids), gw: id.New[id.GatewayKind](ids),
	}
}

// there is a topology that the test has made.
type there struct{}

func (there) Await(context.Context) error { return nil }

// consume runs a consumer over w until the test ends or stop is called.
func (b *bench) consume(w usage.Writer) (stop func()) {
	b.t.Helper()
	conn := b.server.Connect()
	c := usage.NewConsumer(conn, there{}, w, 1, natstest.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(b.t, <-done)
	})
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) event() wire.UsageEvent {
	b.seq++
	req := id.New[id.RequestKind](ids)
	return wire.UsageEvent{
		Schema: wire.UsageSchema, ID: req, PrimaryID: req, Workspace: b.ws, Gateway: b.gw, Sequence: b.seq,
		StartedAt: req.Time(), Outcome: wire.Success, Status: 200, DecidedModel: "acme/large", Provider: "acme", Attempts: 1,
		Usage: meter.Usage{Input: 10, Output: 5}, Cost: meter.Cost{Total: 100},
	}
}

// publish sends events without message ids, so that repeats reach the consumer.
func (b *bench) publish(events ...wire.UsageEvent) {
	b.t.Helper()
	for _, ev := range events {
		body, err := json.Marshal(ev)
		require.NoError(b.t, err)
		b.send(ev.Sequence, body)
	}
}

func (b *bench) send(seq uint64, body []byte) {
	b.t.Helper()
	msg := nats.NewMsg(wire.SubjectUsage + "." + b.gw.String())
	msg.Header.Set(wire.HeaderUsageSequence, strconv.FormatUint(seq, 10))
	msg.Data = body
	_, err := b.conn.JetStream().PublishMsg(context.Background(), msg)
	require.NoError(b.t, err)
}

func (b *bench) totals() usage.Totals {
	b.t.Helper()
	report, err := b.store.Usage(context.Background(), b.ws, usage.UsageFilter{})
	require.NoError(b.t, err)
	return report.Totals
}

// drained waits until the stream has nothing left, so that whatever was
// published has been stored and acknowledged.
func (b *bench) drained() {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		stream, err := b.conn.JetStream().Stream(ctx, wire.StreamUsage)
		return err == nil && stream.CachedInfo().State.Msgs == 0
	}, 60*time.Second, 10*time.Millisecond)
}

// mark asks as a gateway does.
func (b *bench) mark() (wire.MarkReply, error) {
	body, err := json.Marshal(wire.MarkRequest{Gateway: b.gw})
	require.NoError(b.t, err)
	msg, err := b.conn.NATS().Request(wire.SubjectMarks, body, time.Second)
	if err != nil {
		return wire.MarkReply{}, err
	}
	var reply wire.MarkReply
	require.NoError(b.t, json.Unmarshal(msg.Data, &reply))
	return reply, nil
}

// flaky is a Writer over the real one that fails before or after the commit.
type flaky struct {
	*postgres.UsageStore
	before, after func() error
	calls         atomic.Int64
}

func (f *flaky) WriteUsage(ctx context.Context, batch usage.Batch) (usage.Written, error) {
	f.calls.Add(1)
	if f.before != nil {
		if err := f.before(); err != nil {
			return usage.Written{}, err
		}
	}
	w, err := f.UsageStore.WriteUsage(ctx, batch)
	if err == nil && f.after != nil {
		err = f.after()
	}
	return w, err
}

var errAway = errors.New("away")

func failing(times int64) func() error {
	var n atomic.Int64
	return func() error {
		if n.Add(1) <= times {
			return errAway
		}
		return nil
	}
}

func TestConsumerStoresEveryEventOnce(t *testing.T) {
	b := newBench(t)
	stop := b.consume(b.writer)
	var events []wire.UsageEvent
	for range 700 {
		events = append(events, b.event())
	}
	b.publish(events...)
	b.publish(events[:50]...)
	b.drained()
	require.EqualValues(t, 700, b.totals().Requests)
	reply, err := b.mark()
	require.NoError(t, err)
	require.Equal(t, wire.MarkReply{Committed: 700}, reply)
	stop()
	require.Eventually(t, func() bool {
		_, err := b.mark()
		return errors.Is(err, nats.ErrNoResponders)
	}, 10*time.Second, 5*time.Millisecond, "a stopped consumer must leave the question to others")
}

func TestDeathBetweenCommitAndAckChangesNothing(t *testing.T) {
	b := newBench(t)
	b.consume(&flaky{UsageStore: b.writer, after: failing(3)})
	for range 40 {
		b.publish(b.event())
	}
	b.drained()
	require.EqualValues(t, 40, b.totals().Requests)
	require.EqualValues(t, 4000, b.totals().Cost)
}

func TestDatabaseAwayLosesNothing(t *testing.T) {
	b := newBench(t)
	w := &flaky{UsageStore: b.writer, before: failing(3)}
	b.consume(w)
	for range 20 {
		b.publish(b.event())
	}
	b.drained()
	require.EqualValues(t, 20, b.totals().Requests)
	require.Greater(t, w.calls.Load(), int64(3))
}

func TestConsumersShareTheWork(t *testing.T) {
	b := newBench(t)
	first, second := &flaky{UsageStore: b.writer}, &flaky{UsageStore: b.writer}
	b.consume(first)
	b.consume(second)
	var wg sync.WaitGroup
	for range 4 { // several gateways at once, all in the same hourly totals
		gw := id.New[id.GatewayKind](ids)
		wg.Go(func() {
			mine := &bench{t: t, conn: b.conn, ws: b.ws, gw: gw}
			for range 500 {
				mine.publish(mine.event())
			}
		})
	}
	wg.Wait()
	b.drained()
	require.EqualValues(t, 2000, b.totals().Requests)
	require.NotZero(t, first.calls.Load())
	require.NotZero(t, second.calls.Load())
}

func TestConsumerOutlivesNATS(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	var sent []wire.UsageEvent
	publish := func(n int) {
		for range n {
			sent = append(sent, b.event())
			b.publish(sent[len(sent)-1])
		}
	}
	publish(50)
	b.server.Restart()
	b.server.Ensure(b.conn)
	publish(50)
	b.drained()
	b.server.Wipe()
	b.server.Ensure(b.conn)
	b.publish(sent...) // as the spools do
	publish(50)
	b.drained()
	require.EqualValues(t, 150, b.totals().Requests)
	require.Eventually(t, func() bool {
		reply, err := b.mark()
		return err == nil && reply.Committed == 150
	}, 10*time.Second, 10*time.Millisecond)
}

func TestPoisonIsKeptAndHoldsUpNothing(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	b.publish(b.event())
	b.seq++
	b.send(b.seq, []byte("not json"))
	bad := b.event()
	bad.Outcome = "odd"
	b.publish(bad, bad)
	b.publish(b.event())
	b.drained()
	require.EqualValues(t, 2, b.totals().Requests)
	reply, err := b.mark()
	require.NoError(t, err)
	require.EqualValues(t, 4, reply.Committed)
	require.Equal(t, []string{"body is not a usage event", "outcome is not known here"}, b.deadLetters())
}

func (b *bench) deadLetters() []string {
	b.t.Helper()
	conn, err := b.db.Direct(context.Background())
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, conn.Close(context.Background())) }()
	var reasons []string
	require.NoError(b.t, conn.QueryRow(context.Background(),
		"SELECT COALESCE(array_agg(reason ORDER BY sequence_first), '{}') FROM usage_dead_letters").Scan(&reasons))
	return reasons
}

// rejecting refuses batches that hold one certain entry, as the database would
// for a reason nobody thought of.
type rejecting struct {
	*postgres.UsageStore
	bad id.Request
}

func (r *rejecting) WriteUsage(ctx context.Context, b usage.Batch) (usage.Written, error) {
	for _, e := range b.Entries {
		if e.ID == r.bad {
			return usage.Written{}, fmt.Errorf("%w: no such thing", usage.ErrRejected)
		}
	}
	return r.UsageStore.WriteUsage(ctx, b)
}

func TestOneRejectedEventDoesNotTakeItsBatchAlong(t *testing.T) {
	b := newBench(t)
	var events []wire.UsageEvent
	for range 33 {
		events = append(events, b.event())
	}
	b.publish(events...)
	b.consume(&rejecting{UsageStore: b.writer, bad: events[20].ID})
	b.drained()
	require.EqualValues(t, 32, b.totals().Requests)
	require.Equal(t, []string{"rejected by the database"}, b.deadLetters())
	reply, err := b.mark()
	require.NoError(t, err)
	require.EqualValues(t, 33, reply.Committed)
}

func TestMarkQuestionsThatCannotBeAnswered(t *testing.T) {
	b := newBench(t)
	b.consume(b.writer)
	require.Eventually(t, func() bool {
		_, err := b.mark()
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	msg, err := b.conn.NATS().Request(wire.SubjectMarks, []byte("?"), time.Second)
	require.NoError(t, err)
	require.JSONEq(t, `{"committed":0,"error":"the question is not readable"}`, string(msg.Data))
	require.NoError(t, b.db.Close())
	reply, err := b.mark()
	require.NoError(t, err)
	require.Equal(t, "the mark could not be looked up", reply.Error)
}
