package simulator

import "encoding/json"

func (chatFormat) head(a answer, object string) []any {
	return []any{"id", "chatcmpl-" + a.id, "object", object, "created", a.created.Unix(), "model", a.model}
}

const fingerprint = "fp_simulator"

// thoughts is the member that carries reasoning.
func (p *prompt) thoughts() string {
	if p.terms["quirk-reasoning"] {
		return "reasoning"
	}
	return "reasoning_content"
}

// shown is the reasoning that the caller may see.
func (p *prompt) shown(a answer) string {
	if p.hidden {
		return ""
	}
	return a.reasoning
}

func (f chatFormat) plain(p *prompt, a answer) json.RawMessage {
	calls, content, refusal, audio := any(omitted), any(a.text), any(nil), any(omitted)
	switch {
	case a.refusal != "":
		content, refusal = nil, a.refusal
	case len(a.calls) > 0:
		var all []json.RawMessage
		for _, c := range a.calls {
			all = append(all, chatCall(c, omitted, string(c.args)))
		}
		calls, content = all, nil
	case p.speaks:
		content, audio = nil, obj("id", "audio_"+a.id, "data", spokenAs(a.text), "expires_at", a.created.Unix()+3600, "transcript", a.text)
	}
	var choices []json.RawMessage
	for i := range max(p.choices, 1) {
		message := obj("role", "assistant", "content", content, "refusal", refusal, "annotations", list[int](),
			p.thoughts(), orOmit(p.shown(a)), "audio", audio, "tool_calls", calls)
		choices = append(choices, obj("index", i, "message", message, "logprobs", p.logprobsOf(a.deltas()),
			"finish_reason", chatFinish(a.finish)))
	}
	pairs := append(f.head(a, "chat.completion"), "choices", choices, "usage", chatUsage(a.usage),
		"service_tier", "default", "system_fingerprint", fingerprint)
	return obj(pairs...)
}

// spokenAs stands for recorded speech.
func spokenAs(text string) string { return base64Text("RIFF" + text) }

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
	if len(a.calls) > 0 || p.speaks || a.refusal != "" {
		opening = nil
	}
	out := []frame{chunk(obj("role", "assistant", "content", opening, "refusal", nil), nil, nil, frameOther)}
	say := func(delta json.RawMessage) { out = append(out, chunk(delta, nil, nil, frameContent)) }
	for _, word := range pieces(p.shown(a)) {
		say(obj(p.thoughts(), word))
	}
	for i, c := range a.calls {
		say(obj("tool_calls", list(chatCall(c, i, ""))))
	}
	for _, part := range interleaved(a.calls) {
		inner := []any{"function", obj("arguments", part.text)}
		if a.calls[part.call].custom {
			inner = []any{"custom", obj("input", part.text)}
		}
		say(obj("tool_calls", list(obj(append([]any{"index", part.call}, inner...)...))))
	}
	for _, word := range pieces(a.refusal) {
		say(obj("refusal", word))
	}
	if p.speaks {
		return append(append(out, f.spokenFrames(a, chunk)...), chunk(obj(), chatFinish(a.finish), nil, frameOther))
	}
	for _, word := range a.deltas() {
		out = append(out, chunk(obj("content", word), nil, p.logprobsOf([]string{word}), frameContent))
	}
	return append(out, chunk(obj(), chatFinish(a.finish), nil, frameOther))
}

// spokenFrames are an answer in audio: the transcript, the sound, the end.
func (chatFormat) spokenFrames(a answer, chunk func(json.RawMessage, any, any, frameKind) frame) []frame {
	var out []frame
	for _, word := range a.deltas() {
		out = append(out, chunk(obj("audio", obj("id", "audio_"+a.id, "transcript", word)), nil, nil, frameContent))
	}
	for _, word := range a.deltas() {
		out = append(out, chunk(obj("audio", obj("id", "audio_"+a.id, "data", spokenAs(word))), nil, nil, frameContent))
	}
	return append(out, chunk(obj("audio", obj("id", "audio_"+a.id, "expires_at", a.created.Unix()+3600)), nil, nil, frameOther))
}

func chatCall(c toolCall, index any, args string) json.RawMessage {
	if c.custom {
		return obj("index", index, "id", "call_"+c.id, "type", "custom", "custom", obj("name", c.name, "input", args))
	}
	return obj("index", index, "id", "call_"+c.id, "type", "function",
		"function", obj("name", c.name, "arguments", args))
}

func chatFinish(f finish) string {
	return map[finish]string{finishStop: "stop", finishLength: "length", finishTools: "tool_calls", finishRefused: "stop"}[f]
}

func chatUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	return obj("prompt_tokens", u.input, "completion_tokens", u.output, "total_tokens", u.total(),
		"prompt_tokens_details", obj("cached_tokens", u.cached, "audio_tokens", u.audio),
		"completion_tokens_details", obj("reasoning_tokens", u.reasoning, "audio_tokens", u.spoken,
			"accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0))
}

func (p *prompt) logprobsOf(words []string) any {
	if !p.logprobs {
		return nil
	}
	var content []json.RawMessage
	for _, w := range words {
		one := func(token string, logprob float64, more ...any) json.RawMessage {
			var raw []int
			for _, b := range []byte(token) {
				raw = append(raw, int(b))
			}
			return obj(append([]any{"token", token, "logprob", logprob, "bytes", list(raw...)}, more...)...)
		}
		top := list[json.RawMessage]()
		for i := range p.top {
			top = append(top, one(w, -0.25-float64(i)))
		}
		content = append(content, one(w, -0.25, "top_logprobs", top))
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
