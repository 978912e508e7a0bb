// Package checks owns how a control plane has a gateway make a call with a
// credential: a question over NATS, which one of the gateways answers. It does
// not know what the call is.
package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// slack is for the way there and back, after the time of the call itself.
const slack = 2 * time.Second

// Asker asks gateways. It is safe for concurrent use.
type Asker struct {
	conn   *natsconn.Conn
	ids    *id.Source
	within time.Duration
}

// NewAsker returns an Asker.
func NewAsker(conn *natsconn.Conn, ids *id.Source) *Asker {
	return &Asker{conn: conn, ids: ids, within: wire.CheckWithin + slack}
}

// Check asks one gateway. It fails with unavailable when none answers.
func (a *Asker) Check(ctx context.Context, q wire.CheckRequest) (wire.CheckReply, error) {
	ctx, cancel := context.WithTimeout(ctx, a.within)
	defer cancel()
	reply, err := a.ask(ctx, q)
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, nats.ErrNoResponders):
		return reply, fault.Wrap(err, fault.Unavailable, "No gateway runs that could make the call. Try again when one does.")
	}
	return reply, fault.Wrap(err, fault.Unavailable, "No gateway answered in time. Try again shortly.")
}

func (a *Asker) ask(ctx context.Context, q wire.CheckRequest) (reply wire.CheckReply, err error) {
	if err := a.conn.Ready(); err != nil {
		return reply, err
	}
	body, err := json.Marshal(q)
	if err != nil {
		return reply, fmt.Errorf("encode a check: %w", err)
	}
	to := wire.SubjectChecked + "." + a.ids.UUID().String()
	sub, err := a.conn.NATS().SubscribeSync(to)
	if err != nil {
		return reply, fmt.Errorf("listen for the outcome of a check: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may have ended it already
	if err := a.conn.NATS().PublishRequest(wire.SubjectCheck, to, body); err != nil {
		return reply, fmt.Errorf("ask for a check: %w", err)
	}
	m, err := sub.NextMsgWithContext(ctx)
	if err != nil {
		return reply, fmt.Errorf("wait for the outcome of a check: %w", err)
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return reply, fmt.Errorf("read the outcome of a check: %w", err)
	}
	if reply.Status == "" && reply.Trouble == "" {
		return reply, errors.New("the outcome of a check says nothing")
	}
	return reply, nil
}
