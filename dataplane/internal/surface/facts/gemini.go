package facts

import (
	"bytes"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

const someContents = "must be an array of contents"

// Gemini is the body of POST /v1beta/models/{model}:generateContent
// (https://ai.google.dev/api/generate-content). Its names may be written in
// camel or snake case, as in all JSON of protocol buffers. The path has the
// model.
var Gemini = Format{member: gemini, required: []required{{[]string{"contents"}, someContents}}}

// GeminiCount is the body of POST /v1beta/models/{model}:countTokens
// (https://ai.google.dev/api/tokens).
var GeminiCount = Format{member: gemini, required: []required{
	{[]string{"contents", "generateContentRequest", "generate_content_request"}, someContents},
}}

// geminiNames are the parameters that endpoints list under another name.
var geminiNames = map[string]string{
	"topP": "top_p", "topK": "top_k", "candidateCount": "n", "candidate_count": "n", "stopSequences": "stop", "stop_sequences": "stop",
	"presencePenalty": "presence_penalty", "frequencyPenalty": "frequency_penalty",
	"responseMimeType": "response_format", "response_mime_type": "response_format", "responseSchema": "response_format",
	"response_schema": "response_format", "responseJsonSchema": "response_format", "response_json_schema": "response_format",
	"responseLogprobs": "logprobs", "response_logprobs": "logprobs", "logprobs": "top_logprobs",
	"thinkingConfig": "reasoning", "thinking_config": "reasoning", "toolConfig": "tool_choice", "tool_config": "tool_choice",
}

func gemini(r *reader, key string, value []byte) {
	r.caching(key, value)
	if r.own(key, value) {
		return
	}
	switch key {
	case "contents":
		if r.array("contents", value) {
			r.turns(value)
			r.textBytes += int64(len(value))
			r.inlined(value)
		}
	case "systemInstruction", "system_instruction":
		if r.object(key, value) {
			r.system(value)
			r.textBytes += int64(len(value))
		}
	case "generationConfig", "generation_config":
		r.generation(key, value)
	case "generateContentRequest", "generate_content_request":
		if r.object(key, value) {
			r.textBytes += int64(len(value))
			for o := rawjson.NewObject(value); o.Next(); {
				if o.Is("contents") {
					r.inlined(o.Value())
				}
			}
		}
	case "tools":
		if r.array("tools", value) {
			r.tools(value)
			r.textBytes += int64(len(value))
			r.parameter(key, value)
		}
	case "model": // the path's counts
		r.text("model", value, MaxNameBytes)
	default:
		r.parameter(named(geminiNames, key), value)
	}
}

// generation reads the generation config, whose members are parameters.
func (r *reader) generation(path string, value []byte) {
	if !r.object(path, value) {
		return
	}
	for o := rawjson.NewObject(value); o.Next(); {
		switch {
		case o.Is("maxOutputTokens"), o.Is("max_output_tokens"):
			r.parameter("max_tokens", o.Value())
			r.request.OutputTokens = r.count(path+"."+o.Name(), o.Value())
		default:
			r.parameter(named(geminiNames, o.Name()), o.Value())
		}
	}
}

// inlined looks for the parts of contents that hold no text.
func (r *reader) inlined(contents []byte) {
	if !bytes.Contains(contents, []byte("nline")) && !bytes.Contains(contents, []byte("file")) { // far cheaper than a walk
		return
	}
	for a := rawjson.NewArray(contents); a.Next(); {
		for content := rawjson.NewObject(a.Value()); content.Next(); {
			if !content.Is("parts") {
				continue
			}
			for parts := rawjson.NewArray(content.Value()); parts.Next(); {
				r.part(parts.Value())
			}
		}
	}
}

func (r *reader) part(value []byte) {
	for o := rawjson.NewObject(value); o.Next(); {
		if !o.Is("inlineData") && !o.Is("inline_data") && !o.Is("fileData") && !o.Is("file_data") {
			continue
		}
		var mime string
		for blob := rawjson.NewObject(o.Value()); blob.Next(); {
			if blob.Is("mimeType") || blob.Is("mime_type") {
				mime = rawjson.String(blob.Value())
			}
		}
		r.medium(modalityOf(mime), o.Value())
	}
}
