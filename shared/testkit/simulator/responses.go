package simulator

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// responsesFormat is OpenAI's responses
// (https://platform.openai.com/docs/api-reference/responses).
type responsesFormat struct{}

var responsesMembers = set(`background conversation include input instructions max_output_tokens max_tool_calls metadata model
	parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier
	service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`)

func (responsesFormat) knows(*exchange) map[string]bool { return responsesMembers }

func (responsesFormat) unknown(path string) *refusal { return chatFormat{}.unknown(path) }

func (responsesFormat) worded(t trouble) refusal { return openAIWords(t) }

func (responsesFormat) failure(e refusal) json.RawMessage { return openAIFailure(e) }

func (responsesFormat) failureFrame(e refusal) frame {
	data := obj("type", "error", "sequence_number", 0, "code", "server_error", "message", e.message, "param", nil)
	return frame{event: "error", data: string(data), kind: frameOther}
}

func (responsesFormat) read(x *exchange) (*prompt, *refusal) {
	body := x.json
	effort := body.Get("reasoning.effort")
	p := &prompt{
		model:     x.model,
		terms:     termsOf(x.model),
		request:   body,
		stream:    body.Get("stream").Bool(),
		usage:     true,
		system:    body.Get("instructions").Str,
		serial:    body.Get("parallel_tool_calls").Type == gjson.False,
		maxTokens: int(body.Get("max_output_tokens").Int()),
		top:       int(body.Get("top_logprobs").Int()),
		exact:     x.platform != compatible,
		hidden:    x.platform != compatible && !body.Get("reasoning.summary").Exists(),
	}
	p.reasoning = effort.Str != "none" && (effort.Type == gjson.String || p.terms["reason"])
	p.add(p.system)
	for _, check := range []func() *refusal{
		func() *refusal { return responsesSettings(x, p) },
		func() *refusal { return x.recall(p) },
		func() *refusal { return p.responsesInput(x, body.Get("input")) },
		func() *refusal { return p.responsesTools(body) },
	} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	return p, nil
}

var includes = set(`reasoning.encrypted_content message.output_text.logprobs message.input_image.image_url
	file_search_call.results web_search_call.results web_search_call.action.sources code_interpreter_call.outputs
	computer_call_output.output.image_url`)

func responsesSettings(x *exchange, p *prompt) *refusal {
	body := x.json
	if refused := openAIBasics(x, "input"); refused != nil && (refused.param != "input" || !body.Get("previous_response_id").Exists()) {
		return refused
	}
	for _, one := range body.Get("include").Array() {
		if !includes[one.Str] {
			return oneOf("include", one.Str, "reasoning.encrypted_content message.output_text.logprobs")
		}
		p.logprobs = p.logprobs || one.Str == "message.output_text.logprobs"
		p.sealed = p.sealed || one.Str == "reasoning.encrypted_content"
	}
	effort, format := body.Get("reasoning.effort"), body.Get("text.format")
	for _, nested := range []struct{ name, words string }{
		{"reasoning", "effort summary generate_summary"}, {"text", "format verbosity"}, {"stream_options", "include_obfuscation"},
	} {
		if extra := unknownIn(body.Get(nested.name), set(nested.words)); extra != "" {
			return chatFormat{}.unknown(nested.name + "." + extra)
		}
	}
	switch {
	case effort.Exists() && effort.Type != gjson.Null && !efforts[effort.Str]:
		return oneOf("reasoning.effort", effort.String(), effortWords)
	case body.Get("max_output_tokens").Exists() && body.Get("max_output_tokens").Type == gjson.Number && body.Get("max_output_tokens").Int() < 16 && x.platform != compatible:
		return &refusal{status: 400, param: "max_output_tokens", code: "integer_below_min_value", message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16."}
	case body.Get("text.verbosity").Exists() && !set("low medium high")[body.Get("text.verbosity").Str]:
		return oneOf("text.verbosity", body.Get("text.verbosity").String(), "low medium high")
	case format.Get("json_schema").Exists():
		return chatFormat{}.unknown("text.format.json_schema")
	}
	return p.openAISchema(format.Get("type").Str, "text.format", format)
}

func (p *prompt) responsesTools(body gjson.Result) *refusal {
	for i, t := range body.Get("tools").Array() {
		kind := t.Get("type").Str
		switch {
		case t.Get("function").Exists():
			return chatFormat{}.unknown("tools[" + itoa(i) + "].function")
		case kind == "":
			return missing("tools[" + itoa(i) + "].type")
		case kind == "function" && !t.Get("name").Exists():
			return missing("tools[" + itoa(i) + "].name")
		case kind == "function", kind == "custom":
			if refused := p.openAITool(i, kind, t); refused != nil {
				return refused
			}
		case !builtinTools[kind]:
			return oneOf("tools["+itoa(i)+"].type", kind, "function custom web_search file_search code_interpreter mcp image_generation")
		case body.Get("tool_choice.type").Str == kind:
			return nil // it runs at the provider, and this one has none
		}
	}
	if body.Get("tool_choice.function").Exists() {
		return chatFormat{}.unknown("tool_choice.function")
	}
	return p.openAIChoice(body, body.Get("tool_choice"))
}

var builtinTools = set(`web_search web_search_preview file_search code_interpreter mcp image_generation local_shell
	computer_use_preview shell apply_patch`)

// responsesInput reads the items. Calls and their outputs belong together.
func (p *prompt) responsesInput(x *exchange, in gjson.Result) *refusal {
	if in.Type == gjson.String {
		p.addUser(p.add(in.Str))
		return nil
	}
	open := map[string]bool{}
	for id := range p.names { // of the response before
		open[id] = true
	}
	items := in.Array()
	for i, item := range items {
		at := "input[" + itoa(i) + "]"
		kind, id := item.Get("type").Str, item.Get("call_id").Str
		switch kind {
		case "function_call", "custom_tool_call":
			if id == "" || item.Get("name").Str == "" || kind == "function_call" && item.Get("arguments").Type != gjson.String {
				return missing(at + ".call_id")
			}
			p.name(id, item.Get("name").Str)
			p.add(item.Get("arguments").Str)
			open[id] = true
		case "function_call_output", "custom_tool_call_output":
			if !open[id] {
				return refuse("input", "No tool call found for %s with call_id %s.", strings.ReplaceAll(strings.TrimSuffix(kind, "_output"), "_", " ")+" output", id)
			}
			delete(open, id)
			if refused := p.responsesOutput(at, id, item.Get("output")); refused != nil {
				return refused
			}
		case "reasoning":
			if refused := x.reasoningItem(at, item, items[i+1:]); refused != nil {
				return refused
			}
		case "item_reference":
			if _, ok := x.server.stored.get(x.owner, "item", item.Get("id").Str); !ok {
				return &refusal{status: 404, param: "input", message: "Item with id '" + item.Get("id").Str + "' not found."}
			}
		case "", "message":
			if refused := p.responsesMessage(at, item); refused != nil {
				return refused
			}
		default:
			return oneOf(at+".type", kind, "message function_call function_call_output custom_tool_call custom_tool_call_output reasoning item_reference")
		}
	}
	for id := range open {
		return refuse("input", "No tool output found for function call %s.", id)
	}
	return nil
}

func (p *prompt) responsesOutput(at, id string, output gjson.Result) *refusal {
	text := output.Str
	switch {
	case output.IsArray():
		for j, part := range output.Array() {
			where := at + ".output[" + itoa(j) + "]"
			var b strings.Builder
			if refused := p.responsesPart(&b, "user", where, part); refused != nil {
				return refused
			}
			text += b.String()
		}
	case output.Type != gjson.String:
		return missing(at + ".output")
	default:
		p.add(text)
	}
	p.results = append(p.results, toolResult{name: p.named(id), text: text})
	return nil
}

// reasoningItem checks a thought that comes back: it was given out here, and
// what it led to follows it.
func (x *exchange) reasoningItem(at string, item gjson.Result, after []gjson.Result) *refusal {
	id, sealed := item.Get("id").Str, item.Get("encrypted_content")
	if !item.Get("summary").IsArray() {
		return missing(at + ".summary")
	}
	if sealed.Type == gjson.String {
		if !gpt.opens(sealed.Str) {
			return &refusal{status: 400, code: "invalid_encrypted_content", message: "The encrypted content for item " + id + " could not be verified. Reason: Encrypted content could not be decrypted or parsed."}
		}
	} else if _, ok := x.server.stored.get(x.owner, "item", id); !ok {
		return &refusal{status: 404, param: "input", message: "Item with id '" + id + "' not found. Items are not persisted when `store` is set to false. " +
			"Try again with `store` set to true, or remove this item from your input."}
	}
	if len(after) == 0 || !set("reasoning message function_call custom_tool_call")[after[0].Get("type").Str] || after[0].Get("role").Str == "user" {
		return refuse("input", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
	}
	return nil
}

func (p *prompt) responsesMessage(at string, m gjson.Result) *refusal {
	p.input += 3 // the frame of a message
	role, content := m.Get("role").Str, m.Get("content")
	var text strings.Builder
	switch {
	case content.Type == gjson.String:
		text.WriteString(p.add(content.Str))
	case content.IsArray():
		for j, part := range content.Array() {
			if refused := p.responsesPart(&text, role, at+".content["+itoa(j)+"]", part); refused != nil {
				return refused
			}
		}
	default:
		return missing(at + ".content")
	}
	switch role {
	case "system", "developer":
		p.system += text.String()
	case "user":
		p.addUser(text.String())
	case "assistant":
	default:
		return oneOf(at+".role", role, "assistant system developer user")
	}
	return nil
}

func (p *prompt) responsesPart(text *strings.Builder, role, at string, part gjson.Result) *refusal {
	kind := part.Get("type").Str
	words := "input_text input_image input_file input_audio"
	if role == "assistant" {
		words = "output_text refusal"
	}
	if !set(words)[kind] {
		return oneOf(at+".type", kind, words)
	}
	switch kind {
	case "input_text", "output_text":
		if part.Get("text").Type != gjson.String {
			return missing(at + ".text")
		}
		text.WriteString(p.add(part.Get("text").Str))
	case "refusal":
		p.add(part.Get("refusal").Str)
	case "input_image":
		if part.Get("file_id").Str != "" {
			p.addImage()
			return nil
		}
		return p.openAIImage(at, part.Get("image_url").Str, part.Get("detail").Str)
	case "input_audio":
		return p.openAIAudio(at, part.Get("input_audio"))
	case "input_file":
		if part.Get("file_url").Str != "" {
			p.addDocument()
			return nil
		}
		return p.openAIFile(at, part.Get("file_data").Str, part.Get("file_id").Str, part.Get("filename").Str)
	}
	return nil
}

// recall reads the response that a request goes on from: its calls are open.
func (x *exchange) recall(p *prompt) *refusal {
	id := x.json.Get("previous_response_id")
	if id.Type != gjson.String {
		return nil
	}
	stored, ok := x.server.stored.get(x.owner, "response", id.Str)
	if !ok {
		return &refusal{status: 400, param: "previous_response_id", code: "previous_response_not_found", message: "Previous response with id '" + id.Str + "' not found."}
	}
	for _, item := range gjson.GetBytes(stored.data, "output").Array() {
		if call := item.Get("call_id").Str; call != "" {
			p.name(call, item.Get("name").Str)
		}
	}
	p.input += int(gjson.GetBytes(stored.data, "usage.total_tokens").Int())
	return nil
}

// remember keeps a response and its items, unless the request says not to.
func (x *exchange) remember(reply json.RawMessage) {
	if x.json.Get("store").Type == gjson.False {
		return
	}
	body := gjson.ParseBytes(reply)
	x.server.stored.put(x.owner, object{kind: "response", id: body.Get("id").Str, data: reply})
	for _, item := range body.Get("output").Array() {
		x.server.stored.put(x.owner, object{kind: "item", id: item.Get("id").Str})
	}
}
