package converse

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// DecodeStream implements dialect.Codec. An event's Name is its :event-type or
// :exception-type.
func (Codec) DecodeStream() dialect.StreamDecoder { return &decoder{} }

// decoder follows one stream.
type decoder struct {
	open    []block // in the order of opening
	opened  int     // parts so far
	stopped bool
	metered bool
}

// block is an open content block.
type block struct {
	index int64 // the upstream's
	part  int   // the neutral index; -1 of a block that is left out
	kind  conversation.Kind
	begun bool // a call's arguments have begun
}

// Decode implements dialect.StreamDecoder.
func (d *decoder) Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error) {
	name, data := string(e.Name), bytes.TrimSpace(e.Data)
	if failure := exception(name, data); failure != nil {
		return out, failure, nil
	}
	if len(data) == 0 {
		return out, nil, nil
	}
	if !gjson.ValidBytes(data) {
		return out, nil, dialect.ErrMalformed
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return out, nil, dialect.ErrMalformed
	}
	return d.decode(name, root, out), nil, nil
}

// statuses are those that exceptions have when they come before a stream. An
// exception that is not here is of the model or the service.
var statuses = map[string]int{
	"validationException":           http.StatusBadRequest,
	"accessDeniedException":         http.StatusForbidden,
	"resourceNotFoundException":     http.StatusNotFound,
	"modelTimeoutException":         http.StatusRequestTimeout,
	"throttlingException":           http.StatusTooManyRequests,
	"serviceQuotaExceededException": http.StatusTooManyRequests,
	"modelNotReadyException":        http.StatusTooManyRequests,
	"internalServerException":       http.StatusInternalServerError,
	"serviceUnavailableException":   http.StatusServiceUnavailable,
}

// exception is the failure that an event tells of, nil when it is none.
func exception(name string, data []byte) *upstream.Failure {
	if status, ok := statuses[name]; ok {
		return upstream.RefusedAs(name, status, 0, data)
	}
	if name == "error" || strings.HasSuffix(name, "Exception") {
		return upstream.InBand(upstream.ErrorInStream, 0, data)
	}
	return nil
}

func (d *decoder) decode(name string, root gjson.Result, out []conversation.Event) []conversation.Event {
	switch name {
	case "messageStart":
		out = append(out, conversation.Event{Kind: conversation.Began})
	case "contentBlockStart":
		out = d.start(root.Get("contentBlockIndex").Int(), root.Get("start"), out)
	case "contentBlockDelta":
		out = d.delta(root.Get("contentBlockIndex").Int(), root.Get("delta"), out)
	case "contentBlockStop":
		out = d.stop(root.Get("contentBlockIndex").Int(), out)
	case "messageStop":
		if d.stopped {
			break
		}
		d.stopped = true
		out = append(d.closeAll(out), conversation.Event{
			Kind: conversation.Stopped, Finish: finishOf(text(root.Get("stopReason"))),
			Text: text(root.Get("additionalModelResponseFields.stop_sequence")),
		})
	case "metadata":
		d.metered = true
		if u := usageOf(root.Get("usage")); u.Known {
			out = append(out, conversation.Event{Kind: conversation.Metered, Usage: u})
		}
	}
	return out
}

// start opens a block. Only those of tools and media have a start: others open
// with their first delta.
func (d *decoder) start(index int64, v gjson.Result, out []conversation.Event) []conversation.Event {
	out = d.stop(index, out)
	switch {
	case v.Get("toolUse").IsObject() && text(v.Get("toolUse.type")) != "server_tool_use":
		call := &conversation.ToolCall{ID: text(v.Get("toolUse.toolUseId")), Name: text(v.Get("toolUse.name"))}
		return d.begin(index, conversation.Part{Kind: conversation.Call, Call: call}, out)
	case v.Get("image").IsObject():
		return d.begin(index, media(conversation.Image, "image/", v.Get("image")), out)
	case v.Get("toolUse").Exists(), v.Get("toolResult").Exists():
		d.open = append(d.open, block{index: index, part: -1})
	}
	return out
}

func (d *decoder) begin(index int64, p conversation.Part, out []conversation.Event) []conversation.Event {
	d.open = append(d.open, block{index: index, part: d.opened, kind: p.Kind})
	d.opened++
	return append(out, conversation.Event{Kind: conversation.Opened, Index: d.opened - 1, Part: p})
}

// at finds the block that a delta adds to, which opens it when it is the first.
func (d *decoder) at(index int64, v gjson.Result, out []conversation.Event) (*block, []conversation.Event) {
	for i := range d.open {
		if d.open[i].index == index {
			return &d.open[i], out
		}
	}
	switch {
	case v.Get("text").Exists(), v.Get("citation").Exists():
		out = d.begin(index, conversation.Part{Kind: conversation.Text}, out)
	case v.Get("reasoningContent").Exists():
		t := &conversation.Thinking{Data: text(v.Get("reasoningContent.redactedContent"))}
		if t.Data != "" {
			t.Origin = home
		}
		out = d.begin(index, conversation.Part{Kind: conversation.Thought, Thought: t}, out)
		return nil, d.reason(&d.open[len(d.open)-1], v.Get("reasoningContent"), true, out)
	default:
		return nil, out
	}
	return &d.open[len(d.open)-1], out
}

func (d *decoder) delta(index int64, v gjson.Result, out []conversation.Event) []conversation.Event {
	b, out := d.at(index, v, out)
	if b == nil || b.part < 0 {
		return out
	}
	e := conversation.Event{Kind: conversation.Added, Index: b.part}
	switch {
	case v.Get("reasoningContent").Exists():
		return d.reason(b, v.Get("reasoningContent"), false, out)
	case v.Get("citation").IsObject():
		e.Kind, e.Part.Citations = conversation.Cited, []conversation.Citation{citation(v.Get("citation"))}
		return append(out, e)
	case b.kind == conversation.Call:
		e.Text = text(v.Get("toolUse.input"))
		b.begun = b.begun || e.Text != ""
	case b.kind == conversation.Image:
		e.Kind, e.Text = conversation.Sounded, text(v.Get("image.source.bytes"))
	default:
		e.Text = text(v.Get("text"))
	}
	if e.Text == "" {
		return out
	}
	return append(out, e)
}

// reason reads more of a thought; the hidden part of the first is in the
// opening already.
func (d *decoder) reason(b *block, v gjson.Result, first bool, out []conversation.Event) []conversation.Event {
	if said := text(v.Get("text")); said != "" {
		out = append(out, conversation.Event{Kind: conversation.Added, Index: b.part, Text: said})
	}
	proof := conversation.Thinking{Signature: text(v.Get("signature")), Origin: home}
	if !first {
		proof.Data = text(v.Get("redactedContent"))
	}
	if proof.Signature != "" || proof.Data != "" {
		out = append(out, conversation.Event{
			Kind: conversation.Signed, Index: b.part, Part: conversation.Part{Kind: conversation.Thought, Thought: &proof},
		})
	}
	return out
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
	if b.kind == conversation.Call && !b.begun {
		out = append(out, conversation.Event{Kind: conversation.Added, Index: b.part, Text: "{}"})
	}
	return append(out, conversation.Event{Kind: conversation.Closed, Index: b.part})
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

// Done implements dialect.StreamDecoder. There is no terminal marker: the
// usage comes last.
func (d *decoder) Done() bool { return d.stopped && d.metered }
