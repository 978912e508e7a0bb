package simulator

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"
)

// respond answers what the conversation holds.
func (s *realtimeSession) respond() {
	settings := gjson.ParseBytes(s.settings)
	p := &prompt{model: s.model, terms: termsOf(s.model), system: settings.Get("instructions").Str, user: s.user, results: s.results, input: s.input + s.heard}
	p.add(p.system)
	for i, t := range settings.Get("tools").Array() {
		if refused := p.openAITool(i, t.Get("type").Str, t); refused != nil {
			s.fail("", refused.code, refused.message, refused.param)
			return
		}
	}
	a := answerTo(p, []byte(s.user+itoa(s.events)))
	id := "resp_" + a.id
	spoken := slices.Contains(strs(settings.Get("output_modalities")), "audio") && len(a.calls) == 0
	s.push("response.created", "response", s.response(id, "in_progress", nil, nil))
	var output []json.RawMessage
	if len(a.calls) == 0 {
		output = append(output, s.say(id, a, spoken))
	}
	for i, c := range a.calls {
		output = append(output, s.call(id, i, c))
	}
	if s.gone {
		return
	}
	s.input += a.usage.output
	s.push("response.done", "response", s.response(id, "completed", output, s.usage(a.usage, spoken)))
}

func (s *realtimeSession) response(id, status string, output []json.RawMessage, usage any) json.RawMessage {
	return obj("id", id, "object", "realtime.response", "status", status, "status_details", nil, "output", list(output...),
		"conversation_id", "conv_1", "output_modalities", raw(gjson.GetBytes(s.settings, "output_modalities")),
		"max_output_tokens", "inf", "usage", usage, "metadata", nil)
}

func (s *realtimeSession) usage(u *usage, spoken bool) any {
	if s.fault.NoUsage {
		return nil
	}
	text, audio := u.output, 0
	if spoken {
		text, audio = 0, u.output
	}
	return obj("total_tokens", u.total(), "input_tokens", u.input, "output_tokens", u.output,
		"input_token_details", obj("text_tokens", u.input-s.heard, "audio_tokens", s.heard, "image_tokens", 0, "cached_tokens", 0,
			"cached_tokens_details", obj("text_tokens", 0, "audio_tokens", 0, "image_tokens", 0)),
		"output_token_details", obj("text_tokens", text, "audio_tokens", audio))
}

// say writes a message as text, or as sound with its transcript.
func (s *realtimeSession) say(response string, a answer, spoken bool) json.RawMessage {
	item := "item_" + a.id
	at := []any{"response_id", response, "item_id", item, "output_index", 0, "content_index", 0}
	with := func(more ...any) []any { return append(append([]any{}, at...), more...) }
	name, part := "response.output_text", func(text string) json.RawMessage { return obj("type", "output_text", "text", text) }
	if spoken {
		name, part = "response.output_audio_transcript", func(text string) json.RawMessage {
			return obj("type", "output_audio", "transcript", text)
		}
	}
	message := func(status string, content ...json.RawMessage) json.RawMessage {
		return obj("id", item, "object", "realtime.item", "type", "message", "status", status, "role", "assistant", "content", list(content...))
	}
	text := a.text + a.refusal
	s.push("response.output_item.added", "response_id", response, "output_index", 0, "item", message("in_progress"))
	s.push("response.content_part.added", with("part", part(""))...)
	for _, word := range pieces(text) {
		s.delta(name+".delta", with("delta", word)...)
		if spoken {
			s.push("response.output_audio.delta", with("delta", base64Text(word))...)
		}
	}
	if spoken {
		s.push("response.output_audio.done", at...)
		s.push(name+".done", with("transcript", text)...)
	} else {
		s.push(name+".done", with("text", text)...)
	}
	s.push("response.content_part.done", with("part", part(text))...)
	done := message("completed", part(text))
	s.push("response.output_item.done", "response_id", response, "output_index", 0, "item", done)
	return done
}

func (s *realtimeSession) call(response string, index int, c toolCall) json.RawMessage {
	id, call := "item_"+c.id, "call_"+c.id
	if s.names == nil {
		s.names = map[string]string{}
	}
	s.names[call] = c.name
	item := func(status, args string) json.RawMessage {
		return obj("id", id, "object", "realtime.item", "type", "function_call", "status", status, "name", c.name, "call_id", call, "arguments", args)
	}
	at := []any{"response_id", response, "item_id", id, "output_index", index, "call_id", call}
	s.push("response.output_item.added", "response_id", response, "output_index", index, "item", item("in_progress", ""))
	for _, part := range c.argChunks() {
		s.delta("response.function_call_arguments.delta", append(slices.Clone(at), "delta", part)...)
	}
	s.push("response.function_call_arguments.done", append(slices.Clone(at), "name", c.name, "arguments", string(c.args))...)
	done := item("completed", string(c.args))
	s.push("response.output_item.done", "response_id", response, "output_index", index, "item", done)
	return done
}

// delta writes a content event and what the fault puts behind it.
func (s *realtimeSession) delta(event string, pairs ...any) {
	f := s.fault
	if s.gone || f.TPS > 0 && !s.sleep(time.Duration(float64(s.content)/f.TPS*float64(time.Second))-time.Since(s.began)) {
		s.gone = true
		return
	}
	s.push(event, pairs...)
	s.content++
	switch {
	case s.content == f.CutAfter:
		_ = s.conn.CloseNow()
		s.gone = true
	case s.content == f.HangAfter:
		for !s.gone { // the context does not end with a connection that was taken over
			_, _, err := s.conn.Read(s.ctx)
			s.gone = err != nil
		}
	case s.content == f.Malformed:
		s.write([]byte(`{"id": "unfinished`))
	case f.ErrorMid && s.content == errorMidAfter:
		s.push("error", "error", obj("type", "server_error", "code", nil, "message", midStream.message, "param", nil, "event_id", nil))
	}
}
