package facts

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Speech is the body of POST /v1/audio/speech
// (https://platform.openai.com/docs/api-reference/audio/createSpeech).
var Speech = Format{member: speech, required: []required{
	{[]string{"input"}, "must be a string"}, {[]string{"voice"}, "must be a voice's name or object"},
}}

// Transcriptions is the form of POST /v1/audio/transcriptions and
// /v1/audio/translations
// (https://platform.openai.com/docs/api-reference/audio/createTranscription).
var Transcriptions = Format{field: transcriptions, required: []required{{[]string{"file"}, "must be an audio file"}}}

func speech(r *reader, key string, value []byte) {
	switch {
	case key == "stream_format":
		r.parameter(key, value)
		r.streamFormat(value)
	case key == "stream": // not of this format, and not what makes it stream
		r.parameter(key, value)
	case r.common(key, value), r.user(key, value):
	case key == "input":
		if r.string("input", value) {
			r.textBytes += int64(len(value))
		}
	case key == "voice":
		if value[0] != '"' && value[0] != '{' && !rawjson.IsNull(value) {
			r.wrong("voice", wrongType, "must be a string or an object")
		}
	default:
		r.parameter(key, value)
	}
}

// streamFormat decides whether speech comes as events or as bytes.
func (r *reader) streamFormat(value []byte) {
	switch format := r.text("stream_format", value, MaxNameBytes); format {
	case "sse":
		r.request.Stream = true
	case "", "audio":
		r.request.Stream = false
	default:
		r.wrong("stream_format", outOfSet, `must be "sse" or "audio"`)
	}
}

func transcriptions(r *reader, f *field) {
	switch f.part.Base() {
	case "file":
		if r.isFile(f) {
			r.file(catalog.Audio)
		}
	case "prompt":
		r.textBytes += int64(len(r.plain(f)))
		r.request.Parameters = append(r.request.Parameters, "prompt")
	case "response_format", "language":
		r.plain(f)
		r.request.Parameters = append(r.request.Parameters, f.part.Name)
	default:
		r.optional(f)
	}
}
