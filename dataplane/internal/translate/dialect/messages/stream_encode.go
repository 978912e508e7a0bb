package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// EncodeStream implements dialect.Codec.
//
// The blocks of this format follow each other, and many clients know no other
// way: of parts that overlap, as parallel calls of other providers do, the
// first goes out as it comes and the others are held until it is closed. What
// is held has a bound; beyond it the held blocks are opened beside the first,
// which those clients can still join that go by the index.
func (Codec) EncodeStream(as dialect.Told) dialect.StreamEncoder { return &encoder{as: as} }

// maxHeld is how many bytes of held parts are kept.
const maxHeld = 48 << 10

type encoder struct {
	as     dialect.Told
	begun  bool
	next   int // index of the next block on the wire
	parts  []*outgoing
	held   int // bytes in parts that are not on the wire
	loose  bool
	ending ending
	usage  conversation.Usage
}

// outgoing is a part that is not finished on the wire.
type outgoing struct {
	index   int // neutral
	wire    int // -1: not begun there
	part    conversation.Part
	text    []byte // held
	proof   conversation.Thinking
	cited   []conversation.Citation
	closed  bool
	special bool // has a proof that only its end can place
}

// Encode implements dialect.StreamEncoder. The format has one choice: of
// several it is the first.
func (s *encoder) Encode(dst []byte, e *conversation.Event) []byte {
	if e.Kind == conversation.Metered {
		s.usage = e.Usage
		return dst
	}
	if e.Choice != 0 {
		return dst
	}
	dst = s.begin(dst)
	switch e.Kind {
	case conversation.Opened:
		return s.opened(dst, e)
	case conversation.Added, conversation.Signed, conversation.Cited:
		return s.extended(dst, e)
	case conversation.Closed:
		if p := s.at(e.Index); p != nil {
			p.closed = true
		}
		return s.advance(dst)
	case conversation.Stopped:
		s.ending.finish, s.ending.sequence = e.Finish, e.Text
	default:
	}
	return dst
}

// End implements dialect.StreamEncoder.
func (s *encoder) End(dst []byte) []byte {
	dst = s.begin(dst)
	for _, p := range s.parts {
		p.closed = true
	}
	dst = s.advance(dst)
	b := open(dst, "message_delta")
	b.Name("delta")
	b.Open('{')
	b.Raw("container", null)
	appendStop(&b, s.ending.reason(), s.ending.sequence)
	b.Close('}')
	b.Name("usage")
	b.Open('{')
	appendCounts(&b, s.usage.Usage)
	b.Close('}')
	return closed(open(closed(b), "message_stop"))
}

// begin writes message_start, once. What was used so far is known then only of
// upstreams of this family.
func (s *encoder) begin(dst []byte) []byte {
	if s.begun {
		return dst
	}
	s.begun = true
	b := open(dst, "message_start")
	b.Name("message")
	b.Open('{')
	appendHead(&b, s.as)
	b.Raw("content", []byte("[]"))
	appendStop(&b, "", "")
	appendUsage(&b, s.usage.Usage, "")
	b.Close('}')
	return closed(b)
}

func (s *encoder) at(index int) *outgoing {
	for _, p := range s.parts {
		if p.index == index {
			return p
		}
	}
	return nil
}

func (s *encoder) opened(dst []byte, e *conversation.Event) []byte {
	p := &outgoing{index: e.Index, wire: -1, part: e.Part, cited: e.Part.Citations}
	switch {
	case e.Part.Thought != nil:
		t := *e.Part.Thought
		p.text, p.proof = []byte(t.Text), t
		p.proof.Text = ""
		p.special = t.Data != ""
	case e.Part.Call != nil:
		p.text = []byte(e.Part.Call.Arguments)
	default:
		p.text = []byte(spoken(&e.Part))
	}
	s.ending.saw(e.Part.Kind)
	s.parts = append(s.parts, p)
	s.held += len(p.text)
	return s.advance(dst)
}

func (s *encoder) extended(dst []byte, e *conversation.Event) []byte {
	p := s.at(e.Index)
	switch {
	case p == nil:
		return dst
	case e.Kind == conversation.Cited:
		p.cited = append(p.cited, e.Part.Citations...)
	case e.Kind == conversation.Added:
		if p.wire >= 0 && len(p.text) == 0 {
			return p.added(dst, e.Text)
		}
		p.text = append(p.text, e.Text...)
		s.held += len(e.Text)
	case e.Part.Thought != nil:
		p.sign(e.Part.Thought)
	}
	return s.advance(dst)
}

// sign takes more of a proof.
func (p *outgoing) sign(t *conversation.Thinking) {
	p.text = append(p.text, t.Text...)
	p.proof.Signature += t.Signature
	p.proof.Data += t.Data
	if t.Origin != "" {
		p.proof.Origin = t.Origin
	}
}

// advance writes what may go out: of the first part everything, then, when it
// is closed, of the next.
func (s *encoder) advance(dst []byte) []byte {
	for len(s.parts) > 0 {
		p := s.parts[0]
		dst = s.flush(dst, p)
		if !p.closed {
			break
		}
		dst = s.finished(dst, p)
		s.parts = s.parts[1:]
	}
	if s.held <= maxHeld && !s.loose {
		return dst
	}
	s.loose = true
	for _, p := range s.parts {
		dst = s.flush(dst, p)
	}
	return dst
}

// flush begins a part on the wire and writes what is held of it. A thought
// that may turn out to have no text waits for its end.
func (s *encoder) flush(dst []byte, p *outgoing) []byte {
	if p.wire < 0 {
		if p.special {
			return dst
		}
		p.wire = s.next
		s.next++
		dst = p.start(dst)
	}
	if len(p.text) > 0 {
		s.held -= len(p.text)
		dst = p.added(dst, string(p.text))
		p.text = nil
	}
	for i := range p.cited {
		b := p.delta(dst, "citations_delta")
		b.Name("citation")
		appendCitation(&b, &p.cited[i])
		b.Close('}')
		dst = closed(b)
	}
	p.cited = nil
	return dst
}

// finished writes the end of a part. A thought whose proof is no signature of
// its text has a second block for it, or only that one.
func (s *encoder) finished(dst []byte, p *outgoing) []byte {
	if p.part.Thought == nil {
		return p.end(dst)
	}
	whole := p.proof
	whole.Text = string(p.text)
	if p.wire >= 0 {
		whole.Text = "what was shown" // that there is a text is all that counts
	}
	text, signature, data := thoughtBlocks(&whole)
	if text != "" || signature != "" {
		p.special = false
		dst = s.flush(dst, p)
		if signature != "" {
			b := p.delta(dst, "signature_delta")
			b.String("signature", signature)
			b.Close('}')
			dst = closed(b)
		}
		dst = p.end(dst)
	}
	if data != "" {
		p.wire = s.next
		s.next++
		b := p.opening(dst)
		b.String("type", typeRedacted)
		b.String("data", data)
		b.Close('}')
		dst = p.end(closed(b))
	}
	return dst
}

// start writes content_block_start.
func (p *outgoing) start(dst []byte) []byte {
	b := p.opening(dst)
	switch {
	case p.part.Call != nil:
		b.String("type", typeToolUse)
		b.String("id", p.part.Call.ID)
		b.String("name", p.part.Call.Name)
		b.Raw("input", []byte("{}"))
		b.Raw("caller", directly)
	case p.part.Thought != nil:
		b.String("type", typeThinking)
		b.String("thinking", "")
		b.String("signature", "")
	default:
		b.String("type", typeText)
		b.String("text", "")
		b.Name("citations")
		appendCitations(&b, nil)
	}
	b.Close('}')
	return closed(b)
}

func (p *outgoing) opening(dst []byte) jsonappend.Buffer {
	b := open(dst, "content_block_start")
	b.Int("index", int64(p.wire))
	b.Name("content_block")
	b.Open('{')
	return b
}

func (p *outgoing) added(dst []byte, text string) []byte {
	kind, member := "text_delta", "text"
	switch {
	case text == "":
		return dst
	case p.part.Call != nil:
		kind, member = "input_json_delta", "partial_json"
	case p.part.Thought != nil:
		kind, member = "thinking_delta", "thinking"
	}
	b := p.delta(dst, kind)
	b.String(member, text)
	b.Close('}')
	return closed(b)
}

func (p *outgoing) delta(dst []byte, kind string) jsonappend.Buffer {
	b := open(dst, "content_block_delta")
	b.Int("index", int64(p.wire))
	b.Name("delta")
	b.Open('{')
	b.String("type", kind)
	return b
}

func (p *outgoing) end(dst []byte) []byte {
	b := open(dst, "content_block_stop")
	b.Int("index", int64(p.wire))
	return closed(b)
}

// open begins an event of the kind, closed ends it.
func open(dst []byte, kind string) jsonappend.Buffer {
	b := jsonappend.Buffer(append(append(append(dst, "event: "...), kind...), "\ndata: "...))
	b.Open('{')
	b.String("type", kind)
	return b
}

func closed(b jsonappend.Buffer) []byte { return append(b, "}\n\n"...) }
