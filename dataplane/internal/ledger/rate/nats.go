package rate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// NATS counts in the stream of rates. Its connection should not be one that
// requests wait on.
type NATS struct{ conn *natsconn.Conn }

// NewNATS returns the counters over conn.
func NewNATS(conn *natsconn.Conn) *NATS { return &NATS{conn: conn} }

// OnConnect implements Store.
func (s *NATS) OnConnect(fn func()) (cancel func()) { return s.conn.OnConnect(fn) }

// headerIncrement is what a message adds to the counter of its subject.
const headerIncrement = "Nats-Incr"

// ack answers an increment.
type ack struct {
	Error     *jetstream.APIError `json:"error"`
	Duplicate bool                `json:"duplicate"`
	Value     string              `json:"val"`
}

func parseAck(m *nats.Msg) (ack, error) {
	var a ack
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, fmt.Errorf("decode the answer to a count: %w", err)
	}
	if a.Error != nil {
		return a, a.Error
	}
	return a, nil
}

// Mark implements Store.
func (s *NATS) Mark(ctx context.Context, by uint64) (epoch uint64, at time.Time, err error) {
	if err := s.conn.Ready(); err != nil {
		return 0, at, err
	}
	msg := nats.NewMsg(wire.SubjectRateMark)
	msg.Header.Set(headerIncrement, strconv.FormatUint(by, 10))
	reply, err := s.conn.NATS().RequestMsgWithContext(ctx, msg)
	if err == nil {
		_, err = parseAck(reply)
	}
	if err == nil {
		epoch, at, err = s.marked(ctx)
	}
	if err != nil {
		return 0, at, fmt.Errorf("mark the epoch of rates: %w", err)
	}
	return epoch, at, nil
}

// marked is the mark as the stream's leader has it, and when it was stored: after
// this gateway asked for it, by whoever did so last.
func (s *NATS) marked(ctx context.Context) (epoch uint64, at time.Time, err error) {
	msg, err := s.conn.Last(ctx, wire.StreamRate, wire.SubjectRateMark)
	switch {
	case err != nil:
		return 0, at, err
	case msg == nil:
		return 0, at, errors.New("the mark is gone")
	}
	epoch, err = wire.ParseRateMark(msg.Data)
	return epoch, msg.Time, err
}

// Add implements Store: everything is sent, then all answers are awaited.
func (s *NATS) Add(ctx context.Context, epoch uint64, list []Increment) error {
	if err := s.conn.Ready(); err != nil {
		return err
	}
	nc := s.conn.NATS()
	inbox := nc.NewInbox()
	answers, err := nc.SubscribeSync(inbox + ".*")
	if err != nil {
		return err
	}
	defer func() { _ = answers.Unsubscribe() }() // fails only where it has ended already
	for i := range list {
		inc := &list[i]
		msg := nats.NewMsg(wire.RateIn(epoch, inc.Workspace, inc.Name, inc.Minute))
		msg.Reply = inbox + "." + strconv.Itoa(i)
		msg.Header.Set(headerIncrement, inc.By.Text())
		msg.Header.Set(jetstream.MsgIDHeader, inc.ID)
		if err := nc.PublishMsg(msg); err != nil {
			return fmt.Errorf("count rates: %w", err)
		}
		inc.Tried = true
	}
	var failed error
	for range list {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return fmt.Errorf("count rates: %w", err)
		}
		i, err := strconv.Atoi(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:])
		if err != nil || i < 0 || i >= len(list) {
			continue
		}
		if err := list[i].answered(m); err != nil {
			failed = fmt.Errorf("count rates: %w", err)
		}
	}
	return failed
}

func (inc *Increment) answered(m *nats.Msg) error {
	a, err := parseAck(m)
	if err != nil {
		return err
	}
	inc.Taken = true
	if a.Duplicate || a.Value == "" {
		return nil
	}
	if inc.Total, err = wire.ParseRate(a.Value); err != nil {
		return err
	}
	inc.Told = true
	return nil
}

// Read implements Store. Any server of the stream may answer.
func (s *NATS) Read(ctx context.Context, epoch uint64, list []Ref, visit func(i int, counts *wire.RateMinute)) (now uint64, err error) {
	subjects := append(make([]string, 0, len(list)+1), wire.SubjectRateMark)
	places := make(map[string]int, len(list))
	for i, ref := range list {
		name := wire.RateIn(epoch, ref.Workspace, ref.Name, ref.Minute)
		subjects, places[name] = append(subjects, name), i
	}
	_, err = s.conn.LastOfEach(ctx, wire.StreamRate, subjects, func(name string, body []byte) (err error) {
		if name == wire.SubjectRateMark {
			now, err = wire.ParseRateMark(body)
			return err
		}
		i, ok := places[name]
		if !ok {
			return nil
		}
		counts, err := wire.ParseRateBody(body)
		if err != nil {
			return err
		}
		visit(i, &counts)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("read rates: %w", err)
	}
	return now, nil
}

var _ Store = (*NATS)(nil)
