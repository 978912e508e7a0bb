package responses

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// observer watches one answer. Of an event that only brings more text it
// allocates nothing.
type observer struct {
	seen  dialect.Seen
	said  dialect.Said
	spans [2]dialect.Span
}

// Event implements dialect.Observer.
func (o *observer) Event(name, data []byte) (dialect.Sight, error) {
	if string(bytes.TrimSpace(data)) == doneData {
		return dialect.Sight{}, nil
	}
	var e event
	if !e.read(data) {
		if string(name) == "error" {
			return dialect.Sight{Failure: upstream.InBand(upstream.ErrorInStream, 0, data), Last: true}, nil
		}
		return dialect.Sight{}, dialect.ErrMalformed
	}
	kind := e.typeOf(name)
	if bytes.HasSuffix(kind, []byte(".delta")) {
		return dialect.Sight{Content: o.grown(e.delta)}, nil
	}
	sight := dialect.Sight{Failure: e.failure(kind, name, data)}
	if !rawjson.IsNull(e.response) {
		sight.Models = o.models(e.response, e.responseAt)
	}
	switch string(kind) {
	case "response.completed", "response.incomplete":
		var r response
		r.read(e.response)
		if sight.Failure = r.failure(upstream.ErrorInStream, e.response); sight.Failure != nil {
			break
		}
		sight.Content, sight.Last, o.seen.Finished = true, true, true
		o.count(&r)
	case "response.output_item.added", "response.output_item.done":
		sight.Content = o.item(e.item)
	case "response.content_part.added":
		sight.Content = !openai.IsBlank(openai.Member(e.part, "text")) || !openai.IsBlank(openai.Member(e.part, "refusal"))
	}
	sight.Last = sight.Last || sight.Failure != nil
	return sight, nil
}

// grown takes in a delta and reports whether it holds anything. Deltas that are
// no text are of tools that the provider runs.
func (o *observer) grown(delta []byte) bool {
	if openai.IsBlank(delta) {
		return false
	}
	o.seen.Output = true
	o.said.Add(delta)
	return true
}

// item reports whether a caller sees something of an item: a call, at once; a
// message and thoughts, when something is in them.
func (o *observer) item(v []byte) bool {
	kind := rawjson.String(openai.Member(v, "type"))
	switch kind {
	case typeMessage:
		return !openai.IsBlank(openai.Member(v, "content"))
	case typeReasoning:
		return !openai.IsBlank(openai.Member(v, "summary")) || !openai.IsBlank(openai.Member(v, "content")) || !openai.IsBlank(openai.Member(v, "encrypted_content"))
	case typeCall, typeCustom:
		o.seen.Output = true
	case typeImage:
		o.seen.Output = o.seen.Output || !openai.IsBlank(openai.Member(v, "result"))
	}
	return kind != ""
}

// models finds where the name of the model stands in a response that begins at
// offset base.
func (o *observer) models(response []byte, base int) []dialect.Span {
	spans := o.spans[:0]
	m := rawjson.NewObject(response)
	for m.Next() {
		if !m.Is("model") || !rawjson.IsString(m.Value()) {
			continue
		}
		if o.seen.ServedModel == "" {
			o.seen.ServedModel = dialect.Served(rawjson.String(m.Value()))
		}
		start, end := m.ValueSpan()
		spans = append(spans, dialect.Span{Start: base + start, End: base + end})
	}
	return spans
}

// count takes in the usage of a whole response, and what it puts out unless
// that came before.
func (o *observer) count(r *response) {
	if usage := openai.ReadUsage(r.usage); usage.Known {
		o.seen.Usage = usage
	}
	if o.said.Any() || openai.IsBlank(r.output) || r.output[0] != '[' {
		return
	}
	a := rawjson.NewArray(r.output)
	for a.Next() {
		m := rawjson.NewObject(a.Value())
		for m.Next() {
			switch {
			case m.Is("arguments"), m.Is("input"):
				o.grown(m.Value())
			case m.Is("content") && !openai.IsBlank(m.Value()):
				o.texts(m.Value())
			case m.Is("summary") && !openai.IsBlank(m.Value()):
				o.said.Add(m.Value())
			case m.Is("name"), m.Is("result") && !openai.IsBlank(m.Value()):
				o.seen.Output = true
			}
		}
	}
}

func (o *observer) texts(content []byte) {
	a := rawjson.NewArray(content)
	for a.Next() {
		m := rawjson.NewObject(a.Value())
		for m.Next() {
			if m.Is("text") || m.Is("refusal") {
				o.grown(m.Value())
			}
		}
	}
}

// Whole implements dialect.Observer. A response that goes on in the background
// is no failure, and not finished.
func (o *observer) Whole(body []byte) (dialect.Sight, error) {
	var r response
	r.read(body)
	if !r.sound {
		return dialect.Sight{}, dialect.ErrMalformed
	}
	sight := dialect.Sight{Models: o.models(body, 0), Failure: r.failure(upstream.ErrorInReply, body)}
	switch {
	case sight.Failure != nil:
		return sight, nil
	case len(r.output) == 0 || r.output[0] != '[':
		return dialect.Sight{}, dialect.ErrMalformed
	}
	o.count(&r)
	switch rawjson.String(r.status) {
	case inProgress, "queued":
	default:
		sight.Content, sight.Last, o.seen.Finished = true, true, true
	}
	return sight, nil
}

// Seen implements dialect.Observer.
func (o *observer) Seen() dialect.Seen {
	seen := o.seen
	seen.Tokens = o.said.Tokens()
	return seen
}

// Terminal implements dialect.Observer. The last event has the whole response:
// nobody else can make it up.
func (o *observer) Terminal() ([]byte, bool) { return nil, o.seen.Finished }
