package spool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// packing is the state of putting records into messages: what was read from the
// spool and does not belong to the message that was finished last.
type packing struct {
	events  []event // of the message that is being put together
	size    int     // of its body
	ahead   event   // read, and the first of the next message
	isAhead bool
}

// pack reads records for one message: those that follow each other, within the
// bounds of a message, or one that travels alone. It returns false when there
// is none to be read. The events hold until the next call.
func (sh *shipper) pack() ([]event, position, bool, error) {
	p := &sh.packing
	p.events, p.size = p.events[:0], 0
	mark := sh.s.mark()
	after := sh.cursor.at
	for {
		e, ok, err := sh.read()
		if err != nil || !ok {
			// An error comes again with the next call.
			if len(p.events) > 0 {
				return p.events, after, true, nil
			}
			return nil, after, false, err
		}
		if e.last <= mark {
			continue
		}
		if !sh.fits(e) {
			p.ahead, p.isAhead = e, true
			return p.events, after, true, nil
		}
		p.events = append(p.events, e)
		p.size += wire.UsageRecordSize(len(e.body))
		after = sh.cursor.at
	}
}

func (sh *shipper) read() (event, bool, error) {
	if p := &sh.packing; p.isAhead {
		p.isAhead = false
		return p.ahead, true, nil
	}
	return sh.cursor.next()
}

// fits says whether e goes into the message that is being put together. What
// is not an ordinary completion travels alone, under a message id of its own.
func (sh *shipper) fits(e event) bool {
	p := &sh.packing
	n := len(p.events)
	if n == 0 {
		return true
	}
	newest := p.events[n-1]
	return !e.alone() && !newest.alone() && e.seq == newest.seq+1 && n < sh.s.opts.MessageRecords &&
		p.size+wire.UsageRecordSize(len(e.body)) <= sh.most
}

func (e event) alone() bool { return e.lost || e.unknown }

// message is events as the usage stream takes them. The message id lets the
// stream drop a repeat; an unknown event has one of its own, so that it does
// not hide a completion.
func (s *Spool) message(events []event) *nats.Msg {
	msg := nats.NewMsg(wire.SubjectUsage + "." + s.gateway.String())
	first := events[0]
	msg.Header[wire.HeaderUsageSequence] = []string{strconv.FormatUint(first.seq, 10)}
	id := first.id.String()
	switch {
	case first.lost:
		body, err := json.Marshal(wire.UsageLost{Gateway: s.gateway, First: first.seq, Last: first.last, Reason: string(first.body)})
		if err != nil {
			panic("spool: a lost run cannot be encoded: " + err.Error())
		}
		msg.Data = body
		msg.Header[wire.HeaderUsageLost] = []string{"1"}
		id = fmt.Sprintf("lost.%s.%d", s.gateway, first.seq)
	case len(events) > 1:
		msg.Data = batchOf(events)
		msg.Header[wire.HeaderUsageBatch] = []string{strconv.Itoa(len(events))}
		id = batchID(events)
	default:
		msg.Data = first.body
		if first.unknown {
			id += ".unknown"
		}
	}
	msg.Header[jetstream.MsgIDHeader] = []string{id}
	return msg
}

func batchOf(events []event) []byte {
	size := 0
	for _, e := range events {
		size += wire.UsageRecordSize(len(e.body))
	}
	body := make([]byte, 0, size)
	for _, e := range events {
		body = wire.AppendUsageRecord(body, e.body)
	}
	return body
}

// batchID tells a batch by what is in it. Sequences alone would not do: a
// machine that lost its newest records gives theirs to others.
func batchID(events []event) string {
	sum := sha256.New()
	var head [eventHead]byte
	for _, e := range events {
		_, _ = sum.Write(appendEventHead(head[:0], e.seq, e.id, e.unknown))
	}
	return "batch." + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}
