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
	// What was written while the connection was away was not heard.
	defer s.conn.OnConnect(missed)()
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
	// The server has to know of the subscription before what is held counts as
	// complete. Away, it will on the next connect.
	if s.conn.Connected() {
		flush, cancel := context.WithTimeout(ctx, writeWithin)
		_ = s.conn.NATS().FlushWithContext(flush) // a connect that follows calls missed again
		cancel()
	}
	missed()
	<-ctx.Done()
	return nil
}
