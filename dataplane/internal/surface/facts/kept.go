package facts

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Videos is the body of POST /v1/videos, JSON or a form
// (https://platform.openai.com/docs/api-reference/videos/create).
var Videos = Format{member: composed, field: composedFields, required: []required{somePrompt}}

// Music is the body of POST /v1/music: its members differ from provider to
// provider but for the prompt.
var Music = Format{member: composed, field: composedFields, required: []required{
	{[]string{"prompt", "lyrics", "input"}, "must be a string"},
}}

// composed reads what describes a video or a piece of music.
func composed(r *reader, key string, value []byte) {
	switch {
	case r.unstreamed(key, value), r.user(key, value):
	case key == "prompt", key == "lyrics", key == "input":
		if r.string(key, value) {
			r.textBytes += int64(len(value))
		}
	default:
		r.parameter(key, value)
	}
}

func composedFields(r *reader, f *field) {
	switch name := f.part.Base(); {
	case name == "prompt", name == "lyrics", name == "input":
		r.textBytes += int64(len(r.plain(f)))
	case f.part.File && name == "input_reference":
		r.file(catalog.Image)
	default:
		r.optional(f)
	}
}

// Batches is the body of POST /v1/batches
// (https://platform.openai.com/docs/api-reference/batch/create). Where it goes
// stands in the file that it names: the endpoint that keeps it.
var Batches = Format{member: batches, required: []required{
	{[]string{"input_file_id"}, "must be the id of a file that was uploaded here with the purpose batch"},
	{[]string{"endpoint"}, "must be the path of the requests, as in /v1/chat/completions"},
}}

func batches(r *reader, key string, value []byte) {
	switch key {
	case "input_file_id":
		r.request.InputFile = r.text(key, value, maxObject)
	default:
		if !r.own(key, value) {
			r.parameter(key, value)
		}
	}
}

// maxObject bounds the id of a job or file, in bytes.
const maxObject = 1 << 10

// Files is the form of POST /v1/files
// (https://platform.openai.com/docs/api-reference/files/create). A file goes to
// an endpoint of a model: that which "model" names, the gateway's own field, or
// which the first request of a batch names.
var Files = Format{field: files, required: []required{
	{[]string{"file"}, "must be a file"},
	{[]string{"purpose"}, "must say what the file is for, as in batch or user_data"},
}}

func files(r *reader, f *field) {
	switch f.part.Base() {
	case "file":
		if r.isFile(f) {
			r.batchModel = modelOfBatch(f.value)
		}
	case "purpose":
		r.purpose = r.short(f, MaxIDBytes)
	default:
		r.optional(f)
	}
}

// modelOfBatch is the model that the first request of a batch names, "" when
// that cannot be read: the rest of the file is looked at when it is sent on.
func modelOfBatch(file []byte) string {
	for len(file) > 0 {
		var line []byte
		line, file, _ = bytes.Cut(file, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(line) > maxBatchLine || !gjson.ValidBytes(line) {
			return ""
		}
		if model := gjson.GetBytes(line, "body.model"); model.Type == gjson.String && len(model.Str) <= MaxNameBytes {
			return model.Str
		}
		return ""
	}
	return ""
}

// maxBatchLine bounds what a recursive validator looks at, in bytes.
const maxBatchLine = 1 << 20

// isBatch reports whether a form uploads a batch's requests.
func (r *reader) isBatch() bool { return r.purpose == "batch" }
