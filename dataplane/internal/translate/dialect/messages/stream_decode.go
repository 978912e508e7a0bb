package messages

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/turns"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// DecodeStream implements dialect.Codec.
func (Codec) DecodeStream() dialect.StreamDecoder { return &decoder{} }

// decoder follows one stream.
type decoder struct {
	open    []block // in the order of opening
	opened  int     // parts so far
	usage   counts
	stopped bool
	done    bool
}

// block is an open content block.
type block struct {
	index int64 // the upstream's
	part  int   // the neutral index; -1 of a block that is left out
	call  bool
	begun bool // a call's arguments have begun
}

// Decode implements dialect.StreamDecoder.
func (d *decoder) Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error) {
	data := bytes.TrimSpace(e.Data)
	switch {
	case string(e.Name) == "error":
		return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
	case len(data) == 0:
		return out, nil, nil
	case !gjson.ValidBytes(data):
		return out, nil, dialect.ErrMalformed
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return out, nil, dialect.ErrMalformed
	}
	kind := text(root.Get("type"))
	if kind == "error" || kind == "" && isProblem(root.Get("error")) {
		return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
	}
	if kind == "" {
		kind = string(e.Name)
	}
	return d.decode(kind, root, out), nil, nil
}

func (d *decoder) decode(kind string, root gjson.Result, out []conversation.Event) []conversation.Event {
	switch kind {
	case "message_start":
		m := root.Get("message")
		out = append(out, conversation.Event{Kind: conversation.Began, ID: text(m.Get("id")), Model: text(m.Get("model"))})
		out = d.meter(m.Get("usage"), out)
	case "content_block_start":
		out = d.start(root.Get("index").Int(), root.Get("content_block"), out)
	case "content_block_delta":
		out = d.delta(root.Get("index").Int(), root.Get("delta"), out)
	case "content_block_stop":
		out = d.stop(root.Get("index").Int(), out)
	case "message_delta":
		out = d.finish(root, out)
	case "message_stop":
		d.done = true
	}
	return out
}

func (d *decoder) meter(usage gjson.Result, out []conversation.Event) []conversation.Event {
	if !usage.IsObject() {
		return out
	}
	d.usage.read([]byte(usage.Raw))
	if u := d.usage.usage(); u.Known {
		out = append(out, conversation.Event{Kind: conversation.Metered, Usage: u})
	}
	return out
}

func (d *decoder) start(index int64, v gjson.Result, out []conversation.Event) []conversation.Event {
	out = d.stop(index, out) // a second block of the same index: the first is over
	part, ok := said(v)
	if !ok {
		d.open = append(d.open, block{index: index, part: -1})
		return out
	}
	b := block{index: index, part: d.opened, call: part.Call != nil}
	d.opened++
	if b.call {
		// The input of a call that is still to come is an empty object.
		b.begun = !turns.IsEmpty(gjson.Parse(part.Call.Arguments))
		if !b.begun {
			part.Call.Arguments = ""
		}
	}
	d.open = append(d.open, b)
	return append(out, conversation.Event{Kind: conversation.Opened, Index: b.part, Part: part})
}

// at finds an open block; a delta without one opens what it adds to, since
// some upstreams leave content_block_start out.
func (d *decoder) at(index int64, delta gjson.Result, out []conversation.Event) (*block, []conversation.Event) {
	for i := range d.open {
		if d.open[i].index == index {
			return &d.open[i], out
		}
	}
	p := conversation.Part{Kind: conversation.Text}
	switch text(delta.Get("type")) {
	case "text_delta":
	case "thinking_delta":
		p = conversation.Part{Kind: conversation.Thought, Thought: &conversation.Thinking{}}
	default:
		return nil, out
	}
	d.open = append(d.open, block{index: index, part: d.opened})
	d.opened++
	return &d.open[len(d.open)-1], append(out, conversation.Event{Kind: conversation.Opened, Index: d.opened - 1, Part: p})
}

func (d *decoder) delta(index int64, v gjson.Result, out []conversation.Event) []conversation.Event {
	b, out := d.at(index, v, out)
	if b == nil || b.part < 0 {
		return out
	}
	e := conversation.Event{Kind: conversation.Added, Index: b.part}
	switch text(v.Get("type")) {
	case "text_delta":
		e.Text = text(v.Get("text"))
	case "thinking_delta":
		e.Text = text(v.Get("thinking"))
	case "input_json_delta":
		e.Text = text(v.Get("partial_json"))
		b.begun = b.begun || e.Text != ""
	case "signature_delta":
		proof := thought("", text(v.Get("signature")))
		if *proof.Thought == (conversation.Thinking{}) {
			return out
		}
		return append(out, conversation.Event{Kind: conversation.Signed, Index: b.part, Part: proof})
	case "citations_delta":
		cited := v.Get("citation")
		if !cited.IsObject() {
			return out
		}
		e.Kind, e.Part.Citations = conversation.Cited, []conversation.Citation{citation(cited)}
		return append(out, e)
	}
	if e.Text == "" {
		return out
	}
	return append(out, e)
}

func (d *decoder) stop(index int64, out []conversation.Event) []conversation.Event {
	for i := range d.open {
		if d.open[i].index == index {
			out = d.open[i].close(out)
			d.open = append(d.open[:i], d.open[i+1:]...)
			return out
		}
	}
	return out
}

// close ends a block. A call that got no arguments is one without any.
func (b *block) close(out []conversation.Event) []conversation.Event {
	if b.part < 0 {
		return out
	}
	if b.call && !b.begun {
		out = append(out, conversation.Event{Kind: conversation.Added, Index: b.part, Text: "{}"})
	}
	return append(out, conversation.Event{Kind: conversation.Closed, Index: b.part})
}

// finish reads message_delta. It comes more than once when it has usage alone.
func (d *decoder) finish(root gjson.Result, out []conversation.Event) []conversation.Event {
	out = d.meter(root.Get("usage"), out)
	delta := root.Get("delta")
	reason := text(delta.Get("stop_reason"))
	if reason == "" || d.stopped {
		return out
	}
	d.stopped = true
	out = d.closeAll(out)
	if why := explanation(delta.Get("stop_details")); d.opened == 0 && why != "" {
		out = append(out,
			conversation.Event{Kind: conversation.Opened, Part: conversation.Part{Kind: conversation.Refusal, Text: why}},
			conversation.Event{Kind: conversation.Closed})
		d.opened++
	}
	return append(out, conversation.Event{Kind: conversation.Stopped, Finish: finishOf(reason), Text: text(delta.Get("stop_sequence"))})
}

func (d *decoder) closeAll(out []conversation.Event) []conversation.Event {
	for i := range d.open {
		out = d.open[i].close(out)
	}
	d.open = d.open[:0]
	return out
}

// End implements dialect.StreamDecoder.
func (d *decoder) End(out []conversation.Event) ([]conversation.Event, *upstream.Failure) {
	out = d.closeAll(out)
	if !d.stopped {
		return out, upstream.Fail(upstream.StreamCut, nil)
	}
	return out, nil
}

// Done implements dialect.StreamDecoder.
func (d *decoder) Done() bool { return d.done }
