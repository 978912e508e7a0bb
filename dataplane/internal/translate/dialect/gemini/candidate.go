package gemini

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// candidate is one answer that is being read. Its parts follow each other:
// pieces of text belong to one part until something else comes between them.
type candidate struct {
	*answer
	index   int
	next    int // index of the next part
	open    int // index of the open part, -1 when there is none
	kind    conversation.Kind
	texts   []*citable
	wire    []wired // what the response's own parts became
	calls   int
	partial *partialCall
	cited   map[conversation.Citation]bool
	finish  string // as Google says it
}

// citable is a text part: of a stream only the last is kept.
type citable struct {
	index int
	text  measure
	bytes int
}

// wired is where a part of a response went: a text may have become the end of
// an earlier one.
type wired struct {
	text *citable // nil for what is no text
	from int      // bytes of the text before it
}

func (c *candidate) emit(e conversation.Event) {
	e.Choice = c.index
	c.out = append(c.out, e)
}

// begin opens a part and ends the one before it.
func (c *candidate) begin(p conversation.Part) int {
	c.close()
	c.open, c.kind = c.next, p.Kind
	c.next++
	if p.Kind == conversation.Text {
		if !c.whole {
			c.texts = c.texts[:0]
		}
		c.texts = append(c.texts, &citable{index: c.open})
	}
	c.emit(conversation.Event{Kind: conversation.Opened, Index: c.open, Part: p})
	return c.open
}

func (c *candidate) close() {
	if c.open >= 0 {
		c.emit(conversation.Event{Kind: conversation.Closed, Index: c.open})
		c.open = -1
	}
}

// continues reports that a part of this kind is open.
func (c *candidate) continues(kind conversation.Kind) bool { return c.open >= 0 && c.kind == kind }

func (c *candidate) part(v []byte) {
	c.wire = append(c.wire, wired{})
	p := scanPart(v)
	signature := rawjson.String(p.signature)
	if p.text != nil && p.thought {
		c.thought(rawjson.String(p.text), signature)
		return
	}
	if p.call != nil && c.call(p.call, signature) {
		return
	}
	c.flush()
	c.proof(signature)
	switch {
	case p.text != nil:
		c.add(rawjson.String(p.text))
	case p.inline != nil:
		c.blob(p.inline)
	case p.file != nil:
		c.file(p.file)
	case p.code != nil:
		c.add(codeText(p.code))
	case p.output != nil:
		c.add(outputText(p.output))
	}
}

// proof is a part of its own, before the one that it stands on.
func (c *candidate) proof(signature string) {
	if signature == "" {
		return
	}
	c.begin(conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{
		Data: signature, Origin: conversation.Google,
	}})
	c.close()
}

func (c *candidate) add(text string) {
	if text == "" {
		return
	}
	if !c.continues(conversation.Text) {
		c.begin(conversation.Part{Kind: conversation.Text})
	}
	last := c.texts[len(c.texts)-1]
	c.wire[len(c.wire)-1] = wired{text: last, from: last.bytes}
	last.text.add(text)
	last.bytes += len(text)
	c.emit(conversation.Event{Kind: conversation.Added, Index: c.open, Text: text})
}

// thought adds to the open thought. A proof ends it.
func (c *candidate) thought(text, signature string) {
	if text == "" && signature == "" {
		return
	}
	if !c.continues(conversation.Thought) {
		c.begin(conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{}})
	}
	if text != "" {
		c.emit(conversation.Event{Kind: conversation.Added, Index: c.open, Text: text})
	}
	if signature != "" {
		c.emit(conversation.Event{Kind: conversation.Signed, Index: c.open, Part: conversation.Part{
			Kind: conversation.Thought, Thought: proven("", signature, conversation.Google),
		}})
		c.close()
	}
}

func (c *candidate) blob(v []byte) {
	b := scanBlob(v)
	m := &conversation.Media{MIME: rawjson.String(b.mime), Name: rawjson.String(b.name)}
	m.Data, _ = standardBase64(rawjson.String(b.data))
	if m.Data == "" {
		return
	}
	c.begin(conversation.Part{Kind: kindOf(m.MIME), Media: m})
	c.close()
}

func (c *candidate) file(v []byte) {
	b := scanBlob(v)
	m := &conversation.Media{MIME: rawjson.String(b.mime), URL: rawjson.String(b.uri), Name: rawjson.String(b.name)}
	if m.URL == "" {
		return
	}
	c.begin(conversation.Part{Kind: kindOf(m.MIME), Media: m})
	c.close()
}

// call reads a functionCall, which is whole unless its arguments are streamed.
// False when it is only the end of such a one, and carried nothing else.
func (c *candidate) call(v []byte, signature string) bool {
	w := scanCall(v)
	name := rawjson.String(w.name)
	if c.partial != nil && (name == "" || name == c.partial.name && w.args == nil) {
		c.partial.add(w.partial)
		if !w.more {
			c.flush()
		}
		return true
	}
	c.flush()
	if name == "" {
		return false
	}
	c.proof(signature)
	id := rawjson.String(w.id)
	if id == "" {
		id = c.callID(c.index, c.calls)
	}
	c.calls++
	if w.more || w.partial != nil {
		c.partial = &partialCall{id: id, name: name}
		c.partial.add(w.partial)
		if !w.more {
			c.flush()
		}
		return true
	}
	c.called(id, name, w.arguments())
	return true
}

func (c *candidate) called(id, name, arguments string) {
	at := c.begin(conversation.Part{Kind: conversation.Call, Call: &conversation.ToolCall{ID: id, Name: name}})
	c.emit(conversation.Event{Kind: conversation.Added, Index: at, Text: arguments})
	c.close()
}

// flush emits the call whose arguments were streamed.
func (c *candidate) flush() {
	if p := c.partial; p != nil {
		c.partial = nil
		c.called(p.id, p.name, string(p.arguments()))
	}
}

// cite puts sources on the texts that they are of. In a stream that is the
// last one, whatever is said, since pieces have no index that lasts; and
// sources that were there before are said again.
func (c *candidate) cite(sources []source) {
	if !c.whole {
		sources = c.unseen(sources)
	}
	if len(sources) == 0 {
		return
	}
	if len(c.texts) == 0 || !c.whole && !c.continues(conversation.Text) {
		c.begin(conversation.Part{Kind: conversation.Text})
	}
	for _, s := range sources {
		at := wired{text: c.texts[len(c.texts)-1]}
		if c.whole && s.part >= 0 && s.part < len(c.wire) && c.wire[s.part].text != nil {
			at = c.wire[s.part]
		}
		s.Start, s.End = at.text.text.characters(at.from+s.Start), at.text.text.characters(at.from+s.End)
		c.emit(conversation.Event{Kind: conversation.Cited, Index: at.text.index, Part: conversation.Part{
			Citations: []conversation.Citation{s.Citation},
		}})
	}
}

// unseen leaves out sources that an earlier response had.
func (c *candidate) unseen(sources []source) []source {
	var out []source
	for _, s := range sources {
		if !c.cited[s.Citation] {
			out = append(out, s)
		}
	}
	if c.cited == nil {
		c.cited = make(map[conversation.Citation]bool)
	}
	for _, s := range out {
		c.cited[s.Citation] = true
	}
	return out
}
