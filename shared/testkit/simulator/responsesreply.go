package simulator

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// response is the response object in a state. It says again what was asked.
func (responsesFormat) response(p *prompt, a answer, status string, output []json.RawMessage) json.RawMessage {
	echo := func(name string, otherwise any) any {
		if v := p.request.Get(name); v.Exists() {
			return json.RawMessage(v.Raw)
		}
		return otherwise
	}
	details, usage := any(nil), any(nil)
	if status == "incomplete" {
		details = obj("reason", "max_output_tokens")
	}
	if status == "completed" || status == "incomplete" {
		usage = responsesUsage(a.usage)
	}
	return obj("id", "resp_"+a.id, "object", "response", "created_at", a.created.Unix(), "status", status,
		"background", false, "error", nil, "incomplete_details", details, "instructions", echo("instructions", nil),
		"max_output_tokens", echo("max_output_tokens", nil), "model", a.model, "output", list(output...),
		"parallel_tool_calls", !p.serial, "previous_response_id", echo("previous_response_id", nil),
		"reasoning", obj("effort", echo("reasoning.effort", nil), "summary", echo("reasoning.summary", nil)),
		"service_tier", "default", "store", echo("store", true), "temperature", echo("temperature", 1.0),
		"text", obj("format", echo("text.format", obj("type", "text"))), "tool_choice", echo("tool_choice", "auto"),
		"tools", echo("tools", list[int]()), "top_p", echo("top_p", 1.0), "truncation", "disabled", "usage", usage,
		"user", echo("user", nil), "metadata", echo("metadata", obj()), "completed_at", nil, "frequency_penalty", 0.0, "presence_penalty", 0.0)
}

func (f responsesFormat) plain(p *prompt, a answer) json.RawMessage {
	return f.response(p, a, responsesStatus(a.finish), p.outputItems(a))
}

func (p *prompt) outputItems(a answer) []json.RawMessage {
	var items []json.RawMessage
	if a.reasoning != "" {
		items = append(items, p.reasoningItem(a, "completed"))
	}
	for _, c := range a.calls {
		items = append(items, callItem(c, string(c.args), "completed"))
	}
	if len(a.calls) == 0 {
		items = append(items, p.messageItem(a, "completed"))
	}
	return items
}

func (p *prompt) reasoningItem(a answer, status string) json.RawMessage {
	summary, sealed := list[json.RawMessage](), any(omitted)
	if text := p.shown(a); status == "completed" && text != "" {
		summary = list(obj("type", "summary_text", "text", text))
	}
	if p.sealed {
		sealed = gpt.seal(a.reasoning)
	}
	return obj("id", "rs_"+a.id, "type", "reasoning", "encrypted_content", sealed, "summary", summary)
}

func callItem(c toolCall, args, status string) json.RawMessage {
	if c.custom {
		return obj("id", "ctc_"+c.id, "type", "custom_tool_call", "status", status, "call_id", "call_"+c.id, "input", args, "name", c.name)
	}
	return obj("id", "fc_"+c.id, "type", "function_call", "status", status, "arguments", args,
		"call_id", "call_"+c.id, "name", c.name)
}

func (p *prompt) messageItem(a answer, status string) json.RawMessage {
	content := list[json.RawMessage]()
	if status == "completed" {
		content = list(p.messagePart(a, a.text))
	}
	return obj("id", "msg_"+a.id, "type", "message", "status", status, "content", content, "role", "assistant")
}

func (p *prompt) messagePart(a answer, text string) json.RawMessage {
	if a.refusal != "" {
		return obj("type", "refusal", "refusal", a.refusal)
	}
	return obj("type", "output_text", "annotations", list[int](), "logprobs", p.responsesLogprobs(pieces(text)), "text", text)
}

// responsesLogprobs are those of chat without their wrapper.
func (p *prompt) responsesLogprobs(words []string) any {
	if all, ok := p.logprobsOf(words).(json.RawMessage); ok {
		return json.RawMessage(gjson.GetBytes(all, "content").Raw)
	}
	return list[int]()
}

func (f responsesFormat) frames(p *prompt, a answer) []frame {
	s := &responsesStream{prompt: p}
	s.push("response.created", frameOther, "response", f.response(p, a, "in_progress", nil))
	s.push("response.in_progress", frameOther, "response", f.response(p, a, "in_progress", nil))
	if a.reasoning != "" {
		s.reasoning(a)
	}
	s.calls(a.calls)
	if len(a.calls) == 0 {
		s.message(a)
	}
	status := responsesStatus(a.finish)
	s.push("response."+status, frameTerminal, "response", f.response(p, a, status, p.outputItems(a)))
	return s.out
}

// responsesStream numbers the events and the output items.
type responsesStream struct {
	prompt *prompt
	out    []frame
	item   int
}

func (s *responsesStream) push(event string, kind frameKind, pairs ...any) {
	head := []any{"type", event, "sequence_number", len(s.out)}
	s.out = append(s.out, frame{event: event, data: string(obj(append(head, pairs...)...)), kind: kind})
}

func (s *responsesStream) reasoning(a answer) {
	id := "rs_" + a.id
	s.push("response.output_item.added", frameOther, "output_index", s.item, "item", s.prompt.reasoningItem(a, "in_progress"))
	if text := s.prompt.shown(a); text != "" {
		at := []any{"item_id", id, "output_index", s.item, "summary_index", 0}
		with := func(more ...any) []any { return append(append([]any{}, at...), more...) }
		s.push("response.reasoning_summary_part.added", frameOther, with("part", obj("type", "summary_text", "text", ""))...)
		for _, word := range pieces(text) {
			s.push("response.reasoning_summary_text.delta", frameContent, with("delta", word)...)
		}
		s.push("response.reasoning_summary_text.done", frameOther, with("text", text)...)
		s.push("response.reasoning_summary_part.done", frameOther, with("part", obj("type", "summary_text", "text", text))...)
	}
	s.push("response.output_item.done", frameOther, "output_index", s.item, "item", s.prompt.reasoningItem(a, "completed"))
	s.item++
}

// calls take turns with their arguments.
func (s *responsesStream) calls(calls []toolCall) {
	name := func(c toolCall) (event, id string) {
		if c.custom {
			return "response.custom_tool_call_input", "ctc_" + c.id
		}
		return "response.function_call_arguments", "fc_" + c.id
	}
	for i, c := range calls {
		s.push("response.output_item.added", frameContent, "output_index", s.item+i, "item", callItem(c, "", "in_progress"))
	}
	for _, part := range interleaved(calls) {
		event, id := name(calls[part.call])
		s.push(event+".delta", frameContent, "item_id", id, "output_index", s.item+part.call, "delta", part.text)
	}
	for i, c := range calls {
		event, id := name(c)
		if c.custom {
			s.push(event+".done", frameOther, "item_id", id, "output_index", s.item+i, "input", string(c.args))
		} else {
			s.push(event+".done", frameOther, "item_id", id, "output_index", s.item+i, "name", c.name, "arguments", string(c.args))
		}
		s.push("response.output_item.done", frameOther, "output_index", s.item+i, "item", callItem(c, string(c.args), "completed"))
	}
	s.item += len(calls)
}

func (s *responsesStream) message(a answer) {
	at := []any{"item_id", "msg_" + a.id, "output_index", s.item, "content_index", 0}
	with := func(more ...any) []any { return append(append([]any{}, at...), more...) }
	empty := obj("type", "output_text", "annotations", list[int](), "logprobs", list[int](), "text", "")
	if a.refusal != "" {
		empty = obj("type", "refusal", "refusal", "")
	}
	s.push("response.output_item.added", frameOther, "output_index", s.item, "item", s.prompt.messageItem(a, "in_progress"))
	s.push("response.content_part.added", frameOther, with("part", empty)...)
	for _, word := range pieces(a.refusal) {
		s.push("response.refusal.delta", frameContent, with("delta", word)...)
	}
	if a.refusal != "" {
		s.push("response.refusal.done", frameOther, with("refusal", a.refusal)...)
	} else {
		for _, word := range a.deltas() {
			s.push("response.output_text.delta", frameContent, with("delta", word, "logprobs", s.prompt.responsesLogprobs([]string{word}))...)
		}
		s.push("response.output_text.done", frameOther, with("text", a.text, "logprobs", s.prompt.responsesLogprobs(pieces(a.text)))...)
	}
	s.push("response.content_part.done", frameOther, with("part", s.prompt.messagePart(a, a.text))...)
	s.push("response.output_item.done", frameOther, "output_index", s.item, "item", s.prompt.messageItem(a, "completed"))
	s.item++
}

func responsesStatus(f finish) string {
	if f == finishLength {
		return "incomplete"
	}
	return "completed"
}

func responsesUsage(u *usage) any {
	if u == nil {
		return nil
	}
	return obj("input_tokens", u.input, "input_tokens_details", obj("cached_tokens", u.cached), "output_tokens", u.output,
		"output_tokens_details", obj("reasoning_tokens", u.reasoning), "total_tokens", u.total())
}

func nullable(s string) any {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	return s
}
