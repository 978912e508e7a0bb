package gemini

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// choiceWriter is one candidate that is being written.
type choiceWriter struct {
	*encoder
	index   int
	parts   []*openPart // in the order of opening
	proof   string      // belongs to the next part
	said    bool        // there was an event
	refuses bool
	stopped bool
	finish  conversation.Finish
}

// openPart is a part until all of it is written.
type openPart struct {
	index  int
	kind   conversation.Kind
	lead   string                 // the proof that belongs to it
	call   *conversation.ToolCall // collected
	proof  conversation.Thinking  // of a thought: what proves it, collected
	said   bool                   // of a thought: it has text
	held   string                 // of a thought: the newest piece, which its proof may go with
	media  conversation.Media     // of audio: its type, and what is not yet written
	text   measure
	closed bool
}

func (c *choiceWriter) encode(dst []byte, e *conversation.Event) []byte {
	switch e.Kind {
	case conversation.Opened:
		return c.opened(dst, e)
	case conversation.Rated:
		return c.candidate(dst, func(w *partWriter) { writeLogprobs(&w.b, e.Logprobs) })
	case conversation.Stopped:
		for _, p := range c.parts {
			p.closed = true
		}
		dst = c.advance(dst)
		c.stopped, c.finish = true, e.Finish
		return dst
	default:
	}
	at := slices.IndexFunc(c.parts, func(p *openPart) bool { return p.index == e.Index && !p.closed })
	if at < 0 {
		return dst
	}
	switch p := c.parts[at]; e.Kind {
	case conversation.Added:
		return c.added(dst, p, e.Text)
	case conversation.Signed:
		return c.signed(dst, p, e.Part.Thought)
	case conversation.Sounded:
		p.media.Data += e.Text
		return c.sounded(dst, p)
	case conversation.Cited:
		cited := []placed{{text: p.text, citations: e.Part.Citations}}
		return c.candidate(dst, func(w *partWriter) { writeGrounding(&w.b, cited) })
	case conversation.Closed:
		p.closed = true
		return c.advance(dst)
	default:
		return dst
	}
}

func (c *choiceWriter) opened(dst []byte, e *conversation.Event) []byte {
	p := &openPart{index: e.Index, kind: e.Part.Kind}
	c.parts = append(c.parts, p)
	c.refuses = c.refuses || p.kind == conversation.Refusal
	if p.kind == conversation.Thought {
		return c.signed(dst, p, e.Part.Thought)
	}
	p.lead, c.proof = c.proof, ""
	switch {
	case e.Part.Call != nil:
		call := *e.Part.Call
		p.call = &call
	case p.kind == conversation.Audio && e.Part.Media != nil && e.Part.Media.URL == "":
		p.media = *e.Part.Media
		dst = c.sounded(dst, p)
	case e.Part.Media != nil:
		dst = c.event(dst, &p.lead, func(w *partWriter) { w.replyPart(&e.Part) })
	}
	return c.added(dst, p, e.Part.Text)
}

func (c *choiceWriter) added(dst []byte, p *openPart, text string) []byte {
	switch {
	case text == "":
		return dst
	case p.call != nil:
		p.call.Arguments += text
		return dst
	case p.kind == conversation.Thought:
		// One piece is held: Google's clients forget a piece without text, and
		// the proof with it.
		p.said = true
		dst = c.thought(dst, p, "")
		p.held = text
		return dst
	}
	p.text.add(text)
	return c.event(dst, &p.lead, func(w *partWriter) { w.text(text) })
}

// signed takes what proves a thought, which is written at its end.
func (c *choiceWriter) signed(dst []byte, p *openPart, t *conversation.Thinking) []byte {
	if t == nil {
		return dst
	}
	p.proof.Signature += t.Signature
	p.proof.Data += t.Data
	if t.Origin != "" {
		p.proof.Origin = t.Origin
	}
	return c.added(dst, p, t.Text)
}

// streamedAudio is the only type in which OpenAI streams audio.
const streamedAudio = "audio/L16;codec=pcm;rate=24000"

// sounded writes what there is of a sound, in whole groups of base64.
func (c *choiceWriter) sounded(dst []byte, p *openPart) []byte {
	data := p.media.Data[:len(p.media.Data)&^3]
	if data == "" {
		return dst
	}
	p.media.Data = p.media.Data[len(data):]
	mimeType := p.media.MIME
	if mimeType == "" {
		mimeType = streamedAudio
	}
	return c.event(dst, &p.lead, func(w *partWriter) {
		w.open()
		w.blob(mimeType, data)
		w.close()
	})
}

// advance writes the ends of closed parts. Calls are written in the order in
// which they began, so that one waits for those before it.
func (c *choiceWriter) advance(dst []byte) []byte {
	waiting := false
	rest := c.parts[:0]
	for _, p := range c.parts {
		if !p.closed || p.call != nil && waiting {
			waiting = waiting || p.call != nil
			rest = append(rest, p)
			continue
		}
		dst = c.closed(dst, p)
	}
	clear(c.parts[len(rest):])
	c.parts = rest
	return dst
}

func (c *choiceWriter) closed(dst []byte, p *openPart) []byte {
	switch {
	case p.call != nil:
		// An event's data is one line.
		p.call.Arguments = oneLine(p.call.Arguments)
		return c.event(dst, &p.lead, func(w *partWriter) { w.call(p.call) })
	case p.kind == conversation.Thought:
		t := p.proof
		signature, data := proofs(&t, p.said)
		dst = c.thought(dst, p, sealProof(signature, t.Origin))
		if data != "" {
			dst = c.lone(dst, &c.proof)
			c.proof = sealProof(data, t.Origin)
		}
		return dst
	}
	return c.lone(dst, &p.lead)
}

// thought writes the piece that is held, and the proof if that is known.
func (c *choiceWriter) thought(dst []byte, p *openPart, proof string) []byte {
	if p.held == "" && proof == "" {
		return dst
	}
	text := p.held
	p.held = ""
	return c.event(dst, &c.proof, func(w *partWriter) { w.thoughtText(text, proof) })
}

// lone writes a proof whose part never had anything in it.
func (c *choiceWriter) lone(dst []byte, proof *string) []byte {
	if *proof == "" {
		return dst
	}
	return c.event(dst, proof, (*partWriter).loneProof)
}

// event writes one event with what write puts into the candidate's parts. The
// proof is used up.
func (c *choiceWriter) event(dst []byte, proof *string, write func(w *partWriter)) []byte {
	c.said = true
	w := c.begin(dst)
	w.proof, *proof = *proof, ""
	w.b = append(w.b, `{"content":{"parts":[`...)
	write(w)
	w.b = append(w.b, `],"role":"model"}`...)
	return c.ended(w)
}

// candidate writes one event with other members of the candidate. It has an
// empty text for the sake of clients that take a piece without parts for
// broken.
func (c *choiceWriter) candidate(dst []byte, write func(w *partWriter)) []byte {
	w := c.begin(dst)
	w.b = append(w.b, `{"content":{"parts":[{"text":""}],"role":"model"}`...)
	write(w)
	return c.ended(w)
}

func (c *choiceWriter) ended(w *partWriter) []byte {
	w.b = strconv.AppendInt(append(w.b, `,"index":`...), int64(c.index), 10)
	w.b = append(w.b, "}]"...)
	return c.end(w)
}
