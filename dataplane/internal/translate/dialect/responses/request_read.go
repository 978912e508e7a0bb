package responses

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect/openai"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// requestReader reads one request.
type requestReader struct {
	reader
	out conversation.Request

	hasInput     bool
	instructions string
	user, safety string
	topLogprobs  conversation.Number
}

// DecodeRequest implements dialect.Codec.
func (Codec) DecodeRequest(body []byte) (*conversation.Request, []fault.Violation) {
	r := &requestReader{}
	o := rawjson.NewObject(body)
	for o.Next() {
		name, v := o.Name(), o.Value()
		switch {
		case rawjson.IsNull(v):
		case name == "input":
			r.hasInput = true
			r.input(v)
		case !r.param(name, v) && !r.tooling(name, v) && !r.state(name):
			r.other(name, v)
		}
	}
	r.settle()
	return &r.out, r.Violations
}

// param reads a member that is one value of the request.
func (r *requestReader) param(name string, v []byte) bool {
	out := &r.out
	switch name {
	case "model":
		out.Model = r.Text(name, v)
	case "instructions":
		r.instructions = r.Text(name, v)
	case "max_output_tokens":
		out.MaxTokens = r.Count(name, v)
	case "temperature":
		out.Temperature = r.Number(name, v)
	case "top_p":
		out.TopP = r.Number(name, v)
	case "top_logprobs":
		r.topLogprobs = r.Number(name, v)
	case "service_tier":
		out.ServiceTier = r.Text(name, v)
	case "user":
		r.user = r.Text(name, v)
	case "safety_identifier":
		r.safety = r.Text(name, v)
	case "prompt_cache_key":
		out.CacheKey = r.Text(name, v)
	case "stream":
		out.Stream = isTrue(r.Flag(name, v))
	default:
		return false
	}
	return true
}

// tooling reads the members about tools, the form of the output, and thinking.
func (r *requestReader) tooling(name string, v []byte) bool {
	switch name {
	case "tools":
		r.tools(v)
	case "tool_choice":
		r.toolChoice(v)
	case "parallel_tool_calls":
		r.out.ParallelTools = r.Flag(name, v)
	case "text":
		r.textConfig(v)
	case "reasoning":
		r.reasoning(v)
	case "include":
		r.include(v)
	default:
		return false
	}
	return true
}

// state notes a member that refers to what the provider holds.
func (r *requestReader) state(name string) bool {
	switch name {
	case "previous_response_id", "conversation", "prompt":
		r.out.State = append(r.out.State, name)
		return true
	}
	return false
}

// other notes a member without a neutral form, unless it is for the gateway,
// says how the reply is sent, or asks for what happens anyway: of other formats nothing is stored, and too long an input is an error.
func (r *requestReader) other(name string, v []byte) {
	switch {
	case dialect.IsGatewayOnly(name), name == "metadata", name == "stream_options", openai.IsBlank(v), string(v) == "false",
		name == "truncation" && string(v) == `"disabled"`:
	case !slices.Contains(r.out.Other, name):
		r.out.Other = append(r.out.Other, name)
	}
}

// textConfig reads the member "text".
func (r *requestReader) textConfig(v []byte) {
	o := r.Object("text", v)
	for o.Next() {
		v := o.Value()
		switch name := o.Name(); name {
		case "format":
			r.format(v)
		case "verbosity":
			r.out.Verbosity = r.Text("text.verbosity", v)
		default:
			r.other("text."+name, v)
		}
	}
}

func (r *requestReader) format(v []byte) {
	const path = "text.format"
	out := &conversation.Output{}
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch {
		case o.Is("type"):
			out.Kind = conversation.OutputKind(r.Text(path+".type", v))
		case o.Is("name"):
			out.Name = r.Text(path+".name", v)
		case o.Is("description"):
			out.Description = r.Text(path+".description", v)
		case o.Is("schema") && !rawjson.IsNull(v):
			out.Schema = slices.Clone(v)
		case o.Is("strict"):
			out.Strict = r.Flag(path+".strict", v)
		}
	}
	switch out.Kind {
	case conversation.PlainText, conversation.JSONObject:
	case conversation.JSONSchema:
		if out.Schema == nil {
			r.Wrong(path+".schema", openai.Missing, "must be a JSON schema")
		}
	default:
		if !rawjson.IsNull(v) {
			r.Wrong(path+".type", openai.UnknownValue, `must be "text", "json_object" or "json_schema"`)
		}
		return
	}
	r.out.Output = out
}

func (r *requestReader) reasoning(v []byte) {
	const path = "reasoning"
	said, older := &r.out.Reasoning, ""
	o := r.Object(path, v)
	for o.Next() {
		v := o.Value()
		switch name := o.Name(); name {
		case "effort":
			if said.Effort = r.Text(path+".effort", v); said.Effort == "none" {
				said.Effort, said.Off = "", true
			}
		case "summary":
			said.Summary = r.Text(path+".summary", v)
		case "generate_summary":
			older = r.Text(path+".generate_summary", v)
		default:
			r.other(path+"."+name, v)
		}
	}
	if said.Summary == "" {
		said.Summary = older
	}
}

// include asks for more in the reply. Proofs of thoughts are always there.
func (r *requestReader) include(v []byte) {
	r.Each("include", v, func(path string, v []byte) {
		switch name := r.Text(path, v); name {
		case includeProofs:
		case includeLogprobs:
			r.out.Logprobs = true
		default:
			r.other("include."+name, v)
		}
	})
}

const (
	includeProofs   = "reasoning.encrypted_content"
	includeLogprobs = "message.output_text.logprobs"
)

// settle decides between members that say the same, and puts the instructions
// in front.
func (r *requestReader) settle() {
	if r.out.User = r.user; r.user == "" {
		r.out.User = r.safety
	}
	if r.out.Logprobs { // else the number does nothing
		r.out.TopLogprobs = r.topLogprobs
	}
	if r.instructions != "" {
		front := conversation.Message{
			Role: conversation.System, Parts: []conversation.Part{{Kind: conversation.Text, Text: r.instructions}},
		}
		r.out.Messages = slices.Insert(r.out.Messages, 0, front)
	}
	if !r.hasInput && len(r.out.State) == 0 {
		r.Wrong("input", openai.Missing, "must be a string or an array of items")
	}
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
