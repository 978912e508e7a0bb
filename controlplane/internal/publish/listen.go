package publish

import (
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const pendingReports = 1 << 18

// listen hears receipts and heartbeats. What is lost while NATS is away, the
// next heartbeats tell again.
func (p *Publisher) listen() (stop func(), err error) {
	var subs []*nats.Subscription
	stop = func() {
		for _, s := range subs {
			_ = s.Unsubscribe() // fails only on a connection that is closed already
		}
	}
	for subject, handle := range map[string]nats.MsgHandler{
		wire.SubjectReceipt + ".*":   p.receipt,
		wire.SubjectHeartbeat + ".*": p.heartbeat,
	} {
		sub, err := p.d.Conn.NATS().Subscribe(subject, handle)
		if err != nil {
			return stop, err
		}
		subs = append(subs, sub)
		if err := sub.SetPendingLimits(pendingReports, -1); err != nil {
			return stop, err
		}
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
