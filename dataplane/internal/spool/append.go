package spool

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// completionReserve is the room kept for the completion of each open intent
// when the bound is checked: an ordinary event with its decision record.
const completionReserve = 4 << 10

// usualEvent is what an event takes without its decision record.
const usualEvent = 1 << 10

var errClosed = errors.New("the spool is closed")

// Intent writes down that a model attempt is about to be made. It fails with
// fault.Unavailable, to be tried again a second later, when the spool is at its
// bound or the disk refuses writes: then the attempt must not be made.
func (s *Spool) Intent(i Intent) error {
	ev := i.event(s.gateway)
	body := make(jsonappend.Buffer, 0, usualEvent)
	ev.AppendJSON(&body)
	req := i.ID.UUID()

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return unavailable(errClosed)
	}
	s.writeHeld()
	if err := s.room(int64(len(body))); err != nil {
		s.counts.intentsRefused++
		return unavailable(err)
	}
	s.buf = appendFrame(s.buf[:0], kindIntent, req[:], body)
	if err := s.write(s.buf); err != nil {
		s.counts.intentsRefused++
		return unavailable(err)
	}
	s.setOpen(i.ID, body)
	return nil
}

// Complete writes down how model attempts ended, several of one request in one
// write. It fills in Gateway and Sequence. The events are on record when it
// returns nil: on disk, or, while the disk refuses writes, in memory until it
// takes them. An error means that an event is not on record: it cannot be
// encoded, the spool is closed, or it is a refusal by the gateway itself while
// there is no room.
func (s *Spool) Complete(events ...wire.UsageEvent) error {
	list := make([]encoded, 0, len(events))
	for i := range events {
		e, err := encode(&events[i], s.gateway)
		if err != nil {
			return err
		}
		list = append(list, e)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return unavailable(errClosed)
	}
	s.writeHeld()
	var turnedAway error
	kept := list[:0]
	for _, e := range list {
		if err := s.room(int64(e.size())); err != nil && e.refusal {
			s.counts.refusalsDropped++
			turnedAway = unavailable(err)
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) > 0 && (len(s.held) > 0 || s.writeEvents(kept) != nil) {
		s.held = append(s.held, kept...)
	}
	return turnedAway
}

func unavailable(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "The gateway cannot record usage at the moment.").
		From(fault.Gateway).After(time.Second)
}

// room says whether n more bytes may be written. s.mu is held.
func (s *Spool) room(n int64) error {
	if len(s.held) > 0 {
		return errors.New("the spool's disk refuses writes")
	}
	if s.bytes+n+int64(len(s.open))*completionReserve > s.opts.MaxBytes {
		return errors.New("the spool is at its byte bound")
	}
	return nil
}

// setOpen notes that req is open with its newest copy in the active segment.
// s.mu is held.
func (s *Spool) setOpen(req id.Request, body []byte) {
	if old, ok := s.open[req]; ok {
		old.segment.intents--
	}
	s.open[req] = openIntent{body: body, segment: s.active()}
	s.active().intents++
}

// writeEvents gives events their sequences and writes them in one go. On
// failure nothing has changed. s.mu is held.
func (s *Spool) writeEvents(list []encoded) error {
	s.buf = s.buf[:0]
	for i, e := range list {
		s.buf = e.appendFrame(s.buf, s.next+uint64(i), &s.scratch)
	}
	if err := s.write(s.buf); err != nil {
		return err
	}
	s.told(list)
	s.next += uint64(len(list))
	s.active().last = s.next - 1
	for _, e := range list {
		if in, ok := s.open[e.id]; ok {
			in.segment.intents--
			delete(s.open, e.id)
		}
	}
	s.counts.events += uint64(len(list))
	notify(s.wake)
	return nil
}

// writeHeld tries again what the disk refused. s.mu is held.
func (s *Spool) writeHeld() {
	for len(s.held) > 0 {
		n := min(len(s.held), 64)
		if s.writeEvents(s.held[:n]) != nil {
			return
		}
		s.held = s.held[n:]
	}
	s.held = nil
}

// encoded is an event as JSON, in the parts that its sequence goes between.
type encoded struct {
	id             id.Request
	unknown        bool
	refusal        bool   // by the gateway, without an upstream call
	prefix, suffix []byte // the suffix without its closing brace
	decision       []byte // nil without one
	count          Count  // without the sequence
}

var (
	sequenceField = []byte(`"sequence":0`)
	decisionField = []byte(`,"decision":`)
	closing       = []byte(`}`)
)

// encode writes an event of gateway as JSON. The decision record is JSON already
// and large: it is put in as it is, where encoding/json would check and compact
// it once more. A record that would make the event too large for one message is
// left out.
func encode(of *wire.UsageEvent, gateway id.Gateway) (encoded, error) {
	e := *of
	e.Gateway, e.Sequence, e.Decision = gateway, 0, nil
	body := make(jsonappend.Buffer, 0, usualEvent)
	e.AppendJSON(&body)
	const room = maxPayload - eventHead - 20 // digits of the sequence
	if len(body) > room {
		return encoded{}, errors.New("encode usage event: it is too large without its decision record")
	}
	// Only numbers and ids stand before the sequence, so the first match is it.
	at := bytes.Index(body, sequenceField)
	if at < 0 {
		return encoded{}, errors.New("encode usage event: it has no sequence field")
	}
	at += len(sequenceField) - 1
	out := encoded{
		id:      e.ID,
		unknown: e.Outcome == wire.Unknown,
		refusal: e.Outcome == wire.Refused,
		prefix:  body[:at], suffix: body[at+1 : len(body)-1],
		count: countOf(&e),
	}
	if n := len(of.Decision); n > 0 && len(body)+len(decisionField)+n <= room {
		out.decision = of.Decision
	}
	return out, nil
}

func (e *encoded) size() int {
	return frameHead + eventHead + len(e.prefix) + 20 + len(e.suffix) + len(decisionField) + len(e.decision) + len(closing)
}

func (e *encoded) appendFrame(dst []byte, seq uint64, scratch *[eventHead + 20]byte) []byte {
	name := decisionField
	if e.decision == nil {
		name = nil
	}
	return appendFrame(dst, kindEvent,
		appendEventHead(scratch[:0:eventHead], seq, e.id, e.unknown),
		e.prefix, strconv.AppendUint(scratch[eventHead:eventHead], seq, 10), e.suffix, name, e.decision, closing)
}
