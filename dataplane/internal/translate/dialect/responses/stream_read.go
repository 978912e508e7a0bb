package responses

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// streamReader reads one stream. Of each text it keeps how much of it came, so
// that whatever an upstream leaves out is taken from the event that repeats it.
type streamReader struct {
	out   []conversation.Event // that is appended to, during a call
	parts map[slot]*inPart
	order []*inPart
	ids   map[int64]string // of reasoning items, by output_index
	read  reader           // during a call; what is wrong in a reply is read over

	began, done    bool
	calls, refused bool
}

// slot is where a part stands in a response.
type slot struct {
	output int64
	kind   slotKind
	index  int64 // of a content part
}

type slotKind uint8

const (
	ofContent slotKind = iota
	ofSummary
	ofThoughts
	ofCall
	ofImage
)

// inPart is a part that was opened.
type inPart struct {
	index     int   // of its events
	sent      int   // bytes of its text that came
	from      int   // of those, before the paragraph that is coming
	paragraph int64 // summary_index of that
	cited     int
	rated     int
	closed    bool
}

const doneData = "[DONE]" // some proxies add it to every stream

// Decode implements dialect.StreamDecoder.
func (d *streamReader) Decode(e sse.Event, out []conversation.Event) ([]conversation.Event, *upstream.Failure, error) {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || d.done || string(data) == doneData {
		return out, nil, nil
	}
	var v event
	if !v.read(data) {
		if string(e.Name) == "error" {
			return out, upstream.InBand(upstream.ErrorInStream, 0, data), nil
		}
		return out, nil, dialect.ErrMalformed
	}
	kind := v.typeOf(e.Name)
	if failure := v.failure(kind, e.Name, data); failure != nil {
		return out, failure, nil
	}
	d.out = out
	failure := d.event(string(kind), &v)
	out, d.out, d.read = d.out, nil, reader{}
	return out, failure, nil
}

// End implements dialect.StreamDecoder. Nothing but the last event says that a
// stream is complete.
func (d *streamReader) End(out []conversation.Event) ([]conversation.Event, *upstream.Failure) {
	if d.done {
		return out, nil
	}
	return out, upstream.Fail(upstream.StreamCut, nil)
}

// Done implements dialect.StreamDecoder.
func (d *streamReader) Done() bool { return d.done }

func (d *streamReader) event(kind string, v *event) *upstream.Failure {
	content := slot{v.output, ofContent, v.content}
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		var r response
		r.read(v.response)
		d.begin(&r)
	case "response.output_item.added":
		d.itemAdded(v.output, v.item)
	case "response.content_part.added":
		d.partAdded(content, v.part)
	case "response.output_text.delta":
		p := d.text(content, conversation.Text)
		d.add(p, rawjson.String(v.delta))
		d.rate(p, v.logprobs, p.rated)
	case "response.refusal.delta":
		d.add(d.text(content, conversation.Refusal), rawjson.String(v.delta))
	case "response.reasoning_summary_text.delta":
		d.add(d.summary(v), rawjson.String(v.delta))
	case "response.reasoning_text.delta":
		d.add(d.thought(slot{v.output, ofThoughts, 0}), rawjson.String(v.delta))
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		d.add(d.parts[slot{v.output, ofCall, 0}], rawjson.String(v.delta))
	case "response.output_text.annotation.added":
		if c, ok := readCitation(v.annotation); ok {
			d.cite(d.text(content, conversation.Text), []conversation.Citation{c})
		}
	case "response.content_part.done":
		d.partDone(content, v.part)
	case "response.output_item.done":
		d.item(v.output, v.item)
	case "response.completed", "response.incomplete":
		return d.ended(kind, v)
	default:
		d.textDone(kind, v)
	}
	return nil
}

// textDone reads the events that repeat a text when it is whole.
func (d *streamReader) textDone(kind string, v *event) {
	content := slot{v.output, ofContent, v.content}
	switch kind {
	case "response.output_text.done":
		p := d.text(content, conversation.Text)
		d.rest(p, v.whole)
		d.rate(p, v.logprobs, 0)
	case "response.refusal.done":
		d.rest(d.text(content, conversation.Refusal), v.whole)
	case "response.reasoning_summary_text.done":
		d.rest(d.summary(v), v.whole)
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		d.rest(d.parts[slot{v.output, ofCall, 0}], v.whole)
	}
}

// ended reads the last event, which has the whole response.
func (d *streamReader) ended(kind string, v *event) *upstream.Failure {
	var r response
	r.read(v.response)
	if failure := r.failure(upstream.ErrorInStream, v.response); failure != nil {
		return failure
	}
	d.begin(&r)
	if !openai.IsBlank(r.output) && r.output[0] == '[' {
		a := rawjson.NewArray(r.output)
		for i := int64(0); a.Next(); i++ {
			d.item(i, a.Value())
		}
	}
	for _, p := range d.order {
		d.close(p)
	}
	if usage := openai.ReadUsage(r.usage); usage.Known {
		d.emit(conversation.Event{Kind: conversation.Metered, Usage: usage})
	}
	if rawjson.IsNull(r.status) && kind == "response.incomplete" {
		r.status = []byte(`"` + incomplete + `"`)
	}
	d.emit(conversation.Event{Kind: conversation.Stopped, Finish: r.ended(d.calls, d.refused)})
	d.done = true
	return nil
}

func (d *streamReader) emit(e conversation.Event) { d.out = append(d.out, e) }

func (d *streamReader) begin(r *response) {
	if d.began {
		return
	}
	d.began = true
	d.emit(conversation.Event{Kind: conversation.Began, ID: rawjson.String(r.id), Model: rawjson.String(r.model)})
}
