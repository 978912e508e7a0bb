package publish

import (
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var room = natsconn.Room{Messages: 1 << 18, Bytes: -1}

// listen hears receipts and heartbeats until stop, which is there with an error
// too. What is lost while NATS is away, the next heartbeats tell again.
func (p *Publisher) listen() (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, end := range stops {
			end()
		}
	}
	for subject, handle := range map[string]nats.MsgHandler{
		wire.SubjectReceipt + ".*":   p.receipt,
		wire.SubjectHeartbeat + ".*": p.heartbeat,
	} {
		end, err := p.d.Conn.Listen(subject, "", room, handle)
		if err != nil {
			return stop, err
		}
		stops = append(stops, end)
	}
	return stop, nil
}

func (p *Publisher) receipt(msg *nats.Msg) {
	var r wire.Receipt
	if err := json.Unmarshal(msg.Data, &r); err != nil || !sender(msg, r.Gateway) {
		p.unreadable(msg)
		return
	}
	p.d.Tracker.Acknowledge(r, p.d.Now())
}

func (p *Publisher) heartbeat(msg *nats.Msg) {
	var h wire.Heartbeat
	if err := json.Unmarshal(msg.Data, &h); err != nil || !sender(msg, h.Gateway) {
		p.unreadable(msg)
		return
	}
	p.d.Registry.Heard(h)
	p.d.Tracker.Signal()
}

// sender reports whether the message comes from the gateway it speaks of: the
// subject is what NATS permissions are given for.
func sender(msg *nats.Msg, g id.Gateway) bool {
	return !g.IsZero() && strings.HasSuffix(msg.Subject, "."+g.String())
}

func (p *Publisher) unreadable(msg *nats.Msg) {
	p.metrics.unreadable.Add(1)
	p.d.Log.Warn("report of a gateway is not readable", slog.String("subject", msg.Subject))
}
