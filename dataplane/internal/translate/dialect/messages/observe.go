package messages

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Observe implements dialect.Codec. The observer allocates nothing for an
// event.
func (Codec) Observe() dialect.Observer { return &observer{} }

type observer struct {
	usage    counts
	served   string
	finished bool
	last     bool
	output   bool
	text     dialect.Said
	spans    []dialect.Span
	room     [2]dialect.Span // that spans begins in
}

// terminal is what ends a stream.
const terminal = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// members are those of an event or a reply that matter.
type members struct {
	kind, message, block, delta, usage, problem []byte
	content, model, stopReason                  []byte
	messageAt                                   int
}

// Event implements dialect.Observer.
func (o *observer) Event(name, data []byte) (dialect.Sight, error) {
	o.spans = o.room[:0]
	m, sound := o.read(data, 0)
	switch {
	case string(name) == "error":
		return dialect.Sight{Failure: upstream.InBand(upstream.ErrorInStream, 0, data)}, nil
	case !sound:
		return dialect.Sight{}, dialect.ErrMalformed
	}
	kind := m.kind
	if !rawjson.IsString(kind) {
		kind = nil
	} else {
		kind = kind[1 : len(kind)-1]
	}
	var s dialect.Sight
	switch string(kind) {
	case "error":
		s.Failure = upstream.InBand(upstream.ErrorInStream, 0, data)
	case "message_start":
		o.spans = o.room[:0]
		inner, _ := o.read(m.message, m.messageAt)
		s.Models = o.spans
		o.serve(inner.model)
		o.usage.read(inner.usage)
	case "content_block_start":
		s.Content = o.block(m.block)
	case "content_block_delta":
		s.Content = o.delta(m.delta)
	case "message_delta":
		o.usage.read(m.usage)
		inner, _ := o.read(m.delta, 0)
		s.Content = o.stop(inner.stopReason)
	case "message_stop":
		o.last, s.Last = true, true
	case "":
		if isSaid(m.problem) {
			s.Failure = upstream.InBand(upstream.ErrorInStream, 0, data)
		}
	}
	return s, nil
}

// Whole implements dialect.Observer.
func (o *observer) Whole(body []byte) (dialect.Sight, error) {
	o.spans = o.room[:0]
	m, sound := o.read(body, 0)
	switch {
	case !sound:
		return dialect.Sight{}, dialect.ErrMalformed
	case string(m.kind) == `"error"`, isSaid(m.problem):
		return dialect.Sight{Failure: upstream.InBand(upstream.ErrorInReply, 0, body)}, nil
	case len(m.content) == 0 || m.content[0] != '[':
		return dialect.Sight{}, dialect.ErrMalformed
	}
	s := dialect.Sight{Models: o.spans}
	o.serve(m.model)
	o.usage.read(m.usage)
	blocks := rawjson.NewArray(m.content)
	for blocks.Next() {
		s.Content = o.block(blocks.Value()) || s.Content
	}
	s.Content = o.stop(m.stopReason) || s.Content
	return s, nil
}

// read finds the members, and notes where the model's name stands; base is
// where value begins.
func (o *observer) read(value []byte, base int) (members, bool) {
	var m members
	w := rawjson.NewObject(value)
	for w.Next() {
		v := w.Value()
		switch {
		case w.Is("type"):
			m.kind = v
		case w.Is("message"):
			m.message = v
			m.messageAt, _ = w.ValueSpan()
		case w.Is("content_block"):
			m.block = v
		case w.Is("delta"):
			m.delta = v
		case w.Is("usage"):
			m.usage = v
		case w.Is("error"):
			m.problem = v
		case w.Is("content"):
			m.content = v
		case w.Is("stop_reason"):
			m.stopReason = v
		case w.Is("model"):
			m.model = v
			if start, end := w.ValueSpan(); rawjson.IsString(v) {
				o.spans = append(o.spans, dialect.Span{Start: base + start, End: base + end})
			}
		}
	}
	return m, w.Whole()
}

func (o *observer) serve(model []byte) {
	if o.served != "" || !rawjson.IsString(model) {
		return
	}
	o.served = dialect.Served(rawjson.String(model))
}

func (o *observer) stop(reason []byte) bool {
	if !rawjson.IsString(reason) {
		return false
	}
	o.finished = true
	return true
}

// block looks at a content block, and reports whether it holds anything.
func (o *observer) block(value []byte) bool {
	var kind []byte
	said := 0
	w := rawjson.NewObject(value)
	for w.Next() {
		switch v := w.Value(); {
		case w.Is("type"):
			kind = v
		case w.Is("text"), w.Is("thinking"), w.Is("data"), w.Is("input"), w.Is("name"):
			if isSaid(v) {
				said += len(v) - 2
				o.text.Add(v)
			}
		}
	}
	switch string(kind) {
	case `"text"`:
		o.output = o.output || said > 0
	case `"thinking"`, `"redacted_thinking"`:
	default:
		o.output = true
		return len(kind) > 0
	}
	return said > 0
}

// delta looks at what is added to a block. A signature is nothing to see.
func (o *observer) delta(value []byte) bool {
	content := false
	w := rawjson.NewObject(value)
	for w.Next() {
		v := w.Value()
		switch {
		case !isSaid(v):
		case w.Is("text"), w.Is("partial_json"):
			o.output = true
			fallthrough
		case w.Is("thinking"):
			o.text.Add(v)
			content = true
		}
	}
	return content
}

// isSaid reports a value that is not null, "", [] or {}.
func isSaid(v []byte) bool { return !rawjson.IsNull(v) && len(v) > 2 }

// Seen implements dialect.Observer.
func (o *observer) Seen() dialect.Seen {
	return dialect.Seen{
		Usage: o.usage.usage(), ServedModel: o.served, Finished: o.finished, Output: o.output, Tokens: o.text.Tokens(),
	}
}

// Terminal implements dialect.Observer.
func (o *observer) Terminal() ([]byte, bool) {
	switch {
	case o.last:
		return nil, true
	case o.finished:
		return []byte(terminal), true
	}
	return nil, false
}
