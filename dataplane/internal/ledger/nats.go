package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// NATS is the counters in the stream of spend. Its connection should be its
// own, so that counting never queues before what a request waits for.
type NATS struct {
	conn    *natsconn.Conn
	gateway id.Gateway
	ids     *id.Source
}

// NewNATS returns the counters as a gateway sees them over conn.
func NewNATS(conn *natsconn.Conn, gw id.Gateway, ids *id.Source) *NATS {
	return &NATS{conn: conn, gateway: gw, ids: ids}
}

// OnConnect implements Store.
func (s *NATS) OnConnect(fn func()) (cancel func()) { return s.conn.OnConnect(fn) }

// Epoch implements Store. The stream's leader answers.
func (s *NATS) Epoch(ctx context.Context) (string, error) {
	msg, err := s.conn.First(ctx, wire.StreamSpend, wire.SubjectSpendMark+".*")
	switch {
	case err != nil:
		return "", fmt.Errorf("look up the epoch of usage: %w", err)
	case msg == nil:
		return "", ErrUnfilled
	}
	return msg.Subject[len(wire.SubjectSpendMark)+1:], nil
}

// Position implements Store. The stream's leader answers.
func (s *NATS) Position(ctx context.Context, epoch string) (at, state uint64, err error) {
	msg, err := s.conn.Last(ctx, wire.StreamSpend, wire.SpendAt(epoch, s.gateway))
	if err != nil {
		return 0, 0, fmt.Errorf("look up the position of usage: %w", err)
	}
	if msg == nil {
		return 0, 0, nil
	}
	at, err = wire.ParsePosition(msg.Data)
	return at, msg.Sequence, err
}

// Commit implements Store as one atomic batch. The message id of the position
// is where it begins: of two batches from one place, sent again after a timeout
// perhaps, the stream takes one.
func (s *NATS) Commit(ctx context.Context, epoch string, from, to uint64, spend amounts) (uint64, error) {
	if err := s.conn.Ready(); err != nil {
		return 0, err
	}
	b := batch{nc: s.conn.NATS(), id: s.ids.UUID().String()}
	for ref, list := range spend {
		if err := b.addAll(epoch, ref, list); err != nil {
			return 0, fmt.Errorf("count usage: %w", err)
		}
	}
	last := b.message(wire.SpendAt(epoch, s.gateway), strconv.FormatUint(to-from, 10))
	last.Header.Set(jetstream.MsgIDHeader, epoch+"."+s.gateway.String()+"."+strconv.FormatUint(from, 10))
	last.Header.Set(headerBatchCommit, "1")
	reply, err := b.nc.RequestMsgWithContext(ctx, last)
	if err != nil {
		return 0, fmt.Errorf("count usage: %w", err)
	}
	var ack struct {
		Error    *jetstream.APIError `json:"error"`
		Sequence uint64              `json:"seq"` // of the last message
		Count    int                 `json:"count"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("decode the answer to counted usage: %w", err)
	}
	if ack.Error != nil {
		return 0, fmt.Errorf("count usage: %w", ack.Error)
	}
	if ack.Count != b.n {
		return 0, fmt.Errorf("count usage: %d of %d messages were taken", ack.Count, b.n)
	}
	return ack.Sequence, nil
}

// Headers of an atomic batch and of an increment.
const (
	headerBatchID       = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"
	headerIncrement     = "Nats-Incr"
)

// batch is an atomic batch that is being sent.
type batch struct {
	nc *nats.Conn
	id string
	n  int
}

func (b *batch) message(subject, increment string) *nats.Msg {
	b.n++
	msg := nats.NewMsg(subject)
	msg.Header.Set(headerBatchID, b.id)
	msg.Header.Set(headerBatchSequence, strconv.Itoa(b.n))
	msg.Header.Set(headerIncrement, increment)
	return msg
}

func (b *batch) add(subject, increment string) error {
	return b.nc.PublishMsg(b.message(subject, increment))
}

// addAll adds what an account used.
func (b *batch) addAll(epoch string, ref accountRef, list []amount) error {
	for _, a := range list {
		if err := b.add(subjectOf(epoch, totalRef{ref, a.day}), a.Text()); err != nil {
			return err
		}
	}
	if !ref.account.Lifetime() {
		return nil
	}
	return b.add(subjectOf(epoch, totalRef{ref, ever}), sum(list).Text())
}

func subjectOf(epoch string, ref totalRef) string {
	if ref.day == ever {
		return wire.SpendEver(epoch, ref.ws, ref.account)
	}
	return wire.SpendOn(epoch, ref.day.time(), ref.ws, ref.account)
}

var _ Store = (*NATS)(nil)
