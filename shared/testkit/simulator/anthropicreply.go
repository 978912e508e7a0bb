package simulator

import (
	"encoding/json"
	"net/http"
)

func (anthropicFormat) plain(p *prompt, a answer) json.RawMessage {
	var content []json.RawMessage
	switch {
	case a.reasoning == "":
	case p.terms["redacted"]:
		content = append(content, obj("type", "redacted_thinking", "data", claude.seal(a.reasoning)))
	default:
		content = append(content, obj("type", "thinking", "thinking", a.reasoning, "signature", claude.proof(a.reasoning)))
	}
	if text := a.text + a.refusal; text != "" || len(a.calls) == 0 {
		content = append(content, obj("type", "text", "text", text))
	}
	for _, c := range a.calls {
		content = append(content, obj("type", "tool_use", "id", "toolu_"+c.id, "name", c.name, "input", c.args))
	}
	return obj("id", "msg_"+a.id, "type", "message", "role", "assistant", "model", a.model, "content", content,
		"stop_reason", anthropicStop(a), "stop_sequence", nullable(a.stopped), "usage", anthropicUsage(a.usage))
}

func (anthropicFormat) frames(p *prompt, a answer) []frame {
	s := &anthropicStream{}
	opening := any(omitted)
	if a.usage != nil {
		first := *a.usage
		first.output = 1
		opening = anthropicUsage(&first)
	}
	s.push("message_start", frameOther, "message", obj("id", "msg_"+a.id, "type", "message", "role", "assistant",
		"model", a.model, "content", list[int](), "stop_reason", nil, "stop_sequence", nil, "usage", opening))
	s.push("ping", frameOther)
	switch {
	case a.reasoning == "":
	case p.terms["redacted"]:
		s.block(obj("type", "redacted_thinking", "data", claude.seal(a.reasoning)), nil)
	default:
		deltas := append(asDeltas("thinking_delta", "thinking", pieces(a.reasoning)),
			obj("type", "signature_delta", "signature", claude.proof(a.reasoning)))
		s.block(obj("type", "thinking", "thinking", "", "signature", ""), deltas)
	}
	if text := append(a.deltas(), pieces(a.refusal)...); len(text) > 0 || len(a.calls) == 0 {
		s.block(obj("type", "text", "text", ""), asDeltas("text_delta", "text", text))
	}
	for _, c := range a.calls {
		start := obj("type", "tool_use", "id", "toolu_"+c.id, "name", c.name, "input", obj())
		s.block(start, asDeltas("input_json_delta", "partial_json", c.argChunks()))
	}
	closing := any(omitted)
	if a.usage != nil {
		closing = obj("output_tokens", a.usage.output)
		if p.repeats { // the newer form repeats what message_start said
			closing = anthropicUsage(a.usage)
		}
	}
	s.push("message_delta", frameOther, "delta", obj("stop_reason", anthropicStop(a), "stop_sequence", nullable(a.stopped)),
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

var anthropicKinds = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	529:                              "overloaded_error",
}

func (anthropicFormat) failure(e refusal) json.RawMessage {
	kind, known := anthropicKinds[e.status]
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

func anthropicStop(a answer) string {
	if a.stopped != "" {
		return "stop_sequence"
	}
	return map[finish]string{finishStop: "end_turn", finishLength: "max_tokens", finishTools: "tool_use", finishRefused: "refusal"}[a.finish]
}

// anthropicUsage counts reads and writes of the cache beside the input.
func anthropicUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	return obj("input_tokens", u.input-u.cached-u.write5m-u.write1h,
		"cache_creation_input_tokens", u.write5m+u.write1h, "cache_read_input_tokens", u.cached,
		"cache_creation", obj("ephemeral_5m_input_tokens", u.write5m, "ephemeral_1h_input_tokens", u.write1h),
		"output_tokens", u.output, "service_tier", "standard")
}

// worded is https://docs.anthropic.com/en/api/errors.
func (anthropicFormat) worded(t trouble) refusal {
	switch t {
	case troubleQuota:
		return refusal{status: 400, message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}
	case troubleContext:
		return refusal{status: 400, message: "prompt is too long: 208310 tokens > 200000 maximum"}
	case troublePolicy:
		return refusal{status: 400, message: "Output blocked by content filtering policy"}
	case troubleAuth:
	}
	return refusal{status: 401, message: "invalid x-api-key"}
}
