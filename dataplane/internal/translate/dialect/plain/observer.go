// Package plain owns watching the answers of the surfaces that carry no
// conversation: embeddings, moderations, reranking, images, sound, documents.
// Their formats are the same at every provider that has them, so that answers
// only pass; what counts is the model's name, the usage, and errors. It knows
// no request.
package plain

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Observer watches one answer. It implements dialect.Observer.
type Observer struct {
	seen   dialect.Seen
	speech bool // what comes out is sound
	spans  [2]dialect.Span
}

// Observe returns an Observer. Of a speech surface the output is sound.
func Observe(speech bool) *Observer { return &Observer{speech: speech} }

// Event implements dialect.Observer. The events are
// https://platform.openai.com/docs/api-reference/images-streaming,
// audio-stream/speech-audio-delta-event and audio/transcript-text-delta-event.
func (o *Observer) Event(name, data []byte) (dialect.Sight, error) {
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		return dialect.Sight{Last: true}, nil
	}
	sight, kind, err := o.read(data, upstream.ErrorInStream, string(name) == "error")
	if err != nil || sight.Failure != nil {
		return sight, err
	}
	ended := bytes.HasSuffix(kind, []byte(`.completed"`)) || bytes.HasSuffix(kind, []byte(`.done"`))
	o.seen.Finished = o.seen.Finished || ended
	sight.Content = true
	o.seen.Output = true
	return sight, nil
}

// Whole implements dialect.Observer.
func (o *Observer) Whole(body []byte) (dialect.Sight, error) {
	sight, _, err := o.read(body, upstream.ErrorInReply, false)
	if err == nil && sight.Failure == nil {
		o.seen.Output, o.seen.Finished = true, true
	}
	return sight, err
}

func (o *Observer) read(data []byte, inBand upstream.Class, isError bool) (sight dialect.Sight, kind []byte, err error) {
	var problem []byte
	models := o.spans[:0]
	members := rawjson.NewObject(data)
	for members.Next() {
		value := members.Value()
		switch {
		case members.Is("model") && rawjson.IsString(value):
			start, end := members.ValueSpan()
			models = append(models, dialect.Span{Start: start, End: end})
			if o.seen.ServedModel == "" {
				o.seen.ServedModel = rawjson.String(value)
			}
		case members.Is("type"):
			kind = value
		case members.Is("error"):
			problem = value
		case members.Is("usage"):
			o.count(usageOf(value, o.speech))
		case members.Is("meta"):
			o.count(billedUnits(value))
		}
	}
	switch {
	case !members.Whole():
		if isError {
			return dialect.Sight{Failure: upstream.InBand(inBand, 0, data)}, nil, nil
		}
		return dialect.Sight{}, nil, dialect.ErrMalformed
	case isError, len(problem) > 2 && (problem[0] == '{' || problem[0] == '"'), string(kind) == `"error"`:
		return dialect.Sight{Failure: upstream.InBand(inBand, 0, data)}, nil, nil
	}
	return dialect.Sight{Models: models}, kind, nil
}

// count keeps the last usage that said anything.
func (o *Observer) count(u conversation.Usage) {
	if u.Known {
		o.seen.Usage = u
	}
}

// Seen implements dialect.Observer.
func (o *Observer) Seen() dialect.Seen { return o.seen }

// Terminal implements dialect.Observer: these streams end with their last
// event, whether a marker follows or not.
func (o *Observer) Terminal() ([]byte, bool) { return nil, o.seen.Finished }
