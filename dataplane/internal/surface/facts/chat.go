package facts

import (
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Chat is the body of POST /v1/chat/completions
// (https://platform.openai.com/docs/api-reference/chat/create).
var Chat = Format{member: chat, required: []required{{[]string{"messages"}, "must be an array of messages"}}}

// Completions is the body of POST /v1/completions
// (https://platform.openai.com/docs/api-reference/completions/create).
var Completions = Format{member: completions, required: []required{
	{[]string{"prompt"}, "must be a string, an array of strings, or tokens"},
}}

var chatKinds = kinds{
	{"image_url", catalog.Image}, {"input_audio", catalog.Audio}, {"video_url", catalog.Video}, {"file", catalog.File},
}

func chat(r *reader, key string, value []byte) {
	r.caching(key, value)
	if r.common(key, value) || r.user(key, value) || r.streamOptions(key, value) {
		return
	}
	switch key {
	case "messages":
		if r.array("messages", value) {
			r.turns(value)
			r.textBytes += int64(len(value))
			r.media(value, chatKinds)
		}
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
	case "tools", "functions":
		r.tools(value)
		r.textBytes += int64(len(value))
		r.parameter(key, value)
	case "response_format":
		r.textBytes += int64(len(value))
		r.parameter(key, value)
	default:
		r.parameter(key, value)
	}
}

// streamOptions reads whether the caller asks for the usage of a stream itself.
func (r *reader) streamOptions(key string, value []byte) bool {
	if key != "stream_options" {
		return false
	}
	if r.object("stream_options", value) {
		if v := gjson.GetBytes(value, "include_usage"); v.Exists() {
			r.request.StreamUsage = r.flag("stream_options.include_usage", []byte(v.Raw))
		}
	}
	return true
}

func completions(r *reader, key string, value []byte) {
	r.caching(key, value)
	if r.common(key, value) || r.user(key, value) || r.streamOptions(key, value) {
		return
	}
	switch key {
	case "prompt":
		r.texts("prompt", value)
		r.request.Caching.Opening.Turns, r.request.Caching.Opening.Prompt = value, true
	case "max_tokens":
		r.parameter(key, value)
		r.request.OutputTokens = r.count("max_tokens", value)
	default:
		r.parameter(key, value)
	}
}
