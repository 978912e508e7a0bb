package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// pair reads one answer in the upstream's format and writes it in the
// caller's. It implements upstream.Codec.
type pair struct {
	from dialect.Codec // the upstream's
	to   dialect.Codec // the caller's
	told dialect.Told
	gauge

	reader dialect.StreamDecoder
	writer dialect.StreamEncoder
	events []conversation.Event
	out    []byte
}

func newPair(from, to dialect.Codec, told dialect.Told, input int64) *pair {
	return &pair{from: from, to: to, told: told, gauge: gauge{input: input}}
}

// Whole implements upstream.Codec.
func (p *pair) Whole(body []byte) ([]byte, *upstream.Failure) {
	reply, failure := p.from.DecodeReply(body)
	if failure != nil {
		return nil, failure
	}
	p.reply(reply)
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

// gauge measures a reply on its way through.
type gauge struct {
	input     int64 // estimate of the request, in tokens
	usage     conversation.Usage
	served    string
	text      int64 // bytes of output
	ended     bool  // a choice has a finish reason
	output    bool
	malformed int
}

func (g *gauge) event(e *conversation.Event) {
	switch e.Kind {
	case conversation.Began:
		g.served = bounded(e.Model)
	case conversation.Metered:
		if e.Usage.Known {
			g.usage = e.Usage
		}
	case conversation.Opened:
		g.part(&e.Part)
	case conversation.Added:
		g.text += int64(len(e.Text))
		g.output = g.output || e.Text != ""
	case conversation.Stopped:
		g.ended = true
	default:
	}
}

func (g *gauge) reply(r *conversation.Reply) {
	g.served = bounded(r.Model)
	g.usage = r.Usage
	for i := range r.Choices {
		for j := range r.Choices[i].Parts {
			g.part(&r.Choices[i].Parts[j])
		}
		g.ended = g.ended || r.Choices[i].Finish != ""
	}
}

func (g *gauge) part(p *conversation.Part) {
	g.text += int64(len(p.Text))
	switch p.Kind {
	case conversation.Text, conversation.Refusal:
		g.output = g.output || p.Text != ""
	case conversation.Thought:
		g.text += int64(len(p.Thought.Text))
	case conversation.Call:
		g.text += int64(len(p.Call.Arguments))
		g.output = true
	default:
		g.output = true
	}
}

// reported is the upstream's word on the usage, or an estimate, which callers
// are told as if it were one: their SDKs have no word for it.
func (g *gauge) reported() conversation.Usage {
	if g.usage.Known {
		return g.usage
	}
	return conversation.Usage{Known: true, Usage: meter.Usage{
		Input: g.input, Output: (g.text + bytesPerToken - 1) / bytesPerToken, Estimated: true,
	}}
}

// Seen implements call.Meter.
func (g *gauge) Seen() call.Seen {
	return call.Seen{
		Usage: g.reported().Usage, ServedModel: g.served, Finished: g.ended,
		ZeroOutput: !g.output, Malformed: g.malformed,
	}
}
