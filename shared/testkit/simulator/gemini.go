package simulator

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// geminiFormat is Gemini's generateContent
// (https://ai.google.dev/api/generate-content), at Google and on Vertex.
type geminiFormat struct{}

// vertexCount is the model's place in the path of Claude's token count.
const vertexCount = "count-tokens"

func geminiRoutes() []route {
	both := []platform{google, vertex}
	model := func(x *exchange) string { return x.id }
	return []route{
		{method: http.MethodPost, path: "/models/{model}:generateContent", format: geminiFormat{}, body: jsonBody, serve: (*exchange).generate, on: both, model: model},
		{method: http.MethodPost, path: "/models/{model}:streamGenerateContent", format: geminiFormat{}, body: jsonBody, serve: (*exchange).generate, on: both, model: model},
		{method: http.MethodPost, path: "/models/{model}:countTokens", format: geminiFormat{}, body: jsonBody, serve: (*exchange).countTokens, on: both, model: model},
		{method: http.MethodPost, path: "/models/{model}:rawPredict", format: anthropicFormat{}, body: jsonBody, serve: (*exchange).rawPredict, on: []platform{vertex}, model: rawModel},
		{method: http.MethodPost, path: "/models/{model}:streamRawPredict", format: anthropicFormat{}, body: jsonBody, serve: (*exchange).rawPredict, on: []platform{vertex}, model: rawModel},
	}
}

func rawModel(x *exchange) string {
	if x.id == vertexCount {
		return x.json.Get("model").Str
	}
	return x.id
}

// rawPredict is Claude on Vertex
// (https://docs.anthropic.com/en/api/claude-on-vertex-ai).
func (x *exchange) rawPredict() {
	switch {
	case x.platform == vertex && !strings.HasSuffix(x.lead, "/publishers/anthropic"):
		x.refuse(&refusal{status: 404, message: "Publisher Model `" + x.id + "` was not found or your project does not have access to it."})
	case x.id == vertexCount:
		x.countTokens()
	default:
		x.generate()
	}
}

var (
	geminiMembers = set(`contents tools toolConfig tool_config safetySettings safety_settings systemInstruction system_instruction
		generationConfig generation_config cachedContent cached_content labels model serviceTier`)
	geminiCountMembers = set(`contents generateContentRequest generate_content_request systemInstruction system_instruction tools generationConfig model`)
	geminiConfig       = set(`stopSequences responseMimeType responseModalities thinkingConfig responseSchema responseJsonSchema
		candidateCount maxOutputTokens temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs
		speechConfig mediaResolution imageConfig enableEnhancedCivicAnswers audioTimestamp`)
	geminiPart = set(`text inlineData inline_data fileData file_data functionCall function_call functionResponse function_response
		executableCode codeExecutionResult thought thoughtSignature thought_signature videoMetadata mediaResolution`)
	geminiDeclaration = set(`name description parameters parametersJsonSchema parameters_json_schema response responseJsonSchema behavior`)
	geminiThinking    = set(`includeThoughts include_thoughts thinkingBudget thinking_budget thinkingLevel thinking_level`)
	// geminiSchema is the part of OpenAPI that parameters and responseSchema
	// take (https://ai.google.dev/api/caching#Schema).
	geminiSchema = set(`type format title description nullable enum maxItems minItems properties required minProperties maxProperties
		minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum`)
)

func (geminiFormat) knows(x *exchange) map[string]bool {
	if strings.HasSuffix(x.route.path, ":countTokens") {
		return geminiCountMembers
	}
	return geminiMembers
}

func (geminiFormat) unknown(path string) *refusal {
	at, name := "", path
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		at, name = " at '"+path[:dot]+"'", path[dot+1:]
	}
	return refuse(path, "Invalid JSON payload received. Unknown name \"%s\"%s: Cannot find field.", name, at)
}

func (geminiFormat) read(x *exchange) (*prompt, *refusal) {
	body := x.json
	if inner := either(body, "generateContentRequest", "generate_content_request"); inner.IsObject() {
		body = inner
	}
	config := either(body, "generationConfig", "generation_config")
	thinking := config.Get("thinkingConfig")
	p := &prompt{
		model: x.model, terms: termsOf(x.model), usage: true,
		stream:    strings.HasSuffix(x.route.path, ":streamGenerateContent"),
		stops:     strs(config.Get("stopSequences")),
		choices:   int(config.Get("candidateCount").Int()),
		maxTokens: int(config.Get("maxOutputTokens").Int()),
		logprobs:  config.Get("responseLogprobs").Bool(),
		top:       int(config.Get("logprobs").Int()),
		draws:     slices.Contains(strs(config.Get("responseModalities")), "IMAGE"),
	}
	includes := either(thinking, "includeThoughts", "include_thoughts").Bool()
	p.reasoning = includes || p.terms["reason"]
	p.hidden = !includes
	if cached := either(body, "cachedContent", "cached_content"); cached.Exists() {
		p.stored = 1000
		p.input += p.stored
	}
	r := &geminiReader{prompt: p, body: body, config: config, strict: x.platform != compatible}
	for _, check := range []func() *refusal{r.settings, r.output, r.declared, r.choose, r.system, r.history} {
		if refused := check(); refused != nil {
			return nil, refused
		}
	}
	return p, nil
}

// geminiReader takes one request apart.
type geminiReader struct {
	*prompt
	body, config gjson.Result
	strict       bool
}

func (r *geminiReader) settings() *refusal {
	thinking := r.config.Get("thinkingConfig")
	if extra := unknownIn(r.config, geminiConfig); extra != "" && r.strict {
		return geminiFormat{}.unknown("generation_config." + extra)
	}
	if extra := unknownIn(thinking, geminiThinking); extra != "" {
		return geminiFormat{}.unknown("generation_config.thinking_config." + extra)
	}
	level := either(thinking, "thinkingLevel", "thinking_level")
	switch t := r.config.Get("temperature"); {
	case len(r.body.Get("contents").Array()) == 0:
		return refuse("contents", "* GenerateContentRequest.contents: contents is not specified\n")
	case t.Exists() && (t.Type != gjson.Number || t.Num < 0 || t.Num > 2):
		return refuse("", "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n")
	case len(r.stops) > 5:
		return refuse("", "* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are allowed.\n")
	case r.choices > 8:
		return refuse("", "Multiple candidates is not enabled for more than 8 candidates.")
	case level.Exists() && either(thinking, "thinkingBudget", "thinking_budget").Exists():
		return refuse("", "You can only set only one of thinking budget and thinking level.")
	case level.Exists() && !set("MINIMAL LOW MEDIUM HIGH minimal low medium high")[level.Str]:
		return refuse("", "Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), \"%s\"", level.Str)
	case r.top > 0 && !r.logprobs:
		return refuse("", "Logprobs is set but response_logprobs is not.")
	}
	return nil
}

func (r *geminiReader) output() *refusal {
	schema, wide := r.config.Get("responseSchema"), r.config.Get("responseJsonSchema")
	media := r.config.Get("responseMimeType").Str
	switch {
	case schema.Exists() && wide.Exists():
		return refuse("", "Only one of response_schema and response_json_schema can be set.")
	case (schema.Exists() || wide.Exists()) && media != "application/json" && media != "text/x.enum":
		return refuse("", "* GenerateContentRequest.generation_config.response_schema: only allowed for mime type 'application/json' or 'text/x.enum'.\n")
	case media != "" && !set("application/json text/plain text/x.enum")[media]:
		return refuse("", "* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.\n")
	}
	if media == "application/json" {
		r.schema = either(r.config, "responseSchema", "responseJsonSchema")
		r.object = !r.schema.Exists()
	}
	return r.narrow("generation_config.response_schema", schema)
}

// narrow checks a schema that has to be of Gemini's own kind.
func (r *geminiReader) narrow(at string, s gjson.Result) *refusal {
	if !r.strict || !s.IsObject() {
		return nil
	}
	if extra := unknownIn(s, geminiSchema); extra != "" {
		return geminiFormat{}.unknown(at + "." + extra)
	}
	if s.Get("type").IsArray() {
		return refuse("", "Invalid JSON payload received. Unknown name \"type\" at '%s': Proto field is not repeating, cannot start list.", at)
	}
	var refused *refusal
	s.Get("properties").ForEach(func(k, sub gjson.Result) bool {
		refused = r.narrow(at+".properties[0].value", sub)
		return refused == nil
	})
	for i, sub := range s.Get("anyOf").Array() {
		if refused == nil {
			refused = r.narrow(at+".any_of["+itoa(i)+"]", sub)
		}
	}
	if refused == nil {
		refused = r.narrow(at+".items", s.Get("items"))
	}
	return refused
}

var geminiToolName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`)

func (r *geminiReader) declared() *refusal {
	for i, group := range r.body.Get("tools").Array() {
		for j, t := range either(group, "functionDeclarations", "function_declarations").Array() {
			at := "tools[" + itoa(i) + "].function_declarations[" + itoa(j) + "]"
			wide := either(t, "parametersJsonSchema", "parameters_json_schema")
			switch extra := unknownIn(t, geminiDeclaration); {
			case extra != "" && r.strict:
				return geminiFormat{}.unknown(at + "." + extra)
			case !geminiToolName.MatchString(t.Get("name").Str):
				return refuse("", "* GenerateContentRequest.%s.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", at)
			case wide.Exists() && t.Get("parameters").Exists():
				return refuse("", "* GenerateContentRequest.%s: only one of parameters and parameters_json_schema can be set.\n", at)
			case r.has(t.Get("name").Str):
				return refuse("", "Duplicate function declaration found: %s", t.Get("name").Str)
			}
			if refused := r.narrow(at+".parameters", t.Get("parameters")); refused != nil {
				return refused
			}
			schema := t.Get("parameters")
			if wide.Exists() {
				schema = wide
			}
			r.tools = append(r.tools, tool{name: t.Get("name").Str, schema: schema})
		}
	}
	return nil
}

func (r *geminiReader) choose() *refusal {
	calling := either(either(r.body, "toolConfig", "tool_config"), "functionCallingConfig", "function_calling_config")
	only := strs(either(calling, "allowedFunctionNames", "allowed_function_names"))
	switch mode := calling.Get("mode").Str; mode {
	case "", "AUTO", "VALIDATED":
	case "NONE":
		r.choice.mode = choiceNone
	case "ANY":
		r.choice.mode = choiceRequired
	default:
		return refuse("", "Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), \"%s\"", mode)
	}
	if len(only) > 0 && calling.Get("mode").Str != "ANY" && calling.Get("mode").Str != "VALIDATED" {
		return refuse("", "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: should only be set when the mode is ANY or VALIDATED.\n")
	}
	for _, name := range only {
		if !r.has(name) {
			return refuse("", "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: %s is not declared.\n", name)
		}
	}
	r.choice.only = only
	return nil
}

func (r *geminiReader) system() *refusal {
	content := either(r.body, "systemInstruction", "system_instruction")
	if content.Exists() && len(content.Get("parts").Array()) == 0 {
		return refuse("", "* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.\n")
	}
	for _, part := range content.Get("parts").Array() {
		if part.Get("text").Type != gjson.String {
			return refuse("", "System instruction takes text.")
		}
		r.prompt.system += r.add(part.Get("text").Str)
	}
	return nil
}

func (geminiFormat) counted(p *prompt) json.RawMessage {
	return obj("totalTokens", p.input, "promptTokensDetails", geminiDetails(usage{
		input: p.input, images: p.images * imageTokens, audio: p.audios * audioTokens,
	}))
}

func either(v gjson.Result, one, other string) gjson.Result {
	if found := v.Get(one); found.Exists() {
		return found
	}
	return v.Get(other)
}
