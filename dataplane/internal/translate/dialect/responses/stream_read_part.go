package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
)

// open begins a part.
func (d *streamReader) open(at slot, part conversation.Part) *inPart {
	d.begin(&response{})
	if d.parts == nil {
		d.parts = make(map[slot]*inPart)
	}
	p := &inPart{index: len(d.order)}
	d.parts[at] = p
	d.order = append(d.order, p)
	d.emit(conversation.Event{Kind: conversation.Opened, Index: p.index, Part: part})
	return p
}

func (d *streamReader) close(p *inPart) {
	if p == nil || p.closed {
		return
	}
	p.closed = true
	d.emit(conversation.Event{Kind: conversation.Closed, Index: p.index})
}

// text finds a text or a refusal, or opens it.
func (d *streamReader) text(at slot, kind conversation.Kind) *inPart {
	if p := d.parts[at]; p != nil {
		return p
	}
	d.refused = d.refused || kind == conversation.Refusal
	return d.open(at, conversation.Part{Kind: kind})
}

// thought finds what a reasoning item shows, or opens it.
func (d *streamReader) thought(at slot) *inPart {
	if p := d.parts[at]; p != nil {
		return p
	}
	thought := &conversation.Thinking{ID: d.ids[at.output], Summary: at.kind == ofSummary}
	return d.open(at, conversation.Part{Kind: conversation.Thought, Thought: thought})
}

// summary finds the summary that an event is about, at its paragraph.
func (d *streamReader) summary(v *event) *inPart {
	p := d.thought(slot{v.output, ofSummary, 0})
	if v.summary != p.paragraph {
		if p.paragraph = v.summary; p.sent > 0 {
			d.add(p, paragraph)
		}
		p.from = p.sent
	}
	return p
}

// add is more of a text. Without the item that a call belongs to nobody knows
// what is called; what comes of it is read when the item comes.
func (d *streamReader) add(p *inPart, text string) {
	if p == nil || p.closed || text == "" {
		return
	}
	p.sent += len(text)
	d.emit(conversation.Event{Kind: conversation.Added, Index: p.index, Text: text})
}

// rest adds what of a whole text did not come yet.
func (d *streamReader) rest(p *inPart, whole []byte) {
	if p == nil || p.closed || len(whole) <= 2 {
		return
	}
	d.restOf(p, rawjson.String(whole), p.from)
}

func (d *streamReader) restOf(p *inPart, text string, from int) {
	if have := p.sent - from; have < len(text) {
		d.add(p, text[have:])
	}
}

func (d *streamReader) cite(p *inPart, citations []conversation.Citation) {
	if len(citations) == 0 || p.closed {
		return
	}
	p.cited += len(citations)
	d.emit(conversation.Event{
		Kind: conversation.Cited, Index: p.index, Part: conversation.Part{Citations: citations},
	})
}

// rate reads a list of logprobs but for its first elements: a list that goes
// on from what came has none that came, a list of all has them all.
func (d *streamReader) rate(p *inPart, list []byte, before int) {
	if openai.IsBlank(list) {
		return
	}
	var t tokens
	p.rated = max(p.rated, before+t.add(list, p.rated-before))
	if len(t) > 0 {
		d.emit(conversation.Event{Kind: conversation.Rated, Logprobs: t.logprobs()})
	}
}

func (d *streamReader) itemAdded(output int64, v []byte) {
	var i item
	i.read(&d.read, "", v)
	switch i.kind {
	case typeReasoning:
		d.remember(output, i.id)
	case typeCall, typeCustom:
		d.call(output, &i)
	}
}

// remember keeps the id of a reasoning item: its parts are opened later.
func (d *streamReader) remember(output int64, id []byte) {
	if d.ids == nil {
		d.ids = make(map[int64]string)
	}
	d.ids[output] = rawjson.String(id)
}

// call finds a call, or opens it.
func (d *streamReader) call(output int64, i *item) *inPart {
	at := slot{output, ofCall, 0}
	p := d.parts[at]
	if p == nil {
		d.calls = true
		call := d.read.call("", i)
		call.Arguments = ""
		p = d.open(at, conversation.Part{Kind: conversation.Call, Call: call})
	}
	d.rest(p, i.arguments)
	return p
}

func (d *streamReader) partAdded(at slot, v []byte) {
	var raw part
	raw.read(&d.read, "", v)
	switch raw.kind {
	case outputText:
		d.rest(d.text(at, conversation.Text), raw.text)
	case refusal:
		d.rest(d.text(at, conversation.Refusal), raw.text)
	}
}

// partDone reads a content part that is whole.
func (d *streamReader) partDone(at slot, v []byte) {
	var raw part
	raw.read(&d.read, "", v)
	kind := conversation.Text
	switch raw.kind {
	case outputText:
	case refusal:
		kind = conversation.Refusal
	default:
		return
	}
	p := d.text(at, kind)
	d.rest(p, raw.text)
	d.rate(p, raw.logprobs, 0)
	if !p.closed {
		if all := readCitations(raw.annotations); len(all) > p.cited {
			d.cite(p, all[p.cited:])
		}
	}
	d.close(p)
}

// item reads an item that is whole, and adds what of it did not come yet.
func (d *streamReader) item(output int64, v []byte) {
	var i item
	i.read(&d.read, "", v)
	switch i.kind {
	case typeMessage:
		if openai.IsBlank(i.content) || i.content[0] != '[' {
			return
		}
		a := rawjson.NewArray(i.content)
		for n := int64(0); a.Next(); n++ {
			d.partDone(slot{output, ofContent, n}, a.Value())
		}
	case typeReasoning:
		d.reasoning(output, &i)
	case typeCall, typeCustom:
		d.close(d.call(output, &i))
	case typeImage:
		at := slot{output, ofImage, 0}
		if d.parts[at] == nil && !openai.IsBlank(i.result) {
			d.close(d.open(at, conversation.Part{Kind: conversation.Image, Media: d.read.image("", &i)}))
		}
	}
}

// reasoning reads a reasoning item that is whole. The proof is of its last part.
func (d *streamReader) reasoning(output int64, i *item) {
	slots := [...]slot{{output, ofSummary, 0}, {output, ofThoughts, 0}}
	var last *inPart
	for n, v := range [...][]byte{i.summary, i.content} {
		p := d.parts[slots[n]]
		if p == nil && !openai.IsBlank(v) {
			d.remember(output, i.id)
			p = d.thought(slots[n])
		}
		if p == nil || p.closed {
			continue
		}
		d.restOf(p, d.read.paragraphs("", v), 0)
		if last == nil || last.index < p.index {
			last = p
		}
	}
	proof := conversation.Thinking{ID: rawjson.String(i.id)}
	readProof(rawjson.String(i.encrypted), &proof)
	has := proof.Signature != "" || proof.Data != ""
	switch at := slots[0]; {
	case last != nil && has:
		d.emit(conversation.Event{
			Kind: conversation.Signed, Index: last.index, Part: conversation.Part{Kind: conversation.Thought, Thought: &proof},
		})
	case has && d.parts[at] == nil && d.parts[slots[1]] == nil:
		d.open(at, conversation.Part{Kind: conversation.Thought, Thought: &proof})
	}
	for _, at := range slots {
		d.close(d.parts[at])
	}
}
