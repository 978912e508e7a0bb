package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// packing is the state of putting records into messages: what was read from the
// spool and does not belong to the message that was finished last.
type packing struct {
	events  []event // of the message that is being put together, without bodies
	body    []byte  // their records, as in a batch
	packed  []byte  // the same compressed
	ahead   event   // read, and the first of the next message
	isAhead bool
}

// pack reads records for one message: those that follow each other, within the
// bounds of a message, or one that travels alone. It returns false when there
// is none to be read.
func (sh *shipper) pack() (position, bool, error) {
	p := &sh.packing
	p.events, p.body = p.events[:0], p.body[:0]
	mark := sh.s.mark()
	after := sh.cursor.at
	for {
		e, ok, err := sh.read()
		if err != nil || !ok {
			// An error comes again with the next call.
			if len(p.events) > 0 {
				return after, true, nil
			}
			return after, false, err
		}
		if e.last <= mark {
			continue
		}
		if !sh.fits(e) {
			p.ahead, p.isAhead = e, true // nothing more is read before it is taken
			return after, true, nil
		}
		p.body = wire.AppendUsageRecord(p.body, e.body)
		e.body = nil
		p.events = append(p.events, e)
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
		len(p.body)+wire.UsageRecordSize(len(e.body)) <= sh.most
}

func (e event) alone() bool { return e.lost || e.unknown }

// message is what was packed as the usage stream takes it. The message id lets
// the stream drop a repeat; an unknown event has one of its own, so that it does
// not hide a completion.
func (p *packing) message(gateway id.Gateway) *nats.Msg {
	msg := nats.NewMsg(wire.SubjectUsage + "." + gateway.String())
	first := p.events[0]
	msg.Header[wire.HeaderUsageSequence] = []string{strconv.FormatUint(first.seq, 10)}
	name := first.id.String()
	switch {
	case first.lost:
		body, err := json.Marshal(wire.UsageLost{Gateway: gateway, First: first.seq, Last: first.last, Reason: string(p.only())})
		if err != nil {
			panic("spool: a lost run cannot be encoded: " + err.Error())
		}
		msg.Data = body
		msg.Header[wire.HeaderUsageLost] = []string{"1"}
		name = fmt.Sprintf("lost.%s.%d", gateway, first.seq)
	case len(p.events) > 1:
		p.compress(msg)
		msg.Header[wire.HeaderUsageBatch] = []string{strconv.Itoa(len(p.events))}
		name = batchID(p.events)
	default:
		msg.Data = bytes.Clone(p.only())
		if first.unknown {
			name += ".unknown"
		}
	}
	msg.Header[jetstream.MsgIDHeader] = []string{name}
	return msg
}

// only is the record of a message that has one.
func (p *packing) only() []byte {
	records, _ := wire.UsageRecords(p.body, 1)
	return records[0]
}

// compress puts the records into a batch. The message has its bytes for itself:
// it is sent again, after the next one was packed, when the stream does not answer.
func (p *packing) compress(msg *nats.Msg) {
	packed, encoding := wire.CompressUsage(p.packed[:0], p.body)
	p.packed = packed
	msg.Data = bytes.Clone(packed)
	if encoding != "" {
		msg.Header[wire.HeaderUsageEncoding] = []string{encoding}
	}
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
