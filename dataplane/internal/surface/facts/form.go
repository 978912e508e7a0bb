package facts

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawform"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// field is one part of a form.
type field struct {
	part  *rawform.Part
	value []byte
}

// ReadForm is Read for multipart/form-data. A field that the gateway reads may
// stand only once: servers differ in which of two they believe.
func ReadForm(format Format, body []byte, boundary string, h http.Header, o Options) (call.Request, *fault.Error) {
	var r reader
	r.begin(h, o)
	parts, syntax := rawform.Parse(body, boundary)
	if syntax != nil {
		return r.request, fault.Newf(fault.ValidationError, "The body is not valid multipart/form-data: %s.", syntax)
	}
	there := 0
	for i := range parts {
		f := &field{part: &parts[i], value: parts[i].Value(body)}
		if !r.spelled(f.part.Base()) {
			continue
		}
		if f.part.File || len(f.value) > 0 {
			there |= format.marks(f.part.Base())
		}
		if !r.commonField(f) {
			format.field(&r, f)
		}
	}
	r.request.Models = r.bounded(r.request.Models)
	r.missing(format, there)
	return r.finish()
}

// commonField reads the fields that mean the same in every form. Objects come
// as JSON; metadata also member by member, as OpenAI's clients write objects.
func (r *reader) commonField(f *field) bool {
	q := &r.request
	switch f.part.Base() {
	case "model":
		q.Model = r.short(f, MaxNameBytes)
	case "models":
		r.modelsField(f)
	case "stream":
		q.Stream = r.choice(f)
	case "session_id":
		q.SessionID = r.short(f, MaxIDBytes)
	case "user":
		q.EndUser = r.short(f, MaxIDBytes)
	case "preset":
		r.short(f, MaxNameBytes)
	case "metadata":
		r.metadataField(f)
	case "provider", "routing", "provider_options":
		if value := r.plain(f); len(value) > 0 && r.isObject(f) {
			r.own(f.part.Name, value)
		}
	default:
		return false
	}
	return true
}

// plain returns the value of a field that is no file, is no member of an array
// or object, and stands once; else it is nil.
func (r *reader) plain(f *field) []byte {
	name := f.part.Name
	switch {
	case f.part.File:
		r.wrong(name, wrongType, "must be a plain field, not a file")
	case name != f.part.Base():
		r.wrong(f.part.Base(), wrongType, "must be one field")
	case slices.Contains(r.once, name):
		r.wrong(name, duplicate, "must not stand in the form twice")
	default:
		r.once = append(r.once, name)
		return f.value
	}
	return nil
}

// short is the text of a plain field of at most limit bytes.
func (r *reader) short(f *field, limit int) string {
	value := r.plain(f)
	if len(value) > limit {
		r.wrong(f.part.Name, tooLong, "must have at most "+strconv.Itoa(limit)+" bytes")
		return ""
	}
	return string(value)
}

// choice reads a boolean as the languages of the clients write it.
func (r *reader) choice(f *field) bool {
	switch strings.ToLower(string(r.plain(f))) {
	case "true", "1":
		return true
	case "false", "0", "":
	default:
		r.wrong(f.part.Name, wrongType, "must be true or false")
	}
	return false
}

// modelsField reads one field of "models": a name, or a JSON array of them.
func (r *reader) modelsField(f *field) {
	q := &r.request
	name := f.part.Name
	switch {
	case f.part.File:
		r.wrong("models", wrongType, "must be plain fields, not files")
	case name != "models" && !isIndex(strings.TrimPrefix(name, "models")):
		r.wrong("models", wrongType, "must be fields named models or models[], or one field with a JSON array")
	case len(q.Models) > MaxModels: // told already
	case len(f.value) > 0 && f.value[0] == '[':
		// Within the bound a validator may recurse.
		if len(f.value) > MaxModels*2*MaxNameBytes || !gjson.ValidBytes(f.value) {
			r.wrong("models", wrongType, "must be a JSON array of model names")
			return
		}
		q.Models = append(q.Models, r.names(f.value)...)
	case len(f.value) > MaxNameBytes:
		r.wrong(entry("models", len(q.Models)), tooLong, "must have at most 256 bytes")
	default:
		q.Models = append(q.Models, string(f.value))
	}
}

// isIndex reports [] and [0].
func isIndex(text string) bool {
	inside, ok := strings.CutPrefix(text, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	return ok && closed && strings.Trim(inside, "0123456789") == ""
}

// isObject checks a field that holds a JSON object.
func (r *reader) isObject(f *field) bool {
	o := rawjson.NewObject(f.value)
	for o.Next() {
	}
	if !o.Whole() {
		r.wrong(f.part.Name, wrongType, "must be a JSON object")
		return false
	}
	return true
}

// metadataField reads metadata as one JSON object or one entry of it.
func (r *reader) metadataField(f *field) {
	if f.part.Name == "metadata" {
		if value := r.plain(f); len(value) > 0 && r.isObject(f) {
			r.own("metadata", value)
		}
		return
	}
	key := strings.TrimSuffix(strings.TrimPrefix(f.part.Name, "metadata["), "]")
	switch {
	case f.part.File, key == "", strings.ContainsAny(key, "[]"):
		r.wrong("metadata", wrongType, "must hold only strings, numbers, booleans and null")
	case len(r.metadata) > MaxMetadata: // told at the end
	default:
		if r.metadata == nil {
			r.metadata = make(map[string]any)
		}
		r.metadata[key] = string(f.value)
	}
}

// isFile checks a field that must be a file.
func (r *reader) isFile(f *field) bool {
	if !f.part.File {
		r.wrong(f.part.Base(), wrongType, "must be a file: a part with a filename")
	}
	return f.part.File
}

// file counts a file.
func (r *reader) file(m catalog.Modality) {
	r.need(m)
	r.tokens += mediaTokens
}

// optional notes a field that an endpoint may or may not support.
func (r *reader) optional(f *field) {
	if name := f.part.Base(); !slices.Contains(r.request.Parameters, name) {
		r.request.Parameters = append(r.request.Parameters, name)
	}
}
