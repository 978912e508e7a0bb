package facts

import (
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Responses is the body of POST /v1/responses
// (https://platform.openai.com/docs/api-reference/responses/create).
var Responses = Format{member: responses, required: []required{
	// A stored prompt or conversation can stand in for the input.
	{[]string{"input", "prompt", "conversation", "previous_response_id"}, "must be a string or an array of items"},
}}

var responsesKinds = kinds{
	{"input_image", catalog.Image},
	{"input_file", catalog.File},
	{"input_audio", catalog.Audio},
	{"input_video", catalog.Video},
	{"computer_screenshot", catalog.Image},
}

func responses(r *reader, key string, value []byte) {
	r.caching(key, value)
	if r.common(key, value) || r.user(key, value) {
		return
	}
	switch key {
	case "input":
		if r.textOrArray("input", value) {
			if !r.stored {
				r.turns(value)
			}
			r.textBytes += int64(len(value))
			if value[0] == '[' {
				r.media(value, responsesKinds)
			}
		}
	case "instructions":
		// Replies repeat instructions as items, and some clients send them back.
		if r.textOrArray("instructions", value) {
			r.system(value)
			r.textBytes += int64(len(value))
		}
	case "stream_options":
		r.object("stream_options", value)
	case "max_output_tokens":
		r.parameter("max_tokens", value)
		r.request.OutputTokens = r.count("max_output_tokens", value)
	case "tools":
		if r.array("tools", value) {
			r.tools(value)
			r.textBytes += int64(len(value))
			r.parameter(key, value)
		}
	case "conversation":
		r.parameter(key, value)
		if !rawjson.IsNull(value) { // holds the first turn, and stays when the input is a later one
			r.stored = true
			r.turns(value)
		}
	case "text":
		r.outputText(value)
	default:
		r.parameter(key, value)
	}
}

// outputText names what of the "text" member is asked for, as endpoints list
// it: plain text is what every one gives.
func (r *reader) outputText(value []byte) {
	if !r.object("text", value) {
		return
	}
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("format"):
			r.textBytes += int64(len(o.Value()))
			if kind := gjson.GetBytes(o.Value(), "type").String(); kind != "" && kind != "text" {
				r.parameter("response_format", o.Value())
			}
		default:
			r.parameter(o.Name(), o.Value())
		}
	}
}
