package spool

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// database stands for the usage consumer and Postgres: it takes from the
// stream what it is told to take, and answers for what it has.
type database struct {
	t    *testing.T
	conn *natsconn.Conn

	mu   sync.Mutex
	rows map[string]wire.UsageEvent
	seqs map[uint64]bool
	lost []wire.UsageLost

	batches int
}

func newDatabase(t *testing.T, conn *natsconn.Conn) *database {
	d := &database{t: t, conn: conn, rows: map[string]wire.UsageEvent{}, seqs: map[uint64]bool{}}
	_, err := conn.NATS().Subscribe(wire.SubjectMarks, func(msg *nats.Msg) {
		body, _ := json.Marshal(wire.MarkReply{Committed: d.mark()})
		_ = msg.Respond(body)
	})
	require.NoError(t, err)
	return d
}

func (d *database) mark() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	var n uint64
	for d.seqs[n+1] {
		n++
	}
	return n
}

func (d *database) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rows)
}

// take moves up to n messages from the stream into the rows, as far as NATS
// answers.
func (d *database) take(n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	source, err := d.conn.JetStream().CreateOrUpdateConsumer(ctx, wire.StreamUsage,
		jetstream.ConsumerConfig{Durable: wire.ConsumerUsage, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return
	}
	batch, err := source.FetchNoWait(n)
	if err != nil {
		return
	}
	for msg := range batch.Messages() {
		d.store(msg)
		_ = msg.Ack() // what NATS did not hear comes again, and is known
	}
}

func (d *database) store(msg jetstream.Msg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if msg.Headers().Get(wire.HeaderUsageLost) != "" {
		var lost wire.UsageLost
		require.NoError(d.t, json.Unmarshal(msg.Data(), &lost))
		d.lost = append(d.lost, lost)
		for seq := lost.First; seq <= lost.Last; seq++ {
			d.seqs[seq] = true
		}
		return
	}
	records := [][]byte{msg.Data()}
	if n := msg.Headers().Get(wire.HeaderUsageBatch); n != "" {
		body, err := wire.DecompressUsage(msg.Data(), msg.Headers().Get(wire.HeaderUsageEncoding))
		require.NoError(d.t, err)
		var rest []byte
		records, rest = wire.UsageRecords(body, wire.MaxUsageBatch)
		require.Empty(d.t, rest)
		require.Equal(d.t, n, strconv.Itoa(len(records)))
		d.batches++
	}
	first := msg.Headers().Get(wire.HeaderUsageSequence)
	for i, record := range records {
		var ev wire.UsageEvent
		require.NoError(d.t, json.Unmarshal(record, &ev))
		require.True(d.t, strings.HasSuffix(msg.Subject(), ev.Gateway.String()))
		require.Equal(d.t, first, strconv.FormatUint(ev.Sequence-uint64(i), 10), "the header must tell each record's sequence")
		d.rows[ev.ID.String()] = ev
		d.seqs[ev.Sequence] = true
	}
}

// takes waits until want rows are there.
func (d *database) takes(want int) {
	d.t.Helper()
	require.Eventually(d.t, func() bool {
		d.take(100)
		return d.count() >= want
	}, 30*time.Second, 5*time.Millisecond)
	require.Equal(d.t, want, d.count())
}

type shipping struct {
	t      *testing.T
	server *natstest.Server
	conn   *natsconn.Conn
	spool  *Spool
	stop   func()
}

func startShipping(t *testing.T, server *natstest.Server, dir string) *shipping {
	t.Helper()
	return startLooking(t, server, dir, 20*time.Millisecond)
}

func startLooking(t *testing.T, server *natstest.Server, dir string, every time.Duration) *shipping {
	t.Helper()
	conn := server.Connect()
	s, err := Open(dir, Options{
		NATS: conn.NATS(), SegmentBytes: 8 << 10, Window: 16, MessageRecords: 8, AckTimeout: time.Second, MarkEvery: every,
		StallAfter: 10 * every,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	sh := &shipping{t: t, server: server, conn: conn, spool: s}
	sh.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, s.Close())
	})
	t.Cleanup(sh.stop)
	return sh
}

func (sh *shipping) complete(n int) {
	sh.t.Helper()
	for range n {
		req := newRequest()
		require.NoError(sh.t, sh.spool.Intent(intentOf(req)))
		require.NoError(sh.t, sh.spool.Complete(eventOf(req)))
	}
}

func (sh *shipping) flush() {
	sh.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(sh.t, sh.spool.Flush(ctx))
}

func (sh *shipping) settles() {
	sh.t.Helper()
	require.Eventually(sh.t, func() bool {
		st := sh.spool.Status()
		return st.Pending == 0 && st.Segments <= 2
	}, 20*time.Second, 5*time.Millisecond, "committed segments must go")
}

func TestRunShipsAndFreesWhatIsCommitted(t *testing.T) {
	server := natstest.New(t)
	db := newDatabase(t, server.Ready())
	sh := startShipping(t, server, t.TempDir())
	sh.complete(200)
	sh.flush()
	require.EqualValues(t, 200, sh.spool.Status().Pending, "an acknowledged record is not a committed one")
	db.takes(200)
	sh.settles()
	sh.complete(3)
	db.takes(203)
	sh.settles()
	require.EqualValues(t, 203, db.mark())
	require.NotZero(t, db.batches)
	require.Empty(t, sh.spool.taken, "nothing must be kept of what is committed")
}

func TestFlushGivesUpWithItsContext(t *testing.T) {
	server := natstest.New(t)
	sh := startShipping(t, server, t.TempDir())
	sh.complete(2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, sh.spool.Flush(ctx), context.Canceled)
}

func TestOutageOfNATSOnlyDelays(t *testing.T) {
	server := natstest.New(t)
	db := newDatabase(t, server.Ready())
	server.Stop()
	sh := startShipping(t, server, t.TempDir()) // starts while NATS is away
	sh.complete(50)
	server.Start()
	db.takes(50)
	for range 3 {
		sh.complete(40)
		server.Stop()
		sh.complete(40)
		server.Start()
	}
	db.takes(290)
	sh.settles()
}

func TestRestartOfTheGatewayShipsWhatIsLeft(t *testing.T) {
	server := natstest.New(t)
	db := newDatabase(t, server.Ready())
	dir := t.TempDir()
	server.Stop()
	sh := startShipping(t, server, dir)
	sh.complete(30)
	require.NoError(t, sh.spool.Intent(intentOf(newRequest())))
	sh.stop()
	server.Start()
	sh = startShipping(t, server, dir)
	db.takes(31)
	sh.settles()
}

func TestWipedNATSLosesNothing(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	db := newDatabase(t, conn)
	sh := startShipping(t, server, t.TempDir())
	sh.complete(60)
	db.takes(60)
	sh.settles()

	sh.complete(40)
	sh.flush() // acknowledged by the stream, taken by nobody
	server.Wipe()
	server.Ensure(conn)
	db.takes(100)
	sh.settles()

	sh.complete(40)
	sh.flush()
	server.Wipe() // and with records that were not acknowledged yet
	sh.complete(40)
	server.Ensure(conn)
	db.takes(180)
	sh.settles()
	require.NotZero(t, sh.spool.counts.republishes)
	require.EqualValues(t, 180, db.mark())
}

func TestUncommittedRecordsStayWhileTheConsumerIsAway(t *testing.T) {
	server := natstest.New(t)
	conn := server.Ready()
	sh := startShipping(t, server, t.TempDir())
	sh.complete(20)
	sh.flush()
	db := newDatabase(t, conn) // answers marks from now on, and takes nothing
	require.Eventually(t, func() bool {
		sh.spool.mu.Lock()
		defer sh.spool.mu.Unlock()
		return sh.spool.counts.marks > 30
	}, 20*time.Second, 5*time.Millisecond)
	require.Zero(t, sh.spool.counts.republishes, "what waits in the stream is not lost")
	require.EqualValues(t, 20, sh.spool.Status().Pending)
	db.takes(20)
	sh.settles()
}

// smallStream makes the usage stream with room for so many messages.
func smallStream(t *testing.T, conn *natsconn.Conn, messages int64) jetstream.Stream {
	t.Helper()
	require.Eventually(t, conn.Connected, 10*time.Second, 5*time.Millisecond)
	stream, err := conn.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{
		Name: wire.StreamUsage, Subjects: []string{wire.SubjectUsage + ".>"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, MaxMsgs: messages, Duplicates: 100 * time.Millisecond,
	})
	require.NoError(t, err)
	return stream
}

func TestRecordsThatVanishFromTheStreamAreShippedAgain(t *testing.T) {
	server := natstest.New(t)
	conn := server.Connect()
	stream := smallStream(t, conn, 1000)
	sh := startShipping(t, server, t.TempDir())
	sh.complete(30)
	sh.flush()
	require.NoError(t, stream.Purge(t.Context())) // the stream itself stays
	db := newDatabase(t, conn)
	db.takes(30)
	sh.settles()

	sh.complete(30)
	sh.flush()
	require.NoError(t, stream.Purge(t.Context(), jetstream.WithPurgeKeep(2))) // only some
	db.takes(60)
	sh.settles()
}

func TestFullStreamWaits(t *testing.T) {
	server := natstest.New(t)
	conn := server.Connect()
	smallStream(t, conn, 5)
	db := newDatabase(t, conn)
	sh := startShipping(t, server, t.TempDir())
	sh.complete(120)
	require.Eventually(t, func() bool {
		sh.spool.mu.Lock()
		defer sh.spool.mu.Unlock()
		return sh.spool.counts.publishErrors > 1
	}, 20*time.Second, 5*time.Millisecond, "the stream must have been full")
	db.takes(120)
	sh.settles()
}

func TestLostRunIsShipped(t *testing.T) {
	server := natstest.New(t)
	db := newDatabase(t, server.Ready())
	dir := t.TempDir()
	path := fill(t, dir, 4)
	at := nthFrame(t, path, 1)
	change(t, path, func(b []byte) []byte { b[at+frameHead+40] ^= 1; return b })
	sh := startShipping(t, server, dir)
	db.takes(3)
	sh.settles()
	require.Equal(t, []wire.UsageLost{{Gateway: sh.spool.GatewayID(), First: 2, Last: 2, Reason: lostReason}}, db.lost)
}

func TestMetrics(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	require.NoError(t, s.Complete(eventOf(newRequest())))
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(s))
	families, err := registry.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, f := range families {
		values[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue() + f.GetMetric()[0].GetCounter().GetValue()
	}
	require.Equal(t, "1 1", fmt.Sprint(values["signalbox_gateway_spool_pending_events"], values["signalbox_gateway_spool_events_total"]))
	require.Positive(t, values["signalbox_gateway_spool_bytes"])
	require.Len(t, values, 16)
}
