package chat

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// says reads content: a text, or parts, as Mistral streams them.
func (l *lane) says(v []byte, out []conversation.Event) []conversation.Event {
	if openai.IsBlank(v) {
		return out
	}
	if rawjson.IsString(v) {
		return l.adds(rawjson.String(v), out)
	}
	var tolerant reader
	for _, p := range tolerant.content("", v) {
		switch p.Kind {
		case conversation.Text:
			out = l.adds(p.Text, out)
		case conversation.Thought:
			out = l.thinksText(p.Thought.Text, out)
		case conversation.Image:
			out = l.showsImage(p, out)
		default:
		}
	}
	return out
}

func (l *lane) adds(text string, out []conversation.Event) []conversation.Event {
	if text == "" {
		return out
	}
	out = l.openText(out)
	return l.added(l.text, text, out)
}

// shows reads what is heard and seen.
func (l *lane) shows(said *body, out []conversation.Event) []conversation.Event {
	var tolerant reader
	if !openai.IsBlank(said.audio) && said.audio[0] == '{' {
		p := tolerant.spoken("", said.audio)
		out = l.open(&l.audio, conversation.Part{Kind: conversation.Audio, Media: &conversation.Media{ID: p.Media.ID}}, out)
		if p.Text != "" {
			out = l.added(l.audio, p.Text, out)
		}
		if p.Media.Data != "" {
			sounded := l.event(conversation.Sounded, l.audio, conversation.Part{})
			sounded.Text = p.Media.Data
			out = append(out, sounded)
		}
	}
	tolerant.Each("", said.images, func(_ string, v []byte) {
		if p, ok := tolerant.part("", v); ok && p.Kind == conversation.Image {
			out = l.showsImage(p, out)
		}
	})
	return out
}

func (l *lane) showsImage(p conversation.Part, out []conversation.Event) []conversation.Event {
	image := closed
	out = l.open(&image, p, out)
	return append(out, l.event(conversation.Closed, image, conversation.Part{}))
}

// thinks reads the thoughts of a delta, from the fullest of the members that
// say something.
func (l *lane) thinks(said *body, out []conversation.Event) []conversation.Event {
	if v := said.thoughts[0]; !openai.IsBlank(v) && v[0] == '[' {
		a := rawjson.NewArray(v)
		for a.Next() {
			out = l.thinksDetail(a.Value(), out)
		}
		return out
	}
	for _, v := range said.thoughts[1:] {
		if rawjson.IsString(v) && !openai.IsBlank(v) {
			return l.thinksText(rawjson.String(v), out)
		}
	}
	return out
}

func (l *lane) thinksText(text string, out []conversation.Event) []conversation.Event {
	if text == "" {
		return out
	}
	if l.thought == closed {
		l.before, l.hidden = detail{index: -1, kind: textDetail}, false
		out = l.open(&l.thought, conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{}}, out)
	}
	return l.added(l.thought, text, out)
}

// thinksDetail reads an element of reasoning_details: more of the thought that
// is open, or the next one.
func (l *lane) thinksDetail(v []byte, out []conversation.Event) []conversation.Event {
	var d detail
	d.read(&reader{}, "", v)
	t, ok := d.thought()
	if !ok {
		return out
	}
	if l.thought != closed && !l.more(&d) {
		out = l.settle(out)
	}
	l.before = d
	if l.thought == closed {
		l.hidden = t.Data != ""
		return l.open(&l.thought, conversation.Part{Kind: conversation.Thought, Thought: &t}, out)
	}
	if t.Text != "" {
		out = l.added(l.thought, t.Text, out)
	}
	if t.Signature != "" || t.Data != "" {
		l.hidden = l.hidden || t.Data != ""
		proof := &conversation.Thinking{ID: t.ID, Signature: t.Signature, Data: t.Data, Origin: t.Origin}
		out = append(out, l.event(conversation.Signed, l.thought, conversation.Part{Kind: conversation.Thought, Thought: proof}))
	}
	return out
}

// more reports whether a detail belongs to the open thought. Deltas without an
// index are told apart by their kind alone.
func (l *lane) more(d *detail) bool {
	if d.index < 0 && l.before.index < 0 {
		return d.kind == l.before.kind && !l.hidden
	}
	return d.continues(&l.before, l.hidden)
}

// call is a call of a stream.
type call struct {
	index     int64 // as the provider counts; -1 for none
	part      int   // event index, closed until the name is known
	id, name  string
	custom    bool
	arguments string // what came before the name
}

// allCalls reads the calls of a delta, the deprecated function_call included.
func (l *lane) allCalls(said *body, out []conversation.Event) []conversation.Event {
	if !openai.IsBlank(said.calls) && said.calls[0] == '[' {
		a := rawjson.NewArray(said.calls)
		for a.Next() {
			out = l.calling(a.Value(), out)
		}
	}
	if !openai.IsBlank(said.call) {
		out = l.piece(&callPiece{index: -1, callee: said.call}, out)
	}
	return out
}

// callPiece is an element of a delta's tool_calls.
type callPiece struct {
	index  int64
	id     string
	custom bool
	callee []byte
}

func (l *lane) calling(v []byte, out []conversation.Event) []conversation.Event {
	p := callPiece{index: -1}
	o := rawjson.NewObject(v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("index") && openai.IsNumber(v):
			p.index = rawjson.Int(v)
		case o.Is("id"):
			p.id = rawjson.String(v)
		case o.Is("function"), o.Is("custom"):
			p.custom, p.callee = o.Is("custom"), v
		}
	}
	return l.piece(&p, out)
}

func (l *lane) piece(p *callPiece, out []conversation.Event) []conversation.Event {
	var name, arguments string
	o := rawjson.NewObject(p.callee)
	for o.Next() {
		switch {
		case o.Is("name"):
			name = rawjson.String(o.Value())
		case o.Is("arguments"), o.Is("input"):
			arguments = argumentsOf(o.Value())
		}
	}
	c := l.callOf(p, name)
	if c.id == "" {
		c.id = p.id
	}
	if c.name == "" {
		c.name, c.custom = name, c.custom || p.custom
	}
	if c.part == closed {
		if c.name == "" {
			c.arguments += arguments
			return out
		}
		out = l.openCall(c, out)
	}
	if arguments != "" {
		out = l.added(c.part, arguments, out)
	}
	return out
}

// callOf finds the call that a piece belongs to: by index, unless the provider
// gives several calls the same and they differ in id; else by id; else the
// last one.
func (l *lane) callOf(p *callPiece, name string) *call {
	for i := len(l.calls) - 1; i >= 0; i-- {
		c := &l.calls[i]
		switch {
		case p.index >= 0 && c.index != p.index:
		case p.index < 0 && p.id != "" && c.id != p.id:
		case p.id != "" && c.id != "" && c.id != p.id && name != "":
		case p.index < 0 && p.id == "" && name != "" && c.name != "" && name != c.name: // the next, without an id
		default:
			return c
		}
	}
	l.calls = append(l.calls, call{index: p.index, part: closed, id: p.id})
	return &l.calls[len(l.calls)-1]
}

// openCall begins a call's part, unless it has begun, with what came before.
func (l *lane) openCall(c *call, out []conversation.Event) []conversation.Event {
	if c.part != closed {
		return out
	}
	if c.id == "" {
		c.id = callID(l.reply, l.choice, l.placeOf(c))
	}
	out = l.open(&c.part, conversation.Part{
		Kind: conversation.Call, Call: &conversation.ToolCall{ID: c.id, Name: c.name, Custom: c.custom},
	}, out)
	if early := c.arguments; early != "" {
		out = l.added(c.part, early, out)
	}
	return out
}

func (l *lane) placeOf(c *call) int {
	for i := range l.calls {
		if &l.calls[i] == c {
			return i
		}
	}
	return len(l.calls)
}
