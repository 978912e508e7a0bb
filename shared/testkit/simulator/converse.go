package simulator

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"

	"github.com/tidwall/gjson"
)

// converseFormat is Bedrock's converse
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
type converseFormat struct{}

func bedrockRoutes() []route {
	model := func(x *exchange) string { return x.id }
	on := []platform{bedrock}
	return []route{
		{method: http.MethodPost, path: "/model/{id}/converse", format: converseFormat{}, body: jsonBody, serve: (*exchange).generate, on: on, model: model},
		{method: http.MethodPost, path: "/model/{id}/converse-stream", format: converseFormat{}, body: jsonBody, serve: (*exchange).generate, on: on, model: model},
		{method: http.MethodPost, path: "/model/{id}/count-tokens", format: converseFormat{}, body: jsonBody, serve: (*exchange).countTokens, on: on, model: model},
	}
}

var (
	converseMembers = set(`messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields promptVariables
		additionalModelResponseFieldPaths requestMetadata performanceConfig serviceTier outputConfig`)
	converseNested = map[string]map[string]bool{
		"inferenceConfig": set(`maxTokens temperature topP stopSequences`),
		"toolConfig":      set(`tools toolChoice`),
		"outputConfig":    set(`textFormat`),
	}
)

func (converseFormat) knows(x *exchange) map[string]bool {
	if x.route.path == "/model/{id}/count-tokens" {
		return set("input")
	}
	return converseMembers
}

func (converseFormat) unknown(path string) *refusal {
	return refuse(path, "Malformed input request: #: extraneous key [%s] is not permitted, please reformat your input and try again.", path)
}

func (converseFormat) counted(p *prompt) json.RawMessage { return obj("inputTokens", p.input) }

func (converseFormat) read(x *exchange) (*prompt, *refusal) {
	body := x.json
	if x.route.path == "/model/{id}/count-tokens" {
		body = body.Get("input.converse")
	}
	inference := body.Get("inferenceConfig")
	thinking := body.Get("additionalModelRequestFields.thinking")
	p := &prompt{
		model: x.model, terms: termsOf(x.model), usage: true, request: body,
		stream:    x.route.path == "/model/{id}/converse-stream",
		stops:     strs(inference.Get("stopSequences")),
		maxTokens: int(inference.Get("maxTokens").Int()),
		reasoning: thinking.Get("type").Str == "enabled" || thinking.Get("type").Str == "adaptive",
		serial:    body.Get("additionalModelRequestFields.tool_choice.disable_parallel_tool_use").Bool(),
	}
	p.reasoning = p.reasoning || p.terms["reason"]
	r := &converseReader{prompt: p, body: body, strict: x.platform != compatible, marks: newMarks()}
	for _, check := range []func() *refusal{r.settings, r.declared, r.choose, r.output, r.system, r.history} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	p.marks = r.marks.list
	return p, nil
}

// converseReader takes one request apart.
type converseReader struct {
	*prompt
	body   gjson.Result
	strict bool
	marks  *marks
}

func (r *converseReader) settings() *refusal {
	for name, known := range converseNested {
		if extra := unknownIn(r.body.Get(name), known); extra != "" && r.strict {
			return converseFormat{}.unknown(name + "." + extra)
		}
	}
	inference := r.body.Get("inferenceConfig")
	for _, name := range []string{"temperature", "topP"} {
		if v := inference.Get(name); v.Exists() && (v.Type != gjson.Number || v.Num < 0 || v.Num > 1) {
			return constraint("inferenceConfig."+name, v.String(), "Member must have value less than or equal to 1")
		}
	}
	thinking := r.body.Get("additionalModelRequestFields.thinking")
	budget := int(thinking.Get("budget_tokens").Int())
	switch {
	case inference.Get("maxTokens").Exists() && r.maxTokens < 1:
		return constraint("inferenceConfig.maxTokens", inference.Get("maxTokens").Raw, "Member must have value greater than or equal to 1")
	case thinking.Get("type").Str != "enabled":
	case budget < 1024:
		return modelRefuses("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case r.maxTokens > 0 && budget >= r.maxTokens:
		return modelRefuses("`max_tokens` must be greater than `thinking.budget_tokens`.")
	case inference.Get("temperature").Exists() && inference.Get("temperature").Num != 1:
		return modelRefuses("`temperature` may only be set to 1 when thinking is enabled.")
	case r.forced():
		return modelRefuses("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

// forced reports whether a tool has to be called, in Bedrock's words or Claude's.
func (r *converseReader) forced() bool {
	choice, own := r.body.Get("toolConfig.toolChoice"), r.body.Get("additionalModelRequestFields.tool_choice.type").Str
	return choice.Get("any").Exists() || choice.Get("tool").Exists() || own == "any" || own == "tool"
}

func constraint(path, value, words string) *refusal {
	return refuse(path, "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s", value, path, words)
}

// modelRefuses is an error of the model behind the API.
func modelRefuses(message string) *refusal {
	return refuse("", "The model returned the following errors: %s", message)
}

var converseName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (r *converseReader) declared() *refusal {
	config := r.body.Get("toolConfig")
	if config.Exists() && len(config.Get("tools").Array()) == 0 {
		return constraint("toolConfig.tools", "[]", "Member must have length greater than or equal to 1")
	}
	for i, t := range config.Get("tools").Array() {
		at := "toolConfig.tools." + itoa(i)
		spec := t.Get("toolSpec")
		schema := spec.Get("inputSchema.json")
		switch extra := unknownIn(spec, set(`name description inputSchema strict`)); {
		case t.Get("cachePoint").Exists():
			if refused := r.cachePoint(at, t.Get("cachePoint")); refused != nil {
				return refused
			}
			continue
		case t.Get("systemTool").Exists():
			continue
		case !spec.IsObject():
			return refuse(at, "The value at %s is empty.", at)
		case extra != "" && r.strict:
			return converseFormat{}.unknown(at + ".toolSpec." + extra)
		case !converseName.MatchString(spec.Get("name").Str):
			return constraint(at+".toolSpec.name", spec.Get("name").Str, "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+")
		case spec.Get("description").Exists() && spec.Get("description").Str == "":
			return constraint(at+".toolSpec.description", "", "Member must have length greater than or equal to 1")
		case schema.Get("type").Str != "object":
			return refuse(at, "The value at %s.toolSpec.inputSchema.json.type must be one of the following: object.", at)
		}
		r.tools = append(r.tools, tool{name: spec.Get("name").Str, schema: schema})
		r.input += len(spec.Raw) / 4
		r.marks.sum.Write([]byte(spec.Raw))
	}
	return nil
}

func (r *converseReader) cachePoint(at string, point gjson.Result) *refusal {
	if point.Get("type").Str != "default" {
		return constraint(at+".cachePoint.type", point.Get("type").Str, "Member must satisfy enum value set: [default]")
	}
	ttl := point.Get("ttl").Str
	if ttl != "" && ttl != "5m" && ttl != "1h" {
		return constraint(at+".cachePoint.ttl", ttl, "Member must satisfy enum value set: [5m, 1h]")
	}
	control := obj("type", "ephemeral", "ttl", orOmit(ttl))
	return r.marks.mark(r.prompt, at, gjson.ParseBytes(control))
}

func (r *converseReader) choose() *refusal {
	choice := r.body.Get("toolConfig.toolChoice")
	own := r.body.Get("additionalModelRequestFields.tool_choice") // Claude's, which is in its own words
	switch {
	case choice.Exists() && own.Exists():
		return modelRefuses("tool_choice: the choice is there twice")
	case own.Exists():
		return r.claudeChoice(own)
	case !choice.Exists():
		return nil
	}
	count := 0
	choice.ForEach(func(_, _ gjson.Result) bool { count++; return true })
	name := choice.Get("tool.name").Str
	switch {
	case count != 1:
		return refuse("", "The toolChoice union must have exactly one member.")
	case choice.Get("auto").IsObject():
	case choice.Get("any").IsObject():
		r.choice.mode = choiceRequired
	case choice.Get("tool").IsObject():
		if !r.has(name) {
			return refuse("", "The tool %s of toolConfig.toolChoice is not defined in toolConfig.tools.", name)
		}
		r.choice = toolChoice{mode: choiceRequired, only: []string{name}}
	default:
		return converseFormat{}.unknown("toolConfig.toolChoice")
	}
	return nil
}

func (r *converseReader) claudeChoice(own gjson.Result) *refusal {
	switch name := own.Get("name").Str; own.Get("type").Str {
	case "auto":
	case "none":
		r.choice.mode = choiceNone
	case "any":
		r.choice.mode = choiceRequired
	case "tool":
		if !r.has(name) {
			return modelRefuses("tool_choice: Tool '" + name + "' not found in provided tools")
		}
		r.choice = toolChoice{mode: choiceRequired, only: []string{name}}
	default:
		return modelRefuses("tool_choice: Input tag '" + own.Get("type").Str + "' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'")
	}
	return nil
}

// output reads the structured output. The schema is JSON in a string.
func (r *converseReader) output() *refusal {
	format := r.body.Get("outputConfig.textFormat")
	if !format.Exists() {
		return nil
	}
	inner := format.Get("structure.jsonSchema")
	switch {
	case format.Get("type").Str != "json_schema":
		return constraint("outputConfig.textFormat.type", format.Get("type").Str, "Member must satisfy enum value set: [json_schema]")
	case inner.Get("schema").Type != gjson.String || !gjson.Valid(inner.Get("schema").Str):
		return refuse("", "The value at outputConfig.textFormat.structure.jsonSchema.schema must be a JSON document in a string.")
	case !closed(gjson.Parse(inner.Get("schema").Str)):
		return modelRefuses("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	}
	r.schema = gjson.Parse(inner.Get("schema").Str)
	return nil
}

func (r *converseReader) system() *refusal {
	for i, b := range r.body.Get("system").Array() {
		at := "system." + itoa(i)
		switch {
		case b.Get("cachePoint").Exists():
			if refused := r.cachePoint(at, b.Get("cachePoint")); refused != nil {
				return refused
			}
		case b.Get("guardContent").Exists():
		case b.Get("text").Str == "":
			return blank("SystemContentBlock", at)
		default:
			r.prompt.system += r.add(b.Get("text").Str)
			r.marks.sum.Write([]byte(b.Raw))
		}
	}
	return nil
}

func blank(kind, at string) *refusal {
	return refuse(at, "The text field in the %s object at %s is blank. Add text to the text field, and try again.", kind, at)
}

func (r *converseReader) history() *refusal {
	messages := r.body.Get("messages").Array()
	if len(messages) == 0 {
		return constraint("messages", "[]", "Member must have length greater than or equal to 1")
	}
	var open []string // tool calls without a result
	for i, m := range messages {
		at := "messages." + itoa(i)
		role := m.Get("role").Str
		switch {
		case role != "user" && role != "assistant":
			return constraint(at+".role", role, "Member must satisfy enum value set: [user, assistant]")
		case i == 0 && role != "user":
			return refuse("", "A conversation must start with a user message. Try again with a conversation that starts with a user message.")
		case i > 0 && messages[i-1].Get("role").Str == role:
			return refuse("", "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
		case len(m.Get("content").Array()) == 0:
			return refuse(at, "The content field in the Message object at %s is empty. Add a ContentBlock object to the content field and try again.", at)
		}
		turn := &converseTurn{reader: r, role: role, open: open}
		if refused := turn.read(at, m.Get("content")); refused != nil {
			return refused
		}
		open = turn.calls
	}
	if len(open) > 0 {
		return refuse("", "Expected toolResult blocks at messages.%d.content for the following Ids: %s", len(messages), open[0])
	}
	used := slices.ContainsFunc(messages, func(m gjson.Result) bool {
		return m.Get("content.#.toolUse").String() != "[]" || m.Get("content.#.toolResult").String() != "[]"
	})
	if used && len(r.tools) == 0 {
		return refuse("", "The toolConfig field must be defined when using toolUse and toolResult content blocks.")
	}
	return nil
}
