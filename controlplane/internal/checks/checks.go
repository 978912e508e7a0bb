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

	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
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

// Check implements byok.Checker.
func (a *Asker) Check(ctx context.Context, q wire.CheckRequest) (wire.CheckReply, error) {
	ctx, cancel := context.WithTimeout(ctx, a.within)
	defer cancel()
	reply, err := a.ask(ctx, q)
	switch {
	case err == nil:
		return reply, nil
	case errors.Is(err, natsconn.ErrNobody):
		return reply, fault.Wrap(fmt.Errorf("%w: %w", byok.ErrNotAsked, err), fault.Unavailable, "No gateway runs that could make the call. Try again when one does.")
	case errors.Is(err, natsconn.ErrNotConnected):
		err = fmt.Errorf("%w: %w", byok.ErrNotAsked, err)
	}
	return reply, fault.Wrap(err, fault.Unavailable, "No gateway answered in time. Try again shortly.")
}

func (a *Asker) ask(ctx context.Context, q wire.CheckRequest) (wire.CheckReply, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return wire.CheckReply{}, fmt.Errorf("encode a check: %w", err)
	}
	answer, err := a.conn.Ask(ctx, wire.SubjectCheck, wire.SubjectChecked+"."+a.ids.UUID().String(), body)
	if err != nil {
		return wire.CheckReply{}, err
	}
	return wire.ParseCheckReply(answer)
}

var _ byok.Checker = (*Asker)(nil)
