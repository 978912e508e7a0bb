package cell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// NATS is the documents in the stream of cells. Requests wait for its answers:
// nothing else should be sent in bulk over its connection.
type NATS struct{ conn *natsconn.Conn }

// NewNATS returns the documents as they are reached over conn.
func NewNATS(conn *natsconn.Conn) *NATS { return &NATS{conn: conn} }

// OnConnect implements Store.
func (s *NATS) OnConnect(fn func()) (cancel func()) { return s.conn.OnConnect(fn) }

// conflictOfReplicas is what servers of a replicated stream say where a single
// one says jetstream.JSErrCodeStreamWrongLastSequence; the client has no name for
// it.
const conflictOfReplicas jetstream.ErrorCode = 10164

// Save implements Store.
func (s *NATS) Save(ctx context.Context, subject string, body []byte, before uint64, life time.Duration) (uint64, error) {
	if err := s.conn.Ready(); err != nil {
		return 0, err
	}
	msg := &nats.Msg{Subject: subject, Data: body, Header: nats.Header{
		jetstream.ExpectedLastSubjSeqHeader: {strconv.FormatUint(before, 10)},
		jetstream.MsgTTLHeader:              {life.String()},
	}}
	reply, err := s.conn.NATS().RequestMsgWithContext(ctx, msg)
	if err != nil {
		return 0, fmt.Errorf("write a limit: %w", err)
	}
	var ack struct {
		Error    *jetstream.APIError `json:"error"`
		Sequence uint64              `json:"seq"`
	}
	if err := json.Unmarshal(reply.Data, &ack); err != nil {
		return 0, fmt.Errorf("decode the answer to a written limit: %w", err)
	}
	if ack.Error != nil {
		if c := ack.Error.ErrorCode; c == jetstream.JSErrCodeStreamWrongLastSequence || c == conflictOfReplicas {
			return 0, ErrConflict
		}
		return 0, fmt.Errorf("write a limit: %w", ack.Error)
	}
	if ack.Sequence == 0 {
		return 0, errors.New("write a limit: the answer has no sequence")
	}
	return ack.Sequence, nil
}

// Load implements Store. The stream's leader answers.
func (s *NATS) Load(ctx context.Context, subject string) (Stored, error) {
	msg, err := s.conn.Last(ctx, wire.StreamCells, subject)
	if err != nil {
		return Stored{}, fmt.Errorf("read a limit: %w", err)
	}
	if msg == nil {
		return Stored{}, nil
	}
	return Stored{Body: msg.Data, Sequence: msg.Sequence}, nil
}

// Time implements Store.
func (s *NATS) Time(ctx context.Context) (time.Time, error) {
	if err := s.conn.Ready(); err != nil {
		return time.Time{}, err
	}
	reply, err := s.conn.NATS().RequestWithContext(ctx, "$JS.API.STREAM.INFO."+wire.StreamCells, nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the clock of limits: %w", err)
	}
	var got struct {
		Error *jetstream.APIError `json:"error"`
		Now   time.Time           `json:"ts"`
	}
	if err := json.Unmarshal(reply.Data, &got); err != nil {
		return time.Time{}, fmt.Errorf("decode the clock of limits: %w", err)
	}
	if got.Error != nil {
		return time.Time{}, fmt.Errorf("read the clock of limits: %w", got.Error)
	}
	if got.Now.IsZero() {
		return time.Time{}, errors.New("read the clock of limits: the answer has no time")
	}
	return got.Now, nil
}

// beats is how many heartbeats may wait to be handled; what is lost is said again.
const beats = 1024

// Listen implements Store.
func (s *NATS) Listen(fn func(wire.Heartbeat)) (stop func(), err error) {
	return s.conn.Listen(wire.SubjectHeartbeat+".*", "", natsconn.Room{Messages: beats, Bytes: -1}, func(m *nats.Msg) {
		var beat wire.Heartbeat
		if json.Unmarshal(m.Data, &beat) == nil {
			fn(beat)
		}
	})
}

var _ Store = (*NATS)(nil)
