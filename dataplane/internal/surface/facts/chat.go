package facts

import (
	"bytes"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Chat reads the body of POST /v1/chat/completions
// (https://platform.openai.com/docs/api-reference/chat/create).
func Chat(r *reader, key string, value []byte) {
	if r.common(key, value) {
		return
	}
	switch key {
	case "messages":
		r.messages(value)
	case "stream_options":
		if r.object("stream_options", value) {
			if v := gjson.GetBytes(value, "include_usage"); v.Exists() {
				r.request.StreamUsage = r.flag("stream_options.include_usage", []byte(v.Raw))
			}
		}
	case "user":
		r.request.EndUser = r.text("user", value, MaxIDBytes)
	case "max_tokens":
		r.parameter(key, value)
		// The newer name wins over the older one, whichever comes first.
		if n := r.count("max_tokens", value); !r.newCap {
			r.request.OutputTokens = n
		}
	case "max_completion_tokens":
		r.parameter(key, value)
		if n := r.count("max_completion_tokens", value); n > 0 {
			r.newCap, r.request.OutputTokens = true, n
		}
	case "tools", "response_format", "functions":
		r.textBytes += int64(len(value))
		r.parameter(key, value)
	default:
		r.parameter(key, value)
	}
}

// common reads the members that mean the same in every JSON format.
func (r *reader) common(key string, value []byte) bool {
	q := &r.request
	switch key {
	case "model":
		q.Model = r.text("model", value, MaxNameBytes)
	case "models":
		q.Models = r.names(value)
	case "stream":
		q.Stream = r.flag("stream", value)
	case "session_id":
		q.SessionID = r.text("session_id", value, MaxIDBytes)
	case "metadata":
		if r.object("metadata", value) {
			var ok bool
			if r.metadata, ok = primitives(value); !ok {
				r.wrong("metadata", wrongType, "must hold only strings, numbers, booleans and null")
			}
		}
	case "provider":
		var wrong []fault.Violation
		q.Provider, wrong = decide.ParsePreferences(value)
		r.violations = append(r.violations, wrong...)
	case "routing":
		var wrong []fault.Violation
		q.Routing, wrong = decide.ParseRouting(value)
		r.violations = append(r.violations, wrong...)
	case "preset", "provider_options":
	default:
		return false
	}
	return true
}

// parameter notes a member that an endpoint may or may not support. A null
// asks for nothing.
func (r *reader) parameter(key string, value []byte) {
	if !rawjson.IsNull(value) {
		r.request.Parameters = append(r.request.Parameters, key)
	}
}

func (r *reader) names(value []byte) []string {
	if rawjson.IsNull(value) {
		return nil
	}
	if value[0] != '[' {
		r.wrong("models", wrongType, "must be an array of model names")
		return nil
	}
	var out []string
	gjson.ParseBytes(value).ForEach(func(_, entry gjson.Result) bool {
		path := "models." + strconv.Itoa(len(out))
		if entry.Type == gjson.Null {
			r.wrong(path, wrongType, "must be a string")
		}
		out = append(out, r.text(path, []byte(entry.Raw), MaxNameBytes))
		return len(out) <= MaxModels
	})
	if len(out) > MaxModels {
		r.wrong("models", "too_many", "must name at most 25 models")
		return nil
	}
	return out
}

// mediaTokens is what one image, sound or file counts for in the estimate;
// the bytes of its encoding say nothing about its tokens.
const mediaTokens = 1000

var parts = []struct {
	kind     string
	modality catalog.Modality
}{
	{"image_url", catalog.Image}, {"input_audio", catalog.Audio}, {"video_url", catalog.Video}, {"file", catalog.File},
}

func (r *reader) messages(value []byte) {
	if value[0] != '[' {
		r.wrong("messages", wrongType, "must be an array of messages")
		return
	}
	r.textBytes += int64(len(value))
	if !mayHoldMedia(value) {
		return
	}
	gjson.ParseBytes(value).ForEach(func(_, message gjson.Result) bool {
		content := message.Get("content")
		if !content.IsArray() {
			return true
		}
		content.ForEach(func(_, part gjson.Result) bool {
			kind := part.Get("type").String()
			for _, p := range parts {
				if p.kind == kind {
					r.need(p.modality)
					r.textBytes -= int64(len(part.Raw))
					r.mediaTokens += mediaTokens
				}
			}
			return true
		})
		return true
	})
}

// mayHoldMedia looks for the names of media parts anywhere, which is far
// cheaper than walking a long conversation that has none.
func mayHoldMedia(messages []byte) bool {
	for _, p := range parts {
		if bytes.Contains(messages, []byte(`"`+p.kind+`"`)) {
			return true
		}
	}
	return false
}
