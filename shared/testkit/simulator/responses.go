package simulator

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// responsesFormat is OpenAI's responses.
type responsesFormat struct{}

func (responsesFormat) read(_ *http.Request, body gjson.Result) (*prompt, *refusal) {
	if refused := openAIBasics(body, "input"); refused != nil {
		return nil, refused
	}
	p := &prompt{
		model:     body.Get("model").String(),
		stream:    body.Get("stream").Bool(),
		usage:     true,
		system:    body.Get("instructions").Str,
		reasoning: body.Get("reasoning.effort").Exists() && body.Get("reasoning.effort").Str != "none",
		serial:    body.Get("parallel_tool_calls").Type == gjson.False,
		maxTokens: int(body.Get("max_output_tokens").Int()),
	}
	p.add(p.system)
	if in := body.Get("input"); in.Type == gjson.String {
		p.addUser(p.add(in.Str))
	} else if refused := p.responsesInput(in); refused != nil {
		return nil, refused
	}
	for _, t := range body.Get("tools").Array() {
		if t.Get("type").Str == "function" {
			p.tools = append(p.tools, tool{name: t.Get("name").Str, schema: t.Get("parameters")})
		}
	}
	p.choice = openAIChoice(body.Get("tool_choice"), "name")
	switch body.Get("text.format.type").Str {
	case "json_schema":
		p.schema = body.Get("text.format.schema")
	case "json_object":
		p.object = true
	}
	return p, nil
}

func (p *prompt) responsesInput(items gjson.Result) *refusal {
	names := map[string]string{} // call id to tool
	for i, item := range items.Array() {
		switch item.Get("type").Str {
		case "function_call":
			names[item.Get("call_id").Str] = item.Get("name").Str
		case "function_call_output":
			text := p.add(item.Get("output").String())
			p.results = append(p.results, toolResult{name: names[item.Get("call_id").Str], text: text})
		case "reasoning", "item_reference":
		case "", "message":
			if refused := p.chatMessage(i, item); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// response is the response object in a state.
func (responsesFormat) response(p *prompt, a answer, status string, output []json.RawMessage) json.RawMessage {
	details := any(nil)
	if status == "incomplete" {
		details = obj("reason", "max_output_tokens")
	}
	usage := any(nil)
	if status == "completed" || status == "incomplete" {
		usage = responsesUsage(a.usage)
	}
	return obj("id", "resp_"+a.id, "object", "response", "created_at", a.created.Unix(), "status", status,
		"background", false, "error", nil, "incomplete_details", details, "instructions", nullable(p.system),
		"max_output_tokens", nil, "model", a.model, "output", list(output...), "parallel_tool_calls", !p.serial,
		"previous_response_id", nil, "reasoning", obj("effort", nil, "summary", nil), "service_tier", "default",
		"store", false, "temperature", 1.0, "text", obj("format", obj("type", "text")), "tool_choice", "auto",
		"tools", list[int](), "top_p", 1.0, "truncation", "disabled", "usage", usage, "user", nil, "metadata", obj())
}

func (f responsesFormat) plain(p *prompt, a answer) json.RawMessage {
	return f.response(p, a, responsesStatus(a.finish), f.output(a))
}

func (responsesFormat) output(a answer) []json.RawMessage {
	var items []json.RawMessage
	if a.reasoning != "" {
		items = append(items, reasoningItem(a, "completed"))
	}
	for _, c := range a.calls {
		items = append(items, callItem(c, string(c.args), "completed"))
	}
	if len(a.calls) == 0 {
		items = append(items, messageItem(a, a.text, "completed"))
	}
	return items
}

func reasoningItem(a answer, status string) json.RawMessage {
	summary := list[json.RawMessage]()
	if status == "completed" {
		summary = list(obj("type", "summary_text", "text", a.reasoning))
	}
	return obj("id", "rs_"+a.id, "type", "reasoning", "summary", summary)
}

func callItem(c toolCall, args, status string) json.RawMessage {
	return obj("id", "fc_"+c.id, "type", "function_call", "status", status, "arguments", args,
		"call_id", "call_"+c.id, "name", c.name)
}

func messageItem(a answer, text, status string) json.RawMessage {
	content := list[json.RawMessage]()
	if status == "completed" {
		content = list(textPart(text))
	}
	return obj("id", "msg_"+a.id, "type", "message", "status", status, "content", content, "role", "assistant")
}

func textPart(text string) json.RawMessage {
	return obj("type", "output_text", "annotations", list[int](), "logprobs", list[int](), "text", text)
}

func (f responsesFormat) frames(p *prompt, a answer) []frame {
	s := &responsesStream{}
	s.push("response.created", frameOther, "response", f.response(p, a, "in_progress", nil))
	s.push("response.in_progress", frameOther, "response", f.response(p, a, "in_progress", nil))
	if a.reasoning != "" {
		s.reasoning(a)
	}
	for _, c := range a.calls {
		s.call(c)
	}
	if len(a.calls) == 0 {
		s.message(a)
	}
	status := responsesStatus(a.finish)
	s.push("response."+status, frameTerminal, "response", f.response(p, a, status, f.output(a)))
	return s.out
}

// responsesStream numbers the events and the output items.
type responsesStream struct {
	out  []frame
	item int
}

func (s *responsesStream) push(event string, kind frameKind, pairs ...any) {
	head := []any{"type", event, "sequence_number", len(s.out)}
	s.out = append(s.out, frame{event: event, data: string(obj(append(head, pairs...)...)), kind: kind})
}

func (s *responsesStream) reasoning(a answer) {
	id := "rs_" + a.id
	s.push("response.output_item.added", frameOther, "output_index", s.item, "item", reasoningItem(a, "in_progress"))
	for _, word := range pieces(a.reasoning) {
		s.push("response.reasoning_summary_text.delta", frameContent, "item_id", id, "output_index", s.item,
			"summary_index", 0, "delta", word)
	}
	s.push("response.reasoning_summary_text.done", frameOther, "item_id", id, "output_index", s.item,
		"summary_index", 0, "text", a.reasoning)
	s.push("response.output_item.done", frameOther, "output_index", s.item, "item", reasoningItem(a, "completed"))
	s.item++
}

func (s *responsesStream) call(c toolCall) {
	id := "fc_" + c.id
	s.push("response.output_item.added", frameContent, "output_index", s.item, "item", callItem(c, "", "in_progress"))
	for _, part := range c.argChunks() {
		s.push("response.function_call_arguments.delta", frameContent, "item_id", id, "output_index", s.item, "delta", part)
	}
	s.push("response.function_call_arguments.done", frameOther, "item_id", id, "output_index", s.item,
		"name", c.name, "arguments", string(c.args))
	s.push("response.output_item.done", frameOther, "output_index", s.item, "item", callItem(c, string(c.args), "completed"))
	s.item++
}

func (s *responsesStream) message(a answer) {
	at := []any{"item_id", "msg_" + a.id, "output_index", s.item, "content_index", 0}
	with := func(more ...any) []any { return append(append([]any{}, at...), more...) }
	s.push("response.output_item.added", frameOther, "output_index", s.item, "item", messageItem(a, "", "in_progress"))
	s.push("response.content_part.added", frameOther, with("part", textPart(""))...)
	for _, word := range a.deltas() {
		s.push("response.output_text.delta", frameContent, with("delta", word, "logprobs", list[int]())...)
	}
	s.push("response.output_text.done", frameOther, with("text", a.text, "logprobs", list[int]())...)
	s.push("response.content_part.done", frameOther, with("part", textPart(a.text))...)
	s.push("response.output_item.done", frameOther, "output_index", s.item, "item", messageItem(a, a.text, "completed"))
	s.item++
}

func (responsesFormat) failure(e refusal) json.RawMessage { return openAIFailure(e) }

func (responsesFormat) failureFrame(e refusal) frame {
	data := obj("type", "error", "sequence_number", 0, "code", "server_error", "message", e.message, "param", nil)
	return frame{event: "error", data: string(data), kind: frameOther}
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
	return obj("input_tokens", u.input, "input_tokens_details", obj("cached_tokens", 0), "output_tokens", u.output,
		"output_tokens_details", obj("reasoning_tokens", u.reasoning), "total_tokens", u.total())
}

func nullable(s string) any {
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return s
}
