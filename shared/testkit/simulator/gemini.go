package simulator

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"
)

// geminiFormat is Gemini's generateContent.
type geminiFormat struct{}

// geminiCall takes the model and the method out of a path such as
// /v1beta/models/NAME:generateContent.
func geminiCall(path string) (model, method string, ok bool) {
	_, rest, ok := strings.Cut(path, "/models/")
	if !ok {
		return "", "", false
	}
	at := strings.LastIndexByte(rest, ':')
	if at < 0 {
		return "", "", false
	}
	model, err := url.PathUnescape(rest[:at])
	return model, rest[at+1:], err == nil
}

func (geminiFormat) read(r *http.Request, body gjson.Result) (*prompt, *refusal) {
	model, method, _ := geminiCall(r.URL.EscapedPath())
	if len(body.Get("contents").Array()) == 0 {
		return nil, refuse("contents", "* GenerateContentRequest.contents: contents is not specified")
	}
	config := either(body, "generationConfig", "generation_config")
	p := &prompt{
		model: model, stream: method == "streamGenerateContent", usage: true,
		stops:     strs(config.Get("stopSequences")),
		choices:   int(config.Get("candidateCount").Int()),
		reasoning: config.Get("thinkingConfig.includeThoughts").Bool(),
		maxTokens: int(config.Get("maxOutputTokens").Int()),
	}
	p.system, _ = p.geminiParts(either(body, "systemInstruction", "system_instruction"))
	for _, c := range body.Get("contents").Array() {
		p.input += 3 // the frame of a message
		text, results := p.geminiParts(c)
		switch {
		case c.Get("role").Str == "model":
		case len(results) > 0:
			p.results = results
		default:
			p.addUser(text)
		}
	}
	for _, group := range body.Get("tools").Array() {
		for _, t := range either(group, "functionDeclarations", "function_declarations").Array() {
			p.tools = append(p.tools, tool{name: t.Get("name").Str, schema: either(t, "parameters", "parametersJsonSchema")})
		}
	}
	p.geminiChoice(body)
	if config.Get("responseMimeType").Str == "application/json" {
		p.schema = either(config, "responseSchema", "responseJsonSchema")
		p.object = !p.schema.Exists()
	}
	return p, nil
}

func (p *prompt) geminiChoice(body gjson.Result) {
	calling := body.Get("toolConfig.functionCallingConfig")
	switch calling.Get("mode").Str {
	case "NONE":
		p.choice.mode = choiceNone
	case "ANY":
		p.choice.mode = choiceRequired
		if only := calling.Get("allowedFunctionNames").Array(); len(only) == 1 {
			p.choice.name = only[0].Str
		}
	}
}

// geminiParts reads a content's text and tool results.
func (p *prompt) geminiParts(content gjson.Result) (string, []toolResult) {
	var text strings.Builder
	var results []toolResult
	for _, part := range content.Get("parts").Array() {
		switch {
		case part.Get("text").Exists():
			text.WriteString(p.add(part.Get("text").Str))
		case either(part, "inlineData", "inline_data").Exists(), either(part, "fileData", "file_data").Exists():
			p.addImage()
		case part.Get("functionResponse").Exists():
			results = append(results, toolResult{
				name: part.Get("functionResponse.name").Str, text: p.add(part.Get("functionResponse.response").Raw),
			})
		}
	}
	return text.String(), results
}

func (f geminiFormat) plain(p *prompt, a answer) json.RawMessage {
	var parts []json.RawMessage
	if a.reasoning != "" {
		parts = append(parts, obj("text", a.reasoning, "thought", true))
	}
	if len(a.calls) == 0 {
		parts = append(parts, obj("text", a.text))
	}
	for _, c := range a.calls {
		parts = append(parts, geminiFunctionCall(c))
	}
	return f.response(a, max(p.choices, 1), parts, geminiFinish(a.finish))
}

func (geminiFormat) response(a answer, candidates int, parts []json.RawMessage, finish any) json.RawMessage {
	var all []json.RawMessage
	for i := range candidates {
		all = append(all, obj("content", obj("parts", list(parts...), "role", "model"), "finishReason", finish, "index", i))
	}
	return obj("candidates", all, "usageMetadata", geminiUsage(a.usage), "modelVersion", a.model, "responseId", a.id)
}

func (f geminiFormat) frames(p *prompt, a answer) []frame {
	n := max(p.choices, 1)
	var out []frame
	push := func(part json.RawMessage) {
		out = append(out, frame{data: string(f.response(a, n, list(part), omitted)), kind: frameContent})
	}
	for _, word := range pieces(a.reasoning) {
		push(obj("text", word, "thought", true))
	}
	for _, word := range a.deltas() {
		push(obj("text", word))
	}
	for _, c := range a.calls {
		push(geminiFunctionCall(c))
	}
	last := f.response(a, n, list(obj("text", "")), geminiFinish(a.finish))
	return append(out, frame{data: string(last), kind: frameTerminal})
}

func geminiFunctionCall(c toolCall) json.RawMessage {
	return obj("functionCall", obj("id", c.id, "name", c.name, "args", c.args))
}

func (geminiFormat) failure(e refusal) json.RawMessage {
	status, known := map[int]string{
		http.StatusBadRequest:         "INVALID_ARGUMENT",
		http.StatusUnauthorized:       "UNAUTHENTICATED",
		http.StatusForbidden:          "PERMISSION_DENIED",
		http.StatusNotFound:           "NOT_FOUND",
		http.StatusTooManyRequests:    "RESOURCE_EXHAUSTED",
		http.StatusServiceUnavailable: "UNAVAILABLE",
		http.StatusGatewayTimeout:     "DEADLINE_EXCEEDED",
	}[e.status]
	if !known {
		status = "INTERNAL"
	}
	return obj("error", obj("code", e.status, "message", e.message, "status", status))
}

func (f geminiFormat) failureFrame(e refusal) frame {
	return frame{data: string(f.failure(e)), kind: frameOther}
}

func geminiFinish(f finish) string {
	if f == finishLength {
		return "MAX_TOKENS"
	}
	return "STOP"
}

func geminiUsage(u *usage) any {
	if u == nil {
		return omitted
	}
	return obj("promptTokenCount", u.input, "candidatesTokenCount", u.output-u.reasoning, "totalTokenCount", u.total(),
		"thoughtsTokenCount", orOmit(u.reasoning),
		"promptTokensDetails", list(obj("modality", "TEXT", "tokenCount", u.input)))
}

func either(v gjson.Result, one, other string) gjson.Result {
	if found := v.Get(one); found.Exists() {
		return found
	}
	return v.Get(other)
}
