package simulator

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// anthropicFormat is Anthropic's messages.
type anthropicFormat struct{}

func (anthropicFormat) read(_ *http.Request, body gjson.Result) (*prompt, *refusal) {
	for _, field := range []string{"model", "messages"} {
		if !body.Get(field).Exists() {
			return nil, refuse(field, "%s: Field required", field)
		}
	}
	p := &prompt{
		model:     body.Get("model").String(),
		stream:    body.Get("stream").Bool(),
		usage:     true,
		stops:     strs(body.Get("stop_sequences")),
		reasoning: body.Get("thinking.type").Str == "enabled" || body.Get("thinking.type").Str == "adaptive",
		serial:    body.Get("tool_choice.disable_parallel_tool_use").Bool(),
		maxTokens: int(body.Get("max_tokens").Int()),
	}
	p.system = p.anthropicText(body.Get("system"))
	names := map[string]string{} // tool_use id to tool
	for i, m := range body.Get("messages").Array() {
		if refused := p.anthropicMessage(i, m, names); refused != nil {
			return nil, refused
		}
	}
	for _, t := range body.Get("tools").Array() {
		p.tools = append(p.tools, tool{name: t.Get("name").Str, schema: t.Get("input_schema")})
	}
	switch body.Get("tool_choice.type").Str {
	case "any":
		p.choice.mode = choiceRequired
	case "none":
		p.choice.mode = choiceNone
	case "tool":
		p.choice = toolChoice{mode: choiceRequired, name: body.Get("tool_choice.name").Str}
	}
	if format := body.Get("output_config.format"); format.Get("type").Str == "json_schema" {
		p.schema = format.Get("schema")
	}
	return p, nil
}

// anthropicText joins the text of a string or of text blocks.
func (p *prompt) anthropicText(content gjson.Result) string {
	if content.Type == gjson.String {
		return p.add(content.Str)
	}
	var text strings.Builder
	for _, block := range content.Array() {
		switch block.Get("type").Str {
		case "text":
			text.WriteString(p.add(block.Get("text").Str))
		case "image":
			p.addImage()
		}
	}
	return text.String()
}

func (p *prompt) anthropicMessage(i int, m gjson.Result, names map[string]string) *refusal {
	p.input += 3 // the frame of a message
	text := p.anthropicText(m.Get("content"))
	switch m.Get("role").Str {
	case "user":
		var results []toolResult
		for _, block := range m.Get("content").Array() {
			if block.Get("type").Str == "tool_result" {
				results = append(results, toolResult{
					name: names[block.Get("tool_use_id").Str], text: p.anthropicText(block.Get("content")),
				})
			}
		}
		if len(results) > 0 {
			p.results = results
		} else {
			p.addUser(text)
		}
	case "assistant":
		for _, block := range m.Get("content").Array() {
			if block.Get("type").Str == "tool_use" {
				names[block.Get("id").Str] = block.Get("name").Str
			}
		}
	default:
		return refuse("", "messages.%d.role: Input should be 'user' or 'assistant'", i)
	}
	return nil
}

// signature stands for the opaque proof of a thinking block.
const signature = "c2ltdWxhdGVk"

func (anthropicFormat) plain(_ *prompt, a answer) json.RawMessage {
	var content []json.RawMessage
	if a.reasoning != "" {
		content = append(content, obj("type", "thinking", "thinking", a.reasoning, "signature", signature))
	}
	if a.text != "" || len(a.calls) == 0 {
		content = append(content, obj("type", "text", "text", a.text))
	}
	for _, c := range a.calls {
		content = append(content, obj("type", "tool_use", "id", "toolu_"+c.id, "name", c.name, "input", c.args))
	}
	return obj("id", "msg_"+a.id, "type", "message", "role", "assistant", "model", a.model, "content", content,
		"stop_reason", anthropicStop(a.finish), "stop_sequence", nil, "usage", anthropicUsage(a.usage))
}

func (anthropicFormat) frames(_ *prompt, a answer) []frame {
	s := &anthropicStream{}
	opening := any(omitted)
	if a.usage != nil {
		opening = anthropicUsage(&usage{input: a.usage.input, output: 1})
	}
	s.push("message_start", frameOther, "message", obj("id", "msg_"+a.id, "type", "message", "role", "assistant",
		"model", a.model, "content", list[int](), "stop_reason", nil, "stop_sequence", nil, "usage", opening))
	s.push("ping", frameOther)
	if a.reasoning != "" {
		deltas := append(asDeltas("thinking_delta", "thinking", pieces(a.reasoning)),
			obj("type", "signature_delta", "signature", signature))
		s.block(obj("type", "thinking", "thinking", "", "signature", ""), deltas)
	}
	if a.text != "" || len(a.calls) == 0 {
		s.block(obj("type", "text", "text", ""), asDeltas("text_delta", "text", a.deltas()))
	}
	for _, c := range a.calls {
		start := obj("type", "tool_use", "id", "toolu_"+c.id, "name", c.name, "input", obj())
		s.block(start, asDeltas("input_json_delta", "partial_json", c.argChunks()))
	}
	closing := any(omitted)
	if a.usage != nil {
		closing = obj("output_tokens", a.usage.output)
	}
	s.push("message_delta", frameOther, "delta", obj("stop_reason", anthropicStop(a.finish), "stop_sequence", nil),
		"usage", closing)
	s.push("message_stop", frameTerminal)
	return s.out
}

// anthropicStream numbers the content blocks.
type anthropicStream struct {
	out    []frame
	blocks int
}

func (s *anthropicStream) push(event string, kind frameKind, pairs ...any) {
	data := obj(append([]any{"type", event}, pairs...)...)
	s.out = append(s.out, frame{event: event, data: string(data), kind: kind})
}

func (s *anthropicStream) block(start json.RawMessage, deltas []json.RawMessage) {
	s.push("content_block_start", frameOther, "index", s.blocks, "content_block", start)
	for _, d := range deltas {
		s.push("content_block_delta", frameContent, "index", s.blocks, "delta", d)
	}
	s.push("content_block_stop", frameOther, "index", s.blocks)
	s.blocks++
}

func asDeltas(kind, member string, texts []string) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(texts))
	for _, t := range texts {
		out = append(out, obj("type", kind, member, t))
	}
	return out
}

func (anthropicFormat) failure(e refusal) json.RawMessage {
	kind, known := map[int]string{
		http.StatusUnauthorized:          "authentication_error",
		http.StatusForbidden:             "permission_error",
		http.StatusNotFound:              "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large",
		http.StatusTooManyRequests:       "rate_limit_error",
		529:                              "overloaded_error",
	}[e.status]
	if !known {
		kind = "invalid_request_error"
		if e.status >= http.StatusInternalServerError {
			kind = "api_error"
		}
	}
	return obj("type", "error", "error", obj("type", kind, "message", e.message), "request_id", "req_simulated")
}

func (f anthropicFormat) failureFrame(e refusal) frame {
	e.status = 529
	return frame{event: "error", data: string(f.failure(e)), kind: frameOther}
}

func anthropicStop(f finish) string {
	return map[finish]string{finishStop: "end_turn", finishLength: "max_tokens", finishTools: "tool_use"}[f]
}

func anthropicUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	return obj("input_tokens", u.input, "cache_creation_input_tokens", 0, "cache_read_input_tokens", 0,
		"cache_creation", obj("ephemeral_5m_input_tokens", 0, "ephemeral_1h_input_tokens", 0),
		"output_tokens", u.output, "service_tier", "standard")
}
