package simulator

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// chatFormat is OpenAI's chat completions.
type chatFormat struct{}

func (chatFormat) read(_ *http.Request, body gjson.Result) (*prompt, *refusal) {
	p := &prompt{
		model:     body.Get("model").String(),
		stream:    body.Get("stream").Bool(),
		usage:     body.Get("stream_options.include_usage").Bool(),
		choices:   int(body.Get("n").Int()),
		stops:     strs(body.Get("stop")),
		logprobs:  body.Get("logprobs").Bool(),
		reasoning: body.Get("reasoning_effort").Exists() && body.Get("reasoning_effort").Str != "none",
		serial:    body.Get("parallel_tool_calls").Type == gjson.False,
		maxTokens: int(max(body.Get("max_completion_tokens").Int(), body.Get("max_tokens").Int())),
	}
	if refused := openAIBasics(body, "messages"); refused != nil {
		return nil, refused
	}
	for i, m := range body.Get("messages").Array() {
		if refused := p.chatMessage(i, m); refused != nil {
			return nil, refused
		}
	}
	for _, t := range body.Get("tools").Array() {
		p.tools = append(p.tools, tool{name: t.Get("function.name").String(), schema: t.Get("function.parameters")})
	}
	p.choice = openAIChoice(body.Get("tool_choice"), "function.name")
	switch body.Get("response_format.type").Str {
	case "json_schema":
		p.schema = body.Get("response_format.json_schema.schema")
	case "json_object":
		p.object = true
	}
	return p, nil
}

// openAIBasics checks what both of OpenAI's formats refuse.
func openAIBasics(body gjson.Result, input string) *refusal {
	if body.Get("model").Type != gjson.String {
		return refuse("model", "you must provide a model parameter")
	}
	if in := body.Get(input); !in.Exists() || (in.IsArray() && len(in.Array()) == 0) {
		return refuse(input, "Missing required parameter: '%s'.", input)
	}
	if t := body.Get("temperature"); t.Exists() && (t.Num < 0 || t.Num > 2) {
		return refuse("temperature", "Invalid 'temperature': expected a value from 0 to 2.")
	}
	return nil
}

func openAIChoice(choice gjson.Result, path string) toolChoice {
	switch {
	case choice.Str == "none":
		return toolChoice{mode: choiceNone}
	case choice.Str == "required":
		return toolChoice{mode: choiceRequired}
	case choice.IsObject():
		return toolChoice{mode: choiceRequired, name: choice.Get(path).Str}
	}
	return toolChoice{}
}

func (p *prompt) chatMessage(i int, m gjson.Result) *refusal {
	p.input += 3 // the frame of a message
	var text strings.Builder
	content := m.Get("content")
	if content.Type == gjson.String {
		text.WriteString(p.add(content.Str))
	}
	if content.IsArray() {
		for _, part := range content.Array() {
			switch part.Get("type").Str {
			case "text", "input_text", "output_text":
				text.WriteString(p.add(part.Get("text").Str))
			case "image_url", "input_image":
				p.addImage()
			}
		}
	}
	switch m.Get("role").Str {
	case "system", "developer":
		p.system += text.String()
	case "user":
		p.addUser(text.String())
	case "assistant":
	case "tool", "function":
		name := firstText(m.Get("name"), m.Get("tool_call_id"))
		p.results = append(p.results, toolResult{name: name, text: text.String()})
	default:
		return refuse("messages", "Invalid value for 'messages[%d].role'.", i)
	}
	return nil
}

func (chatFormat) head(a answer, object string) []any {
	return []any{"id", "chatcmpl-" + a.id, "object", object, "created", a.created.Unix(), "model", a.model}
}

const fingerprint = "fp_simulator"

func (f chatFormat) plain(p *prompt, a answer) json.RawMessage {
	calls := any(omitted)
	content := any(a.text)
	if len(a.calls) > 0 {
		var all []json.RawMessage
		for _, c := range a.calls {
			all = append(all, chatCall(c, omitted, string(c.args)))
		}
		calls, content = all, nil
	}
	var choices []json.RawMessage
	for i := range max(p.choices, 1) {
		message := obj("role", "assistant", "content", content, "refusal", nil, "annotations", list[int](),
			"reasoning_content", orOmit(a.reasoning), "tool_calls", calls)
		choices = append(choices, obj("index", i, "message", message, "logprobs", chatLogprobs(p, a.deltas()),
			"finish_reason", chatFinish(a.finish)))
	}
	pairs := append(f.head(a, "chat.completion"), "choices", choices, "usage", chatUsage(a.usage),
		"service_tier", "default", "system_fingerprint", fingerprint)
	return obj(pairs...)
}

func (f chatFormat) frames(p *prompt, a answer) []frame {
	var out []frame
	for i := range max(p.choices, 1) {
		out = append(out, f.choiceFrames(p, a, i)...)
	}
	if p.usage && a.usage != nil {
		pairs := append(f.head(a, chunkObject), "service_tier", "default", "system_fingerprint", fingerprint,
			"choices", list[int](), "usage", chatUsage(a.usage))
		out = append(out, frame{data: string(obj(pairs...)), kind: frameUsage})
	}
	return append(out, frame{data: "[DONE]", kind: frameTerminal})
}

const chunkObject = "chat.completion.chunk"

func (f chatFormat) choiceFrames(p *prompt, a answer, index int) []frame {
	usage := any(omitted)
	if p.usage {
		usage = nil
	}
	chunk := func(delta json.RawMessage, finish, logprobs any, kind frameKind) frame {
		choice := obj("index", index, "delta", delta, "logprobs", logprobs, "finish_reason", finish)
		pairs := append(f.head(a, chunkObject), "service_tier", "default", "system_fingerprint", fingerprint,
			"choices", list(choice), "usage", usage)
		return frame{data: string(obj(pairs...)), kind: kind}
	}
	opening := any("")
	if len(a.calls) > 0 {
		opening = nil
	}
	out := []frame{chunk(obj("role", "assistant", "content", opening, "refusal", nil), nil, nil, frameOther)}
	for _, word := range pieces(a.reasoning) {
		out = append(out, chunk(obj("reasoning_content", word), nil, nil, frameContent))
	}
	for i, c := range a.calls {
		out = append(out, chunk(obj("tool_calls", list(chatCall(c, i, ""))), nil, nil, frameContent))
	}
	for _, part := range interleaved(a.calls) {
		delta := obj("tool_calls", list(obj("index", part.call, "function", obj("arguments", part.text))))
		out = append(out, chunk(delta, nil, nil, frameContent))
	}
	for _, word := range a.deltas() {
		out = append(out, chunk(obj("content", word), nil, chatLogprobs(p, []string{word}), frameContent))
	}
	return append(out, chunk(obj(), chatFinish(a.finish), nil, frameOther))
}

func (chatFormat) failure(e refusal) json.RawMessage { return openAIFailure(e) }

func (chatFormat) failureFrame(e refusal) frame {
	return frame{data: string(openAIFailure(e)), kind: frameOther}
}

func chatCall(c toolCall, index any, args string) json.RawMessage {
	return obj("index", index, "id", "call_"+c.id, "type", "function",
		"function", obj("name", c.name, "arguments", args))
}

func chatFinish(f finish) string {
	return map[finish]string{finishStop: "stop", finishLength: "length", finishTools: "tool_calls"}[f]
}

func chatUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	return obj("prompt_tokens", u.input, "completion_tokens", u.output, "total_tokens", u.total(),
		"prompt_tokens_details", obj("cached_tokens", 0, "audio_tokens", 0),
		"completion_tokens_details", obj("reasoning_tokens", u.reasoning, "audio_tokens", 0,
			"accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0))
}

func chatLogprobs(p *prompt, words []string) any {
	if !p.logprobs {
		return nil
	}
	var content []json.RawMessage
	for _, w := range words {
		content = append(content, obj("token", w, "logprob", -0.25, "bytes", []byte(nil), "top_logprobs", list[int]()))
	}
	return obj("content", list(content...), "refusal", nil)
}

type argPart struct {
	call int
	text string
}

// interleaved takes turns between the calls, as parallel calls may arrive.
func interleaved(calls []toolCall) []argPart {
	var out []argPart
	chunks := make([][]string, len(calls))
	for i, c := range calls {
		chunks[i] = c.argChunks()
	}
	for round, more := 0, true; more; round++ {
		more = false
		for i := range chunks {
			if round < len(chunks[i]) {
				out = append(out, argPart{call: i, text: chunks[i][round]})
				more = true
			}
		}
	}
	return out
}

func openAIFailure(e refusal) json.RawMessage {
	kind := "invalid_request_error"
	switch {
	case e.status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case e.status == http.StatusUnauthorized:
		kind = "authentication_error"
	case e.status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return obj("error", obj("message", e.message, "type", kind, "param", nullable(e.param), "code", nullable(e.code)))
}
