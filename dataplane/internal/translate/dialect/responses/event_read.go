package responses

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// event is an event of a stream: its members as they are written.
type event struct {
	kind                     []byte // a string
	delta, whole, logprobs   []byte
	item, part, annotation   []byte
	response                 []byte
	responseAt               int
	problem                  []byte
	output, content, summary int64 // indexes
}

// read reports whether data is one sound JSON object. It allocates nothing.
func (e *event) read(data []byte) bool {
	o := rawjson.NewObject(data)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("type"):
			e.kind = v
		case o.Is("delta"):
			e.delta = v
		case o.Is("output_index"):
			e.output = rawjson.Int(v)
		case o.Is("content_index"):
			e.content = rawjson.Int(v)
		case o.Is("summary_index"):
			e.summary = rawjson.Int(v)
		case o.Is("text"), o.Is("refusal"), o.Is("arguments"), o.Is("input"):
			e.whole = v
		case o.Is("logprobs"):
			e.logprobs = v
		case o.Is("item"):
			e.item = v
		case o.Is("part"):
			e.part = v
		case o.Is("annotation"):
			e.annotation = v
		case o.Is("response"):
			e.response = v
			e.responseAt, _ = o.ValueSpan()
		case o.Is("error"):
			e.problem = v
		}
	}
	return o.Whole()
}

// typeOf is the event's type. name is what the stream calls it,
// which some providers say there only.
func (e *event) typeOf(name []byte) []byte {
	if len(e.kind) > 2 && rawjson.IsString(e.kind) {
		return e.kind[1 : len(e.kind)-1]
	}
	return name
}

// failure is the error that an event of a type is, or nil.
func (e *event) failure(kind, name, data []byte) *upstream.Failure {
	switch string(kind) {
	case "error", "":
		if len(kind) == 0 && string(name) != "error" && !openai.IsProblem(e.problem) {
			return nil
		}
		if openai.IsProblem(e.problem) {
			data = e.problem
		}
		return upstream.InBand(upstream.ErrorInStream, 0, data)
	case "response.failed":
		var r response
		r.read(e.response)
		if failure := r.failure(upstream.ErrorInStream, e.response); failure != nil {
			return failure
		}
		return upstream.InBand(upstream.ErrorInStream, 0, nil)
	}
	return nil
}
