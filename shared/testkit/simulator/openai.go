package simulator

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// openAIMembers are the members of each request of OpenAI's, by path.
var openAIMembers = map[string]map[string]bool{
	"/chat/completions": set(`messages model audio frequency_penalty function_call functions logit_bias logprobs
		max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction presence_penalty
		prompt_cache_key prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier
		stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity
		web_search_options`),
	"/completions": set(`model prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty
		seed stop stream stream_options suffix temperature top_p user`),
	"/embeddings":  set(`input model dimensions encoding_format user`),
	"/moderations": set(`input model`),
	"/images/generations": set(`prompt model background moderation n output_compression output_format partial_images
		quality response_format size stream style user`),
	"/images/edits": set(`image image[] prompt background input_fidelity mask model n output_compression output_format
		partial_images quality response_format size stream user`),
	"/audio/speech": set(`input model voice instructions response_format speed stream_format`),
	"/audio/transcriptions": set(`file model chunking_strategy include include[] language prompt response_format stream
		temperature timestamp_granularities timestamp_granularities[]`),
	"/audio/translations": set(`file model prompt response_format temperature`),
	"/videos":             set(`prompt input_reference model seconds size`),
	"/files":              set(`file purpose expires_after expires_after[anchor] expires_after[seconds]`),
	"/batches":            set(`completion_window endpoint input_file_id metadata output_expires_after`),
}

// openAIBasics checks what both of OpenAI's formats refuse.
func openAIBasics(x *exchange, input string) *refusal {
	body := x.json
	if x.model == "" || (x.deployment == "" && body.Get("model").Type != gjson.String) {
		return refuse("model", "you must provide a model parameter")
	}
	in := body.Get(input)
	switch {
	case !in.Exists(), in.Type == gjson.Null, in.IsArray() && len(in.Array()) == 0:
		return missing(input)
	case input == "messages" && !in.IsArray():
		return &refusal{status: 400, param: input, code: "invalid_type", message: "Invalid type for 'messages': expected an array of objects."}
	}
	for _, one := range []struct {
		name        string
		least, most float64
	}{{"temperature", 0, 2}, {"top_p", 0, 1}, {"frequency_penalty", -2, 2}, {"presence_penalty", -2, 2}} {
		v := body.Get(one.name)
		if v.Exists() && v.Type != gjson.Null && (v.Type != gjson.Number || v.Num < one.least || v.Num > one.most) {
			return refuse(one.name, "Invalid '%s': expected a value from %g to %g.", one.name, one.least, one.most)
		}
	}
	return nil
}

func missing(param string) *refusal {
	return &refusal{status: 400, param: param, code: "missing_required_parameter", message: "Missing required parameter: '" + param + "'."}
}

// oneOf is OpenAI's refusal of a value; words are what is allowed.
func oneOf(param, value, words string) *refusal {
	return &refusal{status: 400, param: param, code: "invalid_value", message: "Invalid value: '" + value + "'. Supported values are: '" +
		strings.Join(strings.Fields(words), "', '") + "'."}
}

func itoa(n int) string { return strconv.Itoa(n) }

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (p *prompt) openAITool(i int, kind string, t gjson.Result) *refusal {
	at := "tools[" + itoa(i) + "]"
	name := t.Get("name").Str
	if (kind == "function" || kind == "custom") && !toolName.MatchString(name) {
		return refuse(at, "Invalid '%s.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", at)
	}
	switch kind {
	case "function":
		schema := t.Get("parameters")
		problem := ""
		if schema.Exists() && (!schema.IsObject() || len(schema.Raw) > 2 && typeOf(schema) != "object") {
			problem = "schema must be a JSON Schema of 'type: \"object\"'."
		} else if t.Get("strict").Bool() && p.exact {
			problem = strictProblem(schema, nil)
		}
		if problem != "" {
			return &refusal{status: 400, param: at + ".parameters", code: "invalid_function_parameters", message: "Invalid schema for function '" + name + "': " + problem}
		}
		p.tools = append(p.tools, tool{name: name, schema: schema})
	case "custom":
		p.tools = append(p.tools, tool{name: name, custom: true})
	default:
		return oneOf(at+".type", kind, "function custom")
	}
	return nil
}

// openAIChoice reads tool_choice. Chat nests what it names one level deeper
// than responses do.
func (p *prompt) openAIChoice(body gjson.Result, allowed gjson.Result) *refusal {
	choice := body.Get("tool_choice")
	if choice.Exists() && choice.Type != gjson.Null && choice.Str != "none" && choice.Str != "auto" && len(body.Get("tools").Array()) == 0 {
		return refuse("tool_choice", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	nameOf := func(t gjson.Result) string {
		return firstText(t.Get("name"), t.Get("function.name"), t.Get("custom.name"))
	}
	switch kind := choice.Get("type").Str; {
	case choice.Str == "none":
		p.choice.mode = choiceNone
	case choice.Str == "required":
		p.choice.mode = choiceRequired
	case choice.Str == "auto", choice.Type == gjson.Null:
	case kind == "allowed_tools":
		if allowed.Get("mode").Str == "required" {
			p.choice.mode = choiceRequired
		}
		for _, t := range allowed.Get("tools").Array() {
			p.choice.only = append(p.choice.only, nameOf(t))
		}
		if len(p.choice.only) == 0 {
			return missing("tool_choice.tools")
		}
	case kind == "function", kind == "custom":
		p.choice = toolChoice{mode: choiceRequired, only: []string{nameOf(choice)}}
	default:
		return oneOf("tool_choice", choice.String(), "none auto required")
	}
	for _, name := range p.choice.only {
		if !p.has(name) {
			return refuse("tool_choice", "Tool choice '%s' not found in 'tools' parameter.", name)
		}
	}
	return nil
}

func (p *prompt) has(name string) bool {
	return slices.ContainsFunc(p.tools, func(t tool) bool { return t.name == name })
}

// openAISchema reads the structured output that is asked for.
func (p *prompt) openAISchema(kind, at string, format gjson.Result) *refusal {
	switch kind {
	case "json_schema":
		p.schema = format.Get("schema")
		if !toolName.MatchString(format.Get("name").Str) {
			return missing(at + ".name")
		}
		if !p.schema.IsObject() {
			return missing(at + ".schema")
		}
		if problem := strictProblem(p.schema, nil); problem != "" && p.exact && format.Get("strict").Bool() {
			return refuse(at, "Invalid schema for response_format '%s': %s", format.Get("name").Str, problem)
		}
	case "json_object":
		p.object = true
	case "", "text":
	default:
		return oneOf(at+".type", kind, "json_object json_schema text")
	}
	return nil
}

func (p *prompt) openAIImage(at, url, detail string) *refusal {
	if detail != "" && !set("auto low high original")[detail] {
		return oneOf(at+".detail", detail, "auto low high")
	}
	kind, ok := dataURL(url)
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") && (!ok || !strings.HasPrefix(kind, "image/")) {
		return &refusal{status: 400, param: at, code: "invalid_image_url", message: "Invalid image URL: expected an https URL or a data URL with base64."}
	}
	p.addImage()
	return nil
}

func (p *prompt) openAIAudio(at string, audio gjson.Result) *refusal {
	if f := audio.Get("format").Str; f != "wav" && f != "mp3" {
		return oneOf(at+".format", f, "wav mp3")
	}
	if !isBase64(audio.Get("data").Str) {
		return refuse(at, "Invalid %s.data: not base64.", at)
	}
	p.addAudio()
	return nil
}

func (p *prompt) openAIFile(at, data, id, name string) *refusal {
	_, ok := dataURL(data)
	switch {
	case id != "":
	case name == "":
		return missing(at + ".filename")
	case !ok:
		return refuse(at, "Invalid %s.file_data: expected a base64-encoded data URL with a MIME type (e.g. 'data:application/pdf;base64,aGVsbG8=').", at)
	}
	p.addDocument()
	return nil
}

// dataURL returns the media type of a base64 data URL.
func dataURL(url string) (kind string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", false
	}
	kind, data, ok := strings.Cut(rest, ";base64,")
	return kind, ok && kind != "" && isBase64(data)
}

func isBase64(text string) bool {
	_, err := base64.StdEncoding.DecodeString(text)
	return err == nil && text != ""
}

// strictProblem says why OpenAI would not take a schema as strict
// (https://platform.openai.com/docs/guides/structured-outputs).
func strictProblem(s gjson.Result, context []string) string {
	at := "In context=(" + strings.Join(context, ", ") + "), "
	problem := ""
	switch typeOf(s) {
	case "object":
		if s.Get("additionalProperties").Type != gjson.False {
			return at + "'additionalProperties' is required to be supplied and to be false."
		}
		required := strs(s.Get("required"))
		s.Get("properties").ForEach(func(k, sub gjson.Result) bool {
			problem = strictProblem(sub, append(slices.Clone(context), "'properties'", "'"+k.Str+"'"))
			if !slices.Contains(required, k.Str) {
				problem = at + "'required' is required to be supplied and to be an array including every key in properties. Missing '" + k.Str + "'."
			}
			return problem == ""
		})
	case "array":
		problem = strictProblem(s.Get("items"), append(slices.Clone(context), "'items'"))
	}
	return problem
}

func openAIFailure(e refusal) json.RawMessage {
	kind := "invalid_request_error"
	switch {
	case e.kind != "":
		kind = e.kind
	case e.status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case e.status == http.StatusUnauthorized:
		kind = "authentication_error"
	case e.status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return obj("error", obj("message", e.message, "type", kind, "param", nullable(e.param), "code", nullable(e.code)))
}

// openAIWords are the errors as OpenAI words them
// (https://platform.openai.com/docs/guides/error-codes).
func openAIWords(t trouble) refusal {
	switch t {
	case troubleQuota:
		return refusal{status: 429, kind: "insufficient_quota", code: "insufficient_quota", message: "You exceeded your current quota, please check your plan and billing details."}
	case troubleContext:
		return refusal{status: 400, param: "messages", code: "context_length_exceeded", message: "This model's maximum context length is " +
			"128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages."}
	case troublePolicy:
		return refusal{status: 400, code: "content_policy_violation", message: "Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system."}
	case troubleAuth:
	}
	return refusal{status: 401, code: "invalid_api_key", kind: "invalid_request_error", message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."}
}
