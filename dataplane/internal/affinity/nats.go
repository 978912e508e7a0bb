package affinity

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A burst must not be dropped while the callback is busy. What is dropped all
// the same costs a cache miss.
var room = natsconn.Room{Messages: 1 << 16, Bytes: 32 << 20}

// NATS keeps documents in the pins bucket, each with a life of its own.
type NATS struct {
	conn   *natsconn.Conn
	reader *document.Reader
	writer *document.Writer
}

// NewNATS keeps documents over conn.
func NewNATS(conn *natsconn.Conn) *NATS {
	return &NATS{conn: conn, reader: document.NewReader(conn), writer: document.NewWriter(conn)}
}

// Get implements Store. Any replica may answer.
func (s *NATS) Get(ctx context.Context, n Name) ([]byte, error) {
	e, err := s.reader.Any(ctx, wire.BucketPins, n.String())
	if errors.Is(err, document.ErrAbsent) {
		return nil, ErrAbsent
	}
	return e.Data, err
}

// Change implements Store by compare-and-set.
func (s *NATS) Change(ctx context.Context, n Name, change func(old []byte) ([]byte, time.Duration)) ([]byte, error) {
	return s.writer.Keep(ctx, wire.BucketPins, n.String(), change)
}

// Watch implements Store with a plain subscription, which survives reconnects:
// a watch of the bucket stalls for seconds after its server restarted.
func (s *NATS) Watch(ctx context.Context, heard func(n Name, doc []byte), missed func()) error {
	connected := make(chan struct{}, 1)
	defer s.conn.OnConnect(func() {
		select {
		case connected <- struct{}{}:
		default:
		}
	})()
	stop, err := s.conn.Listen(wire.SubjectPushPins+".>", "", room, func(msg *nats.Msg) {
		e, err := document.Pushed(msg, wire.SubjectPushPins)
		if err != nil {
			return
		}
		n, ok := ParseName(e.Key)
		switch {
		case !ok:
		case e.Deleted:
			heard(n, nil)
		default:
			heard(n, e.Data)
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	for {
		s.subscribed(ctx)
		missed() // what was written before, or while the connection was away
		select {
		case <-ctx.Done():
			return nil
		case <-connected:
		}
	}
}

// subscribed waits until the server knows of the subscription: what comes
// before that is not heard, and must not count as held. Away, the server will
// know on the next connect.
func (s *NATS) subscribed(ctx context.Context) {
	if s.conn.Connected() {
		ctx, cancel := context.WithTimeout(ctx, writeWithin)
		defer cancel()
		_ = s.conn.NATS().FlushWithContext(ctx) // a connect that follows comes here again
	}
}
