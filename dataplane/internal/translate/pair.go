package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// pair reads one answer in the upstream's format and writes it in the
// caller's. It implements upstream.Codec.
type pair struct {
	from dialect.Upstream
	to   dialect.Caller
	told dialect.Told
	// names are those of the caller's tools; nil when they are the upstream's.
	names *names
	gauge

	reader dialect.StreamDecoder
	writer dialect.StreamEncoder
	events []conversation.Event
	out    []byte
}

func newPair(from dialect.Upstream, to dialect.Caller, told dialect.Told, input int64) *pair {
	return &pair{from: from, to: to, told: told, gauge: gauge{input: input}}
}

// Whole implements upstream.Codec.
func (p *pair) Whole(body []byte) ([]byte, *upstream.Failure) {
	reply, failure := p.from.DecodeReply(body)
	if failure != nil {
		return nil, failure
	}
	p.reply(reply)
	for i := range reply.Choices {
		for j := range reply.Choices[i].Parts {
			p.names.restore(&reply.Choices[i].Parts[j])
		}
	}
	reply.Usage = p.reported()
	return p.to.EncodeReply(reply, p.told), nil
}

// Event implements upstream.Codec.
func (p *pair) Event(e sse.Event) (upstream.Piece, *upstream.Failure) {
	p.open()
	events, failure, err := p.reader.Decode(e, p.events[:0])
	switch {
	case failure != nil:
		return upstream.Piece{}, failure
	case err != nil:
		if !e.Partial { // a partial last event was simply cut
			p.malformed++
		}
		return upstream.Piece{}, nil
	}
	piece := p.write(events)
	if p.reader.Done() {
		last, failure := p.reader.End(p.events[:0])
		if failure != nil {
			return upstream.Piece{}, failure
		}
		content := piece.Content
		piece = p.append(last)
		piece.Content = piece.Content || content
		p.end()
		piece.Bytes, piece.Last = p.out, true
	}
	return piece, nil
}

// End implements upstream.Codec.
func (p *pair) End() ([]byte, *upstream.Failure) {
	p.open()
	events, failure := p.reader.End(p.events[:0])
	if failure != nil {
		return nil, failure
	}
	p.write(events)
	p.end()
	return p.out, nil
}

func (p *pair) open() {
	if p.reader == nil {
		p.reader, p.writer = p.from.DecodeStream(), p.to.EncodeStream(p.told)
	}
}

// write starts the output anew with events.
func (p *pair) write(events []conversation.Event) upstream.Piece {
	if cap(p.out) > maxOutKept {
		p.out = nil
	}
	p.out = p.out[:0]
	return p.append(events)
}

func (p *pair) append(events []conversation.Event) upstream.Piece {
	content := false
	for i := range events {
		e := &events[i]
		p.event(e)
		if e.Kind == conversation.Opened {
			p.names.restore(&e.Part)
		}
		content = content || e.IsContent()
		p.out = p.writer.Encode(p.out, e)
	}
	p.events = events[:0]
	return upstream.Piece{Bytes: p.out, Content: content}
}

// end writes the end of a complete stream, with an estimate of the usage when
// the upstream told none.
func (p *pair) end() {
	if !p.usage.Known {
		p.out = p.writer.Encode(p.out, &conversation.Event{Kind: conversation.Metered, Usage: p.reported()})
	}
	p.out = p.writer.End(p.out)
}
