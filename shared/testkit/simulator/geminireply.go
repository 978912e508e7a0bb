package simulator

import (
	"encoding/json"
	"net/http"

	"github.com/tidwall/gjson"
)

// pixel is a PNG of one transparent pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func (f geminiFormat) plain(p *prompt, a answer) json.RawMessage {
	var parts []json.RawMessage
	if text := p.shown(a); text != "" {
		parts = append(parts, obj("text", text, "thought", true))
	}
	switch {
	case p.terms["block"]:
		return geminiBlocked(a)
	case a.refusal != "":
		parts = nil
	case len(a.calls) == 0:
		parts = append(parts, obj("text", a.text, "thoughtSignature", p.signature("text")))
		if p.draws {
			parts = append(parts, obj("inlineData", obj("mimeType", "image/png", "data", pixel)))
		}
	}
	for i, c := range a.calls {
		parts = append(parts, p.functionCall(c, i))
	}
	return f.response(p, a, parts, geminiFinish(a.finish))
}

// signature is the proof that a thinking model gives out.
func (p *prompt) signature(subject string) any {
	if !p.reasoning {
		return omitted
	}
	return gemini.proof(subject)
}

// functionCall is one call. Of several only the first carries the proof.
func (p *prompt) functionCall(c toolCall, i int) json.RawMessage {
	signature := any(omitted)
	if i == 0 {
		signature = gemini.proof("call " + c.name)
	}
	return obj("functionCall", obj("id", c.id, "name", c.name, "args", c.args), "thoughtSignature", signature)
}

// geminiBlocked is the reply to a prompt that a filter stopped.
func geminiBlocked(a answer) json.RawMessage {
	usage := any(omitted)
	if a.usage != nil {
		usage = obj("promptTokenCount", a.usage.input, "totalTokenCount", a.usage.input)
	}
	return obj("promptFeedback", obj("blockReason", "SAFETY", "safetyRatings", list(
		obj("category", "HARM_CATEGORY_DANGEROUS_CONTENT", "probability", "HIGH", "blocked", true))),
		"usageMetadata", usage, "modelVersion", a.model, "responseId", a.id)
}

func (geminiFormat) response(p *prompt, a answer, parts []json.RawMessage, finish any) json.RawMessage {
	var all []json.RawMessage
	content, ratings := any(obj("parts", list(parts...), "role", "model")), any(omitted)
	if a.refusal != "" && finish != omitted {
		content = omitted
		ratings = list(obj("category", "HARM_CATEGORY_DANGEROUS_CONTENT", "probability", "HIGH", "blocked", true))
	}
	for i := range max(p.choices, 1) {
		all = append(all, obj("content", content, "finishReason", finish, "index", i, "safetyRatings", ratings,
			"logprobsResult", p.geminiLogprobs(parts)))
	}
	return obj("candidates", all, "usageMetadata", geminiUsage(p, a.usage), "modelVersion", a.model, "responseId", a.id)
}

func (p *prompt) geminiLogprobs(parts []json.RawMessage) any {
	if !p.logprobs {
		return omitted
	}
	var chosen, top []json.RawMessage
	for _, part := range parts {
		for _, w := range pieces(gjson.GetBytes(part, "text").Str) {
			one := obj("token", w, "logProbability", -0.25)
			chosen = append(chosen, one)
			top = append(top, obj("candidates", list(one)))
		}
	}
	return obj("chosenCandidates", list(chosen...), "topCandidates", list(top...))
}

func (f geminiFormat) frames(p *prompt, a answer) []frame {
	if p.terms["block"] {
		return []frame{{data: string(geminiBlocked(a)), kind: frameTerminal}}
	}
	var out []frame
	push := func(part json.RawMessage) {
		out = append(out, frame{data: string(f.response(p, a, list(part), omitted)), kind: frameContent})
	}
	for _, word := range pieces(p.shown(a)) {
		push(obj("text", word, "thought", true))
	}
	for _, word := range a.deltas() {
		push(obj("text", word))
	}
	if p.draws && len(a.calls) == 0 {
		push(obj("inlineData", obj("mimeType", "image/png", "data", pixel)))
	}
	for i, c := range a.calls {
		push(p.functionCall(c, i))
	}
	signature := any(omitted)
	if len(a.calls) == 0 {
		signature = p.signature("text")
	}
	last := f.response(p, a, list(obj("text", "", "thoughtSignature", signature)), geminiFinish(a.finish))
	return append(out, frame{data: string(last), kind: frameTerminal})
}

func (geminiFormat) failure(e refusal) json.RawMessage {
	status, known := geminiStatus[e.status]
	if !known {
		status = "INTERNAL"
	}
	details := any(omitted)
	if e.kind != "" {
		details = list(obj("@type", "type.googleapis.com/google.rpc.ErrorInfo", "reason", e.kind, "domain", "googleapis.com"))
	}
	return obj("error", obj("code", e.status, "message", e.message, "status", status, "details", details))
}

var geminiStatus = map[int]string{
	http.StatusBadRequest:         "INVALID_ARGUMENT",
	http.StatusUnauthorized:       "UNAUTHENTICATED",
	http.StatusForbidden:          "PERMISSION_DENIED",
	http.StatusNotFound:           "NOT_FOUND",
	http.StatusTooManyRequests:    "RESOURCE_EXHAUSTED",
	http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusGatewayTimeout:     "DEADLINE_EXCEEDED",
}

func (f geminiFormat) failureFrame(e refusal) frame {
	return frame{data: string(f.failure(e)), kind: frameOther}
}

// worded is https://ai.google.dev/gemini-api/docs/troubleshooting.
func (geminiFormat) worded(t trouble) refusal {
	switch t {
	case troubleQuota:
		return refusal{status: 429, message: "You exceeded your current quota, please check your plan and billing details."}
	case troubleContext:
		return refusal{status: 400, message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}
	case troublePolicy:
		return refusal{status: 400, message: "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices. PROHIBITED_CONTENT"}
	case troubleAuth:
	}
	return refusal{status: 400, kind: "API_KEY_INVALID", message: "API key not valid. Please pass a valid API key."}
}

func geminiFinish(f finish) string {
	return map[finish]string{finishStop: "STOP", finishTools: "STOP", finishLength: "MAX_TOKENS", finishRefused: "SAFETY"}[f]
}

func geminiUsage(p *prompt, u *usage) any {
	if u == nil {
		return omitted
	}
	cached := u.cached + p.stored
	return obj("promptTokenCount", u.input, "cachedContentTokenCount", orOmit(cached), "candidatesTokenCount", u.output-u.reasoning,
		"totalTokenCount", u.total(), "thoughtsTokenCount", orOmit(u.reasoning), "promptTokensDetails", geminiDetails(*u))
}

func geminiDetails(u usage) []json.RawMessage {
	var out []json.RawMessage
	for _, one := range []struct {
		modality string
		tokens   int
	}{{"TEXT", u.input - u.images - u.audio}, {"IMAGE", u.images}, {"AUDIO", u.audio}} {
		if one.tokens > 0 {
			out = append(out, obj("modality", one.modality, "tokenCount", one.tokens))
		}
	}
	return list(out...)
}

// framing is server-sent events on demand, and else one JSON array.
func (geminiFormat) framing(x *exchange) framing {
	if x.r.URL.Query().Get("alt") == "sse" {
		return events{}
	}
	return &array{}
}

// array is a stream as one JSON array.
type array struct{ begun bool }

func (*array) media() string { return "application/json; charset=UTF-8" }

func (a *array) spell(_ Fault, fr frame) []byte {
	sep := "["
	if a.begun {
		sep = ",\r\n"
	}
	a.begun = true
	return []byte(sep + fr.data)
}

func (a *array) end() []byte {
	if !a.begun {
		return []byte("[]")
	}
	return []byte("]")
}
