package usage

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// writing is a Writer that does what it is told.
type writing func(context.Context, Batch) (Written, error)

func (w writing) WriteUsage(ctx context.Context, b Batch) (Written, error) { return w(ctx, b) }

func (writing) UsageMark(context.Context, id.Gateway) (uint64, error) { return 0, nil }

// always is a topology that is there whenever NATS is.
type always struct{}

func (always) Await(context.Context) error { return nil }

func TestTheReturnOfNATSEndsThePause(t *testing.T) {
	server := natstest.New(t)
	server.Ready()
	server.Stop()
	var stored atomic.Int64
	c := NewConsumer(server.Connect(), always{}, writing(func(_ context.Context, b Batch) (Written, error) {
		stored.Add(int64(len(b.Dead)))
		return Written{}, nil
	}), 1, natstest.Discard())
	w := c.newWorker()
	w.pause = time.Hour // as if NATS had been away for long
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.work(ctx)
	}()
	defer func() {
		cancel()
		<-done
	}()
	require.Eventually(t, func() bool { return c.counts.failures.Load() > 0 }, 10*time.Second, time.Millisecond)
	server.Start()
	send(t, server.Ready())
	require.Eventually(t, func() bool { return stored.Load() == 1 }, 20*time.Second, 5*time.Millisecond)
}

func send(t *testing.T, conn *natsconn.Conn) {
	t.Helper()
	_, err := conn.JetStream().Publish(t.Context(), wire.SubjectUsage+".somebody", []byte("no event"))
	require.NoError(t, err)
}

// delivered is a message whose delivery is watched.
type delivered struct {
	jetstream.Msg
	words, acks atomic.Int64
}

func (d *delivered) Subject() string      { return wire.SubjectUsage + ".somebody" }
func (d *delivered) Headers() nats.Header { return nil }
func (d *delivered) Data() []byte         { return []byte("no event") }

func (d *delivered) InProgress() error {
	d.words.Add(1)
	return nil
}

func (d *delivered) Ack() error {
	d.acks.Add(1)
	return nil
}

func TestABatchInHandIsKeptFromOthers(t *testing.T) {
	first, second := &delivered{}, &delivered{}
	w := NewConsumer(nil, always{}, writing(func(ctx context.Context, _ Batch) (Written, error) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for first.words.Load() < 3 || second.words.Load() < 3 { // a slow database
			select {
			case <-ctx.Done():
				return Written{}, ctx.Err()
			case <-tick.C:
			}
		}
		return Written{}, nil
	}), 1, natstest.Discard()).newWorker()
	w.still = time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what is in hand is finished all the same
	require.NoError(t, w.finish(ctx, []jetstream.Msg{first, second}))
	require.EqualValues(t, 1, first.acks.Load())
	require.EqualValues(t, 1, second.acks.Load())
}
