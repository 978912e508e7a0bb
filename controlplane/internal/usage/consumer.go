package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Topology is what Run attaches to.
type Topology interface {
	// Await returns once the usage stream is there, or with ctx's error.
	Await(ctx context.Context) error
}

// Writer is where usage goes.
type Writer interface {
	// WriteUsage stores b in one transaction, each entry exactly once whatever
	// was stored before: a repeat changes nothing, and a completed entry takes
	// the place of an unknown one with its id. It fails with ErrRejected when
	// the database will never take b as it is; any other failure may pass.
	WriteUsage(ctx context.Context, b Batch) (Written, error)
	// UsageMark returns the last sequence of gw up to which everything is
	// stored.
	UsageMark(ctx context.Context, gw id.Gateway) (uint64, error)
}

// ErrRejected says that the database refuses the data itself.
var ErrRejected = errors.New("usage was rejected by the database")

// Bounds of a consumer.
const (
	batchSize  = 500                   // records in one transaction, but for what comes with the last of them
	fetchMost  = 64                    // messages, of up to wire.MaxUsageBatch records, in hand at a time
	linger     = 50 * time.Millisecond // for a batch to fill
	fetchWait  = 2 * time.Second
	ackWait    = 10 * time.Second // what a dead control plane had in hand waits for so long
	stillEvery = ackWait / 3
	ackPending = 20_000 // over all consumers
	finishIn   = 15 * time.Second
	minPause   = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// Consumer moves usage events from the stream into the database. Any number
// may run in any number of processes: they share one durable consumer, and what
// two of them get is stored once.
type Consumer struct {
	conn     *natsconn.Conn
	topology Topology
	writer   Writer
	log      *slog.Logger
	workers  int
	counts   counts
}

// NewConsumer returns a Consumer that works with so many batches at a time.
func NewConsumer(conn *natsconn.Conn, topology Topology, w Writer, workers int, log *slog.Logger) *Consumer {
	return &Consumer{conn: conn, topology: topology, writer: w, log: log, workers: max(workers, 1)}
}

// Run consumes and answers gateways' questions for their mark until ctx ends.
// It outlives every outage of NATS and the database. A batch in hand when ctx
// ends is still finished.
func (c *Consumer) Run(ctx context.Context) error {
	stop, err := c.answerMarks(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var wg sync.WaitGroup
	for range c.workers {
		wg.Go(func() { c.newWorker().work(ctx) })
	}
	wg.Wait()
	return nil
}

// worker is one loop of a Consumer.
type worker struct {
	*Consumer
	pause time.Duration // after the next failure; grows while they follow each other
	still time.Duration // between words to the server that a batch is in hand
	back  chan struct{} // NATS is reached again
}

func (c *Consumer) newWorker() *worker {
	return &worker{Consumer: c, pause: minPause, still: stillEvery, back: make(chan struct{}, 1)}
}

// connected ends the pause, which may have grown long while NATS was away.
func (w *worker) connected() {
	select {
	case w.back <- struct{}{}:
	default:
	}
}

func (w *worker) work(ctx context.Context) {
	defer w.conn.OnConnect(w.connected)()
	for {
		err := w.consume(ctx)
		if ctx.Err() != nil {
			return
		}
		w.counts.failures.Add(1)
		if !errors.Is(err, natsconn.ErrNotConnected) {
			w.log.Warn("usage consumption is interrupted", slog.Any("error", err), slog.Duration("retry_in", w.pause))
		}
		select {
		case <-ctx.Done():
			return
		case <-w.back:
			w.pause = minPause
			continue
		case <-time.After(w.pause):
		}
		w.pause = min(2*w.pause, maxPause)
	}
}

// consume stores batches until something fails or ctx ends.
func (w *worker) consume(ctx context.Context) error {
	if err := w.conn.Ready(); err != nil {
		return err
	}
	if err := w.topology.Await(ctx); err != nil {
		return err
	}
	source, err := w.conn.JetStream().CreateOrUpdateConsumer(ctx, wire.StreamUsage, jetstream.ConsumerConfig{
		Durable:       wire.ConsumerUsage,
		Description:   "moves usage events into Postgres",
		AckPolicy:     jetstream.AckExplicitPolicy,
		AckWait:       ackWait,
		MaxAckPending: ackPending,
		MaxDeliver:    -1, // an event is never given up on
	})
	if err != nil {
		return fmt.Errorf("attach to the usage stream: %w", err)
	}
	for ctx.Err() == nil {
		if err := w.fetch(ctx, source); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// fetch asks for one batch and stores what comes, in parts when it trickles in.
func (w *worker) fetch(ctx context.Context, source jetstream.Consumer) error {
	fetchCtx, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	incoming, err := source.Fetch(fetchMost, jetstream.FetchContext(fetchCtx))
	if err != nil {
		return fmt.Errorf("fetch usage: %w", err)
	}
	for more := true; more; {
		var part []jetstream.Msg
		if part, more = gather(incoming.Messages()); len(part) == 0 {
			break
		}
		if err := w.finish(ctx, part); err != nil {
			w.putBack(part, incoming.Messages())
			return err
		}
		w.pause = minPause
	}
	if err := incoming.Error(); err != nil && fetchCtx.Err() == nil {
		return fmt.Errorf("fetch usage: %w", err)
	}
	return nil
}

// finish stores part. It is not cut off by ctx: what was delivered is best
// stored. The server is told from time to time that part is in hand, so that a
// slow database does not have it delivered again on top.
func (w *worker) finish(ctx context.Context, part []jetstream.Msg) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishIn)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(w.still)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, msg := range part {
				_ = msg.InProgress() // a word that is lost brings repeats at worst
			}
		}
	})
	defer wg.Wait()
	defer cancel()
	return w.store(ctx, part)
}

// putBack has messages redelivered after the pause that the failure calls for,
// to whoever asks first. Without it the server would wait for ackWait.
func (w *worker) putBack(part []jetstream.Msg, rest <-chan jetstream.Msg) {
	for _, msg := range part {
		_ = msg.NakWithDelay(w.pause)
	}
	for {
		select {
		case msg, ok := <-rest:
			if !ok {
				return
			}
			_ = msg.NakWithDelay(w.pause)
		default:
			return
		}
	}
}

// gather returns what arrives within linger of the first message, or until that
// is a batch, and whether there may be more.
func gather(in <-chan jetstream.Msg) ([]jetstream.Msg, bool) {
	first, ok := <-in
	if !ok {
		return nil, false
	}
	part := append(make([]jetstream.Msg, 0, fetchMost), first)
	records := recordsIn(first)
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for records < batchSize {
		select {
		case msg, ok := <-in:
			if !ok {
				return part, false
			}
			part = append(part, msg)
			records += recordsIn(msg)
		case <-timer.C:
			return part, true
		}
	}
	return part, true
}
