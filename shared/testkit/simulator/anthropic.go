package simulator

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"
)

// anthropicFormat is Anthropic's messages
// (https://docs.anthropic.com/en/api/messages).
type anthropicFormat struct{}

var (
	anthropicMembers = set(`model messages max_tokens system stop_sequences stream temperature top_k top_p tools tool_choice
		thinking metadata service_tier container context_management mcp_servers output_config cache_control inference_geo`)
	countMembers = set(`model messages system tools tool_choice thinking output_config cache_control context_management mcp_servers`)
)

func (anthropicFormat) knows(x *exchange) map[string]bool {
	switch {
	case x.route.path == "/messages/count_tokens":
		return countMembers
	case x.route.model != nil:
		known := maps.Clone(anthropicMembers)
		known["anthropic_version"], known["anthropic_beta"] = true, true
		return known
	}
	return anthropicMembers
}

func (anthropicFormat) unknown(path string) *refusal {
	return refuse(path, "%s: Extra inputs are not permitted", path)
}

func (anthropicFormat) counted(p *prompt) json.RawMessage { return obj("input_tokens", p.input) }

func (anthropicFormat) read(x *exchange) (*prompt, *refusal) {
	body := x.json
	p := &prompt{
		model:     x.model,
		terms:     termsOf(x.model),
		stream:    body.Get("stream").Bool(),
		usage:     true,
		stops:     strs(body.Get("stop_sequences")),
		reasoning: body.Get("thinking.type").Str == "enabled" || body.Get("thinking.type").Str == "adaptive",
		serial:    body.Get("tool_choice.disable_parallel_tool_use").Bool(),
		maxTokens: int(body.Get("max_tokens").Int()),
		repeats:   x.platform != compatible,
	}
	p.reasoning = p.reasoning || p.terms["reason"]
	r := &anthropicReader{prompt: p, body: body, strict: x.platform != compatible, marks: newMarks()}
	for _, check := range []func() *refusal{
		func() *refusal { return r.required(x) }, r.settings, r.thinking, r.declared, r.choose, r.output, r.system, r.history, r.last,
	} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	p.marks = r.marks.list
	return p, nil
}

// anthropicReader takes one request apart.
type anthropicReader struct {
	*prompt
	body   gjson.Result
	strict bool
	marks  *marks
}

func (r *anthropicReader) required(x *exchange) *refusal {
	named := x.route.model == nil // the body, and not the path, says which model
	switch {
	case named && r.body.Get("model").Type != gjson.String:
		return refuse("model", "model: Field required")
	case !named && r.body.Get("model").Exists() && !x.counts():
		return anthropicFormat{}.unknown("model")
	case !named && r.body.Get("anthropic_version").Str != "vertex-2023-10-16":
		return refuse("anthropic_version", "anthropic_version: Field required")
	case !r.body.Get("messages").IsArray():
		return refuse("messages", "messages: Field required")
	case len(r.body.Get("messages").Array()) == 0:
		return refuse("messages", "messages: at least one message is required")
	case x.counts():
		return nil
	case r.body.Get("max_tokens").Type != gjson.Number:
		return refuse("max_tokens", "max_tokens: Field required")
	case r.body.Get("max_tokens").Int() < 1:
		return refuse("max_tokens", "max_tokens: Input should be greater than or equal to 1")
	}
	return nil
}

// counts reports whether only the tokens are asked for.
func (x *exchange) counts() bool {
	return x.route.path == "/messages/count_tokens" || x.id == vertexCount
}

func (r *anthropicReader) settings() *refusal {
	for name, most := range map[string]float64{"temperature": 1, "top_p": 1} {
		v := r.body.Get(name)
		if v.Exists() && (v.Type != gjson.Number || v.Num < 0 || v.Num > most) {
			return refuse(name, "%s: range: 0..%g", name, most)
		}
	}
	if name := unknownIn(r.body.Get("metadata"), set("user_id")); name != "" {
		return anthropicFormat{}.unknown("metadata." + name)
	}
	for _, s := range r.stops {
		if s == "" {
			return refuse("stop_sequences", "stop_sequences: each stop sequence must contain non-whitespace")
		}
	}
	return nil
}

func (r *anthropicReader) thinking() *refusal {
	t := r.body.Get("thinking")
	budget := t.Get("budget_tokens")
	switch kind := t.Get("type").Str; kind {
	case "enabled":
		switch {
		case budget.Type != gjson.Number:
			return refuse("thinking", "thinking.enabled.budget_tokens: Field required")
		case budget.Int() < 1024:
			return refuse("thinking", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		case r.maxTokens > 0 && budget.Int() >= int64(r.maxTokens):
			return refuse("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at "+
				"https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
		}
	case "adaptive", "disabled":
		if budget.Exists() {
			return anthropicFormat{}.unknown("thinking." + kind + ".budget_tokens")
		}
	default:
		if t.Exists() {
			return refuse("thinking", "thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'", kind)
		}
	}
	if t.Get("type").Str != "enabled" && t.Get("type").Str != "adaptive" {
		return nil
	}
	switch temperature, forced := r.body.Get("temperature"), r.body.Get("tool_choice.type").Str; {
	case temperature.Exists() && temperature.Num != 1:
		return refuse("temperature", "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
	case r.body.Get("top_k").Exists():
		return refuse("top_k", "`top_k` must be unset when thinking is enabled or in adaptive mode.")
	case r.body.Get("top_p").Exists() && r.body.Get("top_p").Num < 0.95:
		return refuse("top_p", "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.")
	case forced == "any" || forced == "tool":
		return refuse("tool_choice", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

var (
	anthropicToolName    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	anthropicToolMembers = set(`type name description input_schema cache_control strict defer_loading eager_input_streaming input_examples allowed_callers`)
)

func (r *anthropicReader) declared() *refusal {
	for i, t := range r.body.Get("tools").Array() {
		name, schema := t.Get("name").Str, t.Get("input_schema")
		at := "tools." + itoa(i) + ".custom."
		own := t.Get("type").Str == "" || t.Get("type").Str == "custom" // the others run at Anthropic
		switch extra := unknownIn(t, anthropicToolMembers); {
		case !anthropicToolName.MatchString(name):
			return refuse("tools", "%sname: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", at)
		case r.has(name):
			return refuse("tools", "tools: Tool names must be unique.")
		case !own:
		case extra != "" && r.strict:
			return anthropicFormat{}.unknown(at + extra)
		case !schema.IsObject():
			return refuse("tools", "%sinput_schema: Field required", at)
		case schema.Get("type").Str != "object":
			return refuse("tools", "%sinput_schema.type: Input should be 'object'", at)
		case t.Get("strict").Bool() && !closed(schema):
			return refuse("tools", "%sFor 'object' type, 'additionalProperties' must be explicitly set to false", at)
		}
		if own {
			r.tools = append(r.tools, tool{name: name, schema: schema})
		}
		r.input += len(t.Raw) / 4
		if refused := r.marks.block(r.prompt, "tools."+itoa(i), t); refused != nil {
			return refused
		}
	}
	return nil
}

// closed reports whether every object of a schema rules out other members.
func closed(s gjson.Result) bool {
	good := typeOf(s) != "object" || s.Get("additionalProperties").Type == gjson.False
	s.Get("properties").ForEach(func(_, sub gjson.Result) bool {
		good = good && closed(sub)
		return good
	})
	return good && (!s.Get("items").IsObject() || closed(s.Get("items")))
}

func (r *anthropicReader) choose() *refusal {
	choice := r.body.Get("tool_choice")
	if !choice.Exists() {
		return nil
	}
	if len(r.body.Get("tools").Array()) == 0 {
		return refuse("tool_choice", "tool_choice: tool_choice may only be specified while providing tools.")
	}
	switch kind, name := choice.Get("type").Str, choice.Get("name").Str; kind {
	case "auto":
	case "any":
		r.choice.mode = choiceRequired
	case "none":
		r.choice.mode = choiceNone
	case "tool":
		if !r.has(name) {
			return refuse("tool_choice", "Tool '%s' not found in provided tools", name)
		}
		r.choice = toolChoice{mode: choiceRequired, only: []string{name}}
	default:
		return refuse("tool_choice", "tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'", kind)
	}
	return nil
}

func (r *anthropicReader) output() *refusal {
	config := r.body.Get("output_config")
	if effort := config.Get("effort"); effort.Exists() && !set("low medium high xhigh max")[effort.Str] {
		return refuse("output_config", "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	format := config.Get("format")
	switch {
	case !format.Exists(), format.Type == gjson.Null:
		return nil
	case format.Get("type").Str != "json_schema":
		return refuse("output_config", "output_config.format.type: Input should be 'json_schema'")
	case !format.Get("schema").IsObject():
		return refuse("output_config", "output_config.format.schema: Field required")
	case unknownIn(format, set("type schema")) != "":
		return anthropicFormat{}.unknown("output_config.format." + unknownIn(format, set("type schema")))
	case !closed(format.Get("schema")):
		return refuse("output_config", "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	}
	r.schema = format.Get("schema")
	return nil
}

// last checks how the conversation ends, and marks all of it when the request
// asks for that.
func (r *anthropicReader) last() *refusal {
	if refused := r.marks.top(r.prompt, r.body.Get("cache_control")); refused != nil {
		return refused
	}
	messages := r.body.Get("messages").Array()
	final := messages[len(messages)-1]
	if final.Get("role").Str != "assistant" {
		return nil
	}
	text := final.Get("content")
	if blocks := text.Array(); text.IsArray() && len(blocks) > 0 {
		text = blocks[len(blocks)-1].Get("text")
	}
	if text.Str != "" && slices.Contains([]string{" ", "\n", "\t"}, text.Str[len(text.Str)-1:]) {
		return refuse("messages", "messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}
