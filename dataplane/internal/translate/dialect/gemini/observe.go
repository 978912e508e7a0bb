package gemini

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// observer implements dialect.Observer. It allocates for the first event and
// for the usage of none.
type observer struct {
	seen    dialect.Seen
	said    dialect.Said
	choices dialect.Choices
	blocked bool
	spans   []dialect.Span
}

// Observe implements dialect.Codec.
func (Codec) Observe() dialect.Observer { return &observer{} }

// Event implements dialect.Observer.
func (o *observer) Event(name, data []byte) (dialect.Sight, error) {
	if string(name) == "error" {
		return dialect.Sight{Failure: upstream.InBand(upstream.ErrorInStream, 0, data)}, nil
	}
	return o.look(data, upstream.ErrorInStream)
}

// Whole implements dialect.Observer. A reply without a candidate is not one of
// the format, unless it says that the prompt was refused.
func (o *observer) Whole(body []byte) (dialect.Sight, error) {
	if failure := listedFailure(body); failure != nil {
		return dialect.Sight{Failure: failure}, nil
	}
	sight, err := o.look(body, upstream.ErrorInReply)
	if err == nil && sight.Failure == nil && !o.choices.Any() && !o.blocked {
		return dialect.Sight{}, dialect.ErrMalformed
	}
	// A whole reply is at its end, whatever it says.
	o.seen.Finished = err == nil && sight.Failure == nil
	return sight, err
}

// Seen implements dialect.Observer.
func (o *observer) Seen() dialect.Seen {
	seen := o.seen
	seen.Tokens = o.said.Tokens()
	return seen
}

// Terminal implements dialect.Observer. The format has no terminal marker.
func (o *observer) Terminal() ([]byte, bool) { return nil, o.complete() }

func (o *observer) complete() bool {
	return o.blocked || o.choices.Complete()
}

func (o *observer) look(data []byte, inBand upstream.Class) (dialect.Sight, error) {
	var r response
	o.spans = o.spans[:0]
	walk := rawjson.NewObject(data)
	for walk.Next() {
		switch {
		case walk.Is("candidates"):
			r.candidates = walk.Value()
		case walk.Is("promptFeedback"):
			r.feedback = walk.Value()
		case walk.Is("usageMetadata"):
			r.usage = walk.Value()
		case walk.Is("modelVersion"):
			r.model = walk.Value()
			start, end := walk.ValueSpan()
			if rawjson.IsString(r.model) {
				o.spans = append(o.spans, dialect.Span{Start: start, End: end})
			}
		case walk.Is("error"):
			r.problem = walk.Value()
		}
	}
	if !walk.Whole() {
		return dialect.Sight{}, dialect.ErrMalformed
	}
	if status, failed := r.failed(); failed {
		return dialect.Sight{Failure: upstream.InBand(inBand, status, bytes.TrimSpace(data))}, nil
	}
	if o.seen.ServedModel == "" && r.model != nil {
		o.seen.ServedModel = dialect.Served(rawjson.String(r.model))
	}
	if r.usage != nil {
		if u := readUsage(r.usage); u.Known {
			o.seen.Usage = u
		}
	}
	sight := dialect.Sight{Models: o.spans}
	for list := rawjson.NewArray(r.candidates); list.Next(); {
		if list.Value()[0] == '{' {
			sight.Content = o.candidate(list.Value()) || sight.Content
		}
	}
	if !o.choices.Any() && r.feedback != nil && r.blames() != "" {
		o.blocked, sight.Content = true, true
	}
	o.seen.Finished = o.complete()
	return sight, nil
}

// candidate reports whether there is anything in it for a caller.
func (o *observer) candidate(v []byte) (content bool) {
	var index int64
	var finish, parts []byte
	for walk := rawjson.NewObject(v); walk.Next(); {
		switch {
		case walk.Is("index"):
			index = rawjson.Int(walk.Value())
		case walk.Is("finishReason"):
			finish = walk.Value()
		case walk.Is("content"):
			for inner := rawjson.NewObject(walk.Value()); inner.Next(); {
				if inner.Is("parts") {
					parts = inner.Value()
				}
			}
		}
	}
	for list := rawjson.NewArray(parts); list.Next(); {
		content = o.part(list.Value()) || content
	}
	o.choices.Begin(index)
	if rawjson.IsString(finish) && len(finish) > 2 && string(finish) != `"FINISH_REASON_UNSPECIFIED"` {
		o.choices.End(index)
		content = true
	}
	return content
}

func (o *observer) part(v []byte) (content bool) {
	p := scanPart(v)
	if p.text != nil {
		if len(p.text) <= 2 {
			return p.signature != nil
		}
		o.said.Add(p.text)
		o.seen.Output = o.seen.Output || !p.thought
		return true
	}
	if p.call != nil {
		o.said.Add(p.call)
	}
	if p.held > 0 {
		o.seen.Output = true
	}
	return p.held > 0
}
