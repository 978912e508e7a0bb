package simulator

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// chatFormat is OpenAI's chat completions
// (https://platform.openai.com/docs/api-reference/chat).
type chatFormat struct{}

func (chatFormat) knows(x *exchange) map[string]bool { return openAIMembers[x.route.path] }

func (chatFormat) unknown(path string) *refusal {
	return &refusal{status: 400, param: path, code: "unknown_parameter", message: "Unknown parameter: '" + path + "'."}
}

func (chatFormat) worded(t trouble) refusal { return openAIWords(t) }

func (chatFormat) failure(e refusal) json.RawMessage { return openAIFailure(e) }

func (chatFormat) failureFrame(e refusal) frame {
	return frame{data: string(openAIFailure(e)), kind: frameOther}
}

func (chatFormat) read(x *exchange) (*prompt, *refusal) {
	body := x.json
	effort := body.Get("reasoning_effort")
	p := &prompt{
		model:     x.model,
		terms:     termsOf(x.model),
		stream:    body.Get("stream").Bool(),
		usage:     body.Get("stream_options.include_usage").Bool(),
		choices:   int(body.Get("n").Int()),
		stops:     strs(body.Get("stop")),
		logprobs:  body.Get("logprobs").Bool(),
		top:       int(body.Get("top_logprobs").Int()),
		serial:    body.Get("parallel_tool_calls").Type == gjson.False,
		maxTokens: int(max(body.Get("max_completion_tokens").Int(), body.Get("max_tokens").Int())),
		speaks:    slices.Contains(strs(body.Get("modalities")), "audio"),
		exact:     x.platform != compatible,
		hidden:    x.platform != compatible,
	}
	p.reasoning = effort.Str != "none" && (effort.Type == gjson.String || p.terms["reason"])
	for _, check := range []func() *refusal{
		func() *refusal { return openAIBasics(x, "messages") },
		func() *refusal { return chatSettings(body) },
		func() *refusal { return p.chatQuirks(body) },
		func() *refusal { return chatHistory(body.Get("messages").Array()) },
		func() *refusal { return p.chatMessages(body.Get("messages")) },
		func() *refusal { return p.chatTools(body) },
	} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	return p, nil
}

func (p *prompt) chatTools(body gjson.Result) *refusal {
	for i, t := range body.Get("tools").Array() {
		inner := t.Get("function")
		if t.Get("type").Str == "custom" {
			inner = t.Get("custom")
		}
		if refused := p.openAITool(i, t.Get("type").Str, inner); refused != nil {
			return refused
		}
	}
	if refused := p.openAIChoice(body, body.Get("tool_choice.allowed_tools")); refused != nil {
		return refused
	}
	format := body.Get("response_format")
	return p.openAISchema(format.Get("type").Str, "response_format.json_schema", format.Get("json_schema"))
}

// chatSettings checks the members that only chat has.
func chatSettings(body gjson.Result) *refusal {
	effort := body.Get("reasoning_effort")
	switch {
	case body.Get("stream_options").IsObject() && !body.Get("stream").Bool():
		return refuse("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case body.Get("max_tokens").Exists() && body.Get("max_completion_tokens").Exists():
		return refuse("max_tokens", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case body.Get("top_logprobs").Type == gjson.Number && !body.Get("logprobs").Bool():
		return refuse("top_logprobs", "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.")
	case body.Get("top_logprobs").Int() > 20:
		return refuse("top_logprobs", "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20.")
	case len(body.Get("stop").Array()) > 4:
		return refuse("stop", "Invalid 'stop': array too long. Expected an array with maximum length 4.")
	case body.Get("n").Type == gjson.Number && (body.Get("n").Int() < 1 || body.Get("n").Int() > 128):
		return refuse("n", "Invalid 'n': expected a value from 1 to 128.")
	case effort.Exists() && effort.Type != gjson.Null && !efforts[effort.Str]:
		return oneOf("reasoning_effort", effort.String(), effortWords)
	case slices.Contains(strs(body.Get("modalities")), "audio") && !body.Get("audio.voice").Exists():
		return missing("audio.voice")
	}
	return nil
}

const effortWords = `none minimal low medium high xhigh`

var efforts = set(effortWords)

// chatQuirks refuses what a server with the quirks of the model's name does
// not know.
func (p *prompt) chatQuirks(body gjson.Result) *refusal {
	has := func(role string) bool { return body.Get(`messages.#(role=="` + role + `")`).Exists() }
	switch {
	case p.terms["quirk-max_tokens"] && body.Get("max_completion_tokens").Exists():
		return refuse("max_completion_tokens", "Extra inputs are not permitted: max_completion_tokens.")
	case (p.terms["quirk-max_completion_tokens"] || p.exact && p.terms["reason"]) && body.Get("max_tokens").Exists():
		return &refusal{status: 400, param: "max_tokens", code: "unsupported_parameter", message: "Unsupported parameter: " +
			"'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}
	case p.terms["quirk-nostreamoptions"] && body.Get("stream_options").Exists():
		return refuse("stream_options", "Extra inputs are not permitted: stream_options.")
	case p.terms["quirk-nodeveloper"] && has("developer"):
		return refuse("messages", "Unexpected role 'developer'. Supported roles: system, user, assistant, tool.")
	case p.terms["quirk-nosystem"] && has("system"):
		return refuse("messages", "Unexpected role 'system'. Supported roles: developer, user, assistant, tool.")
	}
	return nil
}

// chatHistory checks that every tool call is answered, and directly.
func chatHistory(messages []gjson.Result) *refusal {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Get("role").Str == "tool" {
			id := m.Get("tool_call_id").Str
			if !open[id] {
				return refuse("messages", "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' (messages[%d]).", i)
			}
			delete(open, id)
			continue
		}
		if len(open) > 0 {
			break
		}
		for j, c := range m.Get("tool_calls").Array() {
			at := "messages[" + itoa(i) + "].tool_calls[" + itoa(j) + "]"
			function := c.Get("type").Str == "function" && c.Get("function.name").Str != "" && c.Get("function.arguments").Type == gjson.String
			custom := c.Get("type").Str == "custom" && c.Get("custom.name").Str != "" && c.Get("custom.input").Type == gjson.String
			if c.Get("id").Str == "" || !function && !custom {
				return missing(at)
			}
			open[c.Get("id").Str] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	ids := make([]string, 0, len(open))
	for id := range open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return refuse("messages", "An assistant message with 'tool_calls' must be followed by tool messages responding to each "+
		"'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

var (
	// annotations and parsed are what the SDK keeps of a reply and sends back.
	chatMessageMembers = set(`role content name tool_calls tool_call_id refusal audio function_call annotations parsed`)
	chatPartMembers    = set(`type text image_url input_audio file refusal`)
)

func (p *prompt) chatMessages(messages gjson.Result) *refusal {
	for i, m := range messages.Array() {
		at := "messages[" + itoa(i) + "]"
		if name := unknownIn(m, chatMessageMembers); name != "" && p.exact {
			return chatFormat{}.unknown(at + "." + name)
		}
		if refused := p.chatMessage(at, m); refused != nil {
			return refused
		}
	}
	return nil
}

func (p *prompt) chatMessage(at string, m gjson.Result) *refusal {
	p.input += 3 // the frame of a message
	role, content := m.Get("role").Str, m.Get("content")
	var text strings.Builder
	switch {
	case content.Type == gjson.String:
		text.WriteString(p.add(content.Str))
	case content.IsArray():
		for j, part := range content.Array() {
			where := at + ".content[" + itoa(j) + "]"
			if name := unknownIn(part, chatPartMembers); name != "" && p.exact {
				return chatFormat{}.unknown(where + "." + name)
			}
			if refused := p.chatPart(&text, role, where, part); refused != nil {
				return refused
			}
		}
	case role == "assistant" && content.Type == gjson.Null:
	case set("system developer user tool function")[role]:
		return &refusal{status: 400, param: at + ".content", code: "invalid_type", message: "Invalid type for '" + at + ".content': expected one of a string or array of objects."}
	}
	switch role {
	case "system", "developer":
		p.system += text.String()
	case "user":
		p.addUser(text.String())
	case "assistant":
		for _, c := range m.Get("tool_calls").Array() {
			p.name(c.Get("id").Str, firstText(c.Get("function.name"), c.Get("custom.name")))
			p.add(c.Get("function.arguments").Str)
		}
	case "tool", "function":
		p.results = append(p.results, toolResult{name: p.named(m.Get("tool_call_id").Str), text: text.String()})
	default:
		return oneOf(at+".role", role, "system assistant user function tool developer")
	}
	return nil
}

func (p *prompt) chatPart(text *strings.Builder, role, at string, part gjson.Result) *refusal {
	kind := part.Get("type").Str
	if kind != "text" && role != "user" && (kind != "refusal" || role != "assistant") {
		return oneOf(at+".type", kind, "text")
	}
	switch kind {
	case "text":
		if part.Get("text").Type != gjson.String {
			return missing(at + ".text")
		}
		text.WriteString(p.add(part.Get("text").Str))
	case "refusal":
		p.add(part.Get("refusal").Str)
	case "image_url":
		return p.openAIImage(at, part.Get("image_url.url").Str, part.Get("image_url.detail").Str)
	case "input_audio":
		return p.openAIAudio(at, part.Get("input_audio"))
	case "file":
		return p.openAIFile(at, part.Get("file.file_data").Str, part.Get("file.file_id").Str, part.Get("file.filename").Str)
	default:
		return oneOf(at+".type", kind, "text image_url input_audio refusal file")
	}
	return nil
}
