package chat

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

	limit, newLimit    int64 // max_tokens, max_completion_tokens
	user, safety       string
	functions, forced  []byte // "functions" and "function_call", deprecated
	thinking, thoughts []byte // "thinking" and "reasoning" of other formats' callers

	custom map[string]bool   // ids of calls of custom tools
	legacy map[string]string // id of the last function_call, by name
}

// DecodeRequest implements dialect.Codec.
func (Codec) DecodeRequest(body []byte) (*conversation.Request, []fault.Violation) {
	r := &requestReader{}
	o := rawjson.NewObject(body)
	messages := false
	for o.Next() {
		v := o.Value()
		if name := o.Name(); name == "messages" {
			messages = true
			r.out.Messages = nil
			r.messages(v)
		} else if !rawjson.IsNull(v) && !r.param(name, v) && !r.tooling(name, v) {
			r.other(name, v)
		}
	}
	if !messages {
		r.Wrong("messages", openai.Missing, "must be there")
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
	case "max_tokens":
		r.limit = r.Count(name, v)
	case "max_completion_tokens":
		r.newLimit = r.Count(name, v)
	case "temperature":
		out.Temperature = r.Number(name, v)
	case "top_p":
		out.TopP = r.Number(name, v)
	case "top_k":
		out.TopK = r.Number(name, v)
	case "seed":
		out.Seed = r.Number(name, v)
	case "frequency_penalty":
		out.FrequencyPenalty = r.Number(name, v)
	case "presence_penalty":
		out.PresencePenalty = r.Number(name, v)
	case "stop":
		r.stop(v)
	case "n":
		out.Choices = r.Count(name, v)
	case "logprobs":
		out.Logprobs = isTrue(r.Flag(name, v))
	case "top_logprobs":
		out.TopLogprobs = r.Number(name, v)
	case "verbosity":
		out.Verbosity = r.Text(name, v)
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
	case "functions":
		r.functions = v
	case "function_call":
		r.forced = v
	case "response_format":
		r.output(v)
	case "reasoning_effort":
		r.effort(r.Text(name, v))
	case "reasoning":
		r.thoughts = v
	case "thinking":
		r.thinking = v
	default:
		return false
	}
	return true
}

// other notes a member without a neutral form, unless it is for the gateway,
// says how the reply is sent, or asks for what happens anyway.
func (r *requestReader) other(name string, v []byte) {
	switch {
	case dialect.IsGatewayOnly(name), name == "metadata", name == "stream_options", openai.IsBlank(v), string(v) == "false", name == "modalities" && isTextOnly(v):
	case !slices.Contains(r.out.Other, name):
		r.out.Other = append(r.out.Other, name)
	}
}

func isTextOnly(v []byte) bool {
	a := rawjson.NewArray(v)
	return a.Next() && rawjson.String(a.Value()) == "text" && !a.Next()
}

func (r *requestReader) stop(v []byte) {
	if rawjson.IsString(v) {
		r.out.Stop = []string{r.Text("stop", v)}
		return
	}
	r.out.Stop = nil
	r.Each("stop", v, func(path string, v []byte) { r.out.Stop = append(r.out.Stop, r.Text(path, v)) })
}

func (r *requestReader) effort(effort string) {
	if effort == "none" {
		r.out.Reasoning.Off = true
		return
	}
	r.out.Reasoning.Effort = effort
}

// settle decides between members that say the same.
func (r *requestReader) settle() {
	if r.out.MaxTokens = r.newLimit; r.newLimit == 0 {
		r.out.MaxTokens = r.limit
	}
	if r.out.User = r.user; r.user == "" {
		r.out.User = r.safety
	}
	if r.out.Reasoning.IsZero() {
		r.reasoning(r.thoughts)
	}
	if r.out.Reasoning.IsZero() {
		r.anthropicThinking(r.thinking)
	}
	if len(r.out.Tools) == 0 {
		r.Each("functions", r.functions, func(path string, v []byte) { r.function(path, v, conversation.Tool{}) })
	}
	if r.out.ToolChoice.Mode == "" {
		r.functionCall(r.forced)
	}
}

// reasoning reads OpenRouter's member
// (https://openrouter.ai/docs/use-cases/reasoning-tokens).
func (r *requestReader) reasoning(v []byte) {
	enabled := (*bool)(nil)
	o := r.Object("reasoning", v)
	for o.Next() {
		v := o.Value()
		switch o.Name() {
		case "effort":
			r.effort(r.Text("reasoning.effort", v))
		case "max_tokens":
			r.out.Reasoning.Budget = r.Count("reasoning.max_tokens", v)
		case "enabled":
			enabled = r.Flag("reasoning.enabled", v)
		case "summary":
			r.out.Reasoning.Summary = r.Text("reasoning.summary", v)
		default:
			r.other("reasoning."+o.Name(), v)
		}
	}
	if enabled != nil {
		r.switched(*enabled)
	}
}

// anthropicThinking reads the member of Anthropic's messages, which several
// providers of this format take too.
func (r *requestReader) anthropicThinking(v []byte) {
	kind := ""
	o := r.Object("thinking", v)
	for o.Next() {
		switch {
		case o.Is("type"):
			kind = r.Text("thinking.type", o.Value())
		case o.Is("budget_tokens"):
			r.out.Reasoning.Budget = r.Count("thinking.budget_tokens", o.Value())
		}
	}
	if kind != "" {
		r.switched(kind != "disabled")
	}
}

func (r *requestReader) switched(on bool) {
	switch said := &r.out.Reasoning; {
	case !on:
		*said = conversation.Reasoning{Off: true}
	case said.Effort == "" && said.Budget == 0:
		said.Budget = conversation.Dynamic
	}
}

func isTrue(flag *bool) bool { return flag != nil && *flag }
