package messages

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// DecodeRequest implements dialect.Codec. Whether max_tokens has to be there is
// not for it to say: a request to count tokens has none.
func (Codec) DecodeRequest(body []byte) (*conversation.Request, []fault.Violation) {
	r := &reader{request: &conversation.Request{}}
	root := gjson.ParseBytes(body)
	if !root.IsObject() {
		r.wrong("", wrongType, "must be a JSON object")
		return nil, r.violations
	}
	r.conversation(root)
	root.ForEach(func(key, v gjson.Result) bool {
		r.member(key.Str, v)
		return true
	})
	if mark := r.cache("cache_control", root.Get("cache_control")); mark != "" {
		r.markLast(mark)
	}
	if len(r.violations) > 0 {
		return nil, r.violations
	}
	return r.request, nil
}

// conversation reads the instructions and the turns.
func (r *reader) conversation(root gjson.Result) {
	if system := root.Get("system"); system.Type != gjson.Null {
		r.instructions("system", system)
	}
	turns := root.Get("messages")
	if turns.Type == gjson.Null || turns.IsArray() && turns.Get("#").Int() == 0 {
		r.wrong("messages", required, "must have at least one message")
		return
	}
	r.elements("messages", turns, r.message)
}

// member reads one of the members that say how to answer.
func (r *reader) member(name string, v gjson.Result) {
	q := r.request
	switch name {
	case "messages", "system", "cache_control", "anthropic_version":
	case "model":
		q.Model = r.text(name, v)
	case "max_tokens":
		if n, ok := r.whole(name, v, 0); ok {
			q.MaxTokens = n
			if n == 0 {
				// To fill the cache without an answer: the least of others is one token.
				q.MaxTokens, q.Other = 1, append(q.Other, name)
			}
		}
	case "tools":
		r.elements(name, v, r.tool)
	case "tool_choice":
		r.toolChoice(name, v)
	case "thinking":
		r.thinking(name, v)
	case "output_config":
		r.outputConfig(name, v)
	case "output_format": // the name it had before it was part of output_config
		r.format(name, v)
	case "temperature":
		q.Temperature = r.number(name, v)
	case "top_p":
		q.TopP = r.number(name, v)
	case "top_k":
		q.TopK = r.number(name, v)
	case "stop_sequences":
		r.elements(name, v, func(path string, v gjson.Result) { q.Stop = append(q.Stop, r.need(path, v)) })
	case "metadata":
		if r.object(name, v) {
			q.User = r.text("metadata.user_id", v.Get("user_id"))
		}
	case "service_tier":
		r.tier(name, v)
	case "stream":
		if yes := r.flag(name, v); yes != nil {
			q.Stream = *yes
		}
	default:
		if !dialect.IsGatewayOnly(name) {
			r.other(name, v)
		}
	}
}

// other notes a member that has no neutral form, when it says anything.
func (r *reader) other(path string, v gjson.Result) {
	switch {
	case v.Type == gjson.Null, v.Type == gjson.False, v.Type != gjson.Number && len(v.Raw) == 2:
	default:
		r.request.Other = append(r.request.Other, path)
	}
}

// tier: "standard_only" is what others call the default.
func (r *reader) tier(path string, v gjson.Result) {
	switch word := r.text(path, v); word {
	case "", "auto":
		r.request.ServiceTier = word
	case "standard_only":
		r.request.ServiceTier = "default"
	default:
		r.wrong(path, outOfSet, "must be auto or standard_only")
	}
}

func (r *reader) thinking(path string, v gjson.Result) {
	if !r.object(path, v) {
		return
	}
	to := &r.request.Reasoning
	switch r.need(path+".type", v.Get("type")) {
	case "enabled":
		if v.Get("budget_tokens").Type == gjson.Null {
			r.wrong(path+".budget_tokens", required, "is required: how many tokens the model may think")
		}
		to.Budget, _ = r.whole(path+".budget_tokens", v.Get("budget_tokens"), 1)
	case "disabled":
		to.Off = true
	case "adaptive", "between_tools":
		to.Budget = conversation.Dynamic
	default:
		r.wrong(path+".type", outOfSet, "must be enabled, disabled, adaptive or between_tools")
	}
	if r.text(path+".display", v.Get("display")) == "summarized" {
		to.Summary = "auto"
	}
}

func (r *reader) outputConfig(path string, v gjson.Result) {
	if !r.object(path, v) {
		return
	}
	v.ForEach(func(key, v gjson.Result) bool {
		switch inner := path + "." + key.Str; key.Str {
		case "format":
			r.format(inner, v)
		case "effort":
			switch word := r.text(inner, v); word {
			case "", "low", "medium", "high", "xhigh":
				r.request.Reasoning.Effort = word
			case "max":
				r.request.Reasoning.Effort = "xhigh"
			default:
				r.wrong(inner, outOfSet, "must be low, medium, high, xhigh or max")
			}
		default:
			r.other(inner, v)
		}
		return true
	})
}

func (r *reader) format(path string, v gjson.Result) {
	if !r.object(path, v) {
		return
	}
	if r.need(path+".type", v.Get("type")) != "json_schema" {
		r.wrong(path+".type", outOfSet, "must be json_schema")
		return
	}
	schema := v.Get("schema")
	if !schema.IsObject() {
		r.wrong(path+".schema", required, "must be a JSON schema")
		return
	}
	r.request.Output = &conversation.Output{Kind: conversation.JSONSchema, Schema: json.RawMessage(schema.Raw)}
}

func (r *reader) toolChoice(path string, v gjson.Result) {
	if !r.object(path, v) {
		return
	}
	to := &r.request.ToolChoice
	switch r.need(path+".type", v.Get("type")) {
	case "auto":
		to.Mode = conversation.Auto
	case "any":
		to.Mode = conversation.Required
	case "none":
		to.Mode = conversation.None
	case "tool":
		to.Mode, to.Name = conversation.One, r.need(path+".name", v.Get("name"))
	default:
		r.wrong(path+".type", outOfSet, "must be auto, any, tool or none")
	}
	if alone := r.flag(path+".disable_parallel_tool_use", v.Get("disable_parallel_tool_use")); alone != nil {
		parallel := !*alone
		r.request.ParallelTools = &parallel
	}
}

// tool reads a definition. One whose type is not "custom" is Anthropic's own.
func (r *reader) tool(path string, v gjson.Result) {
	if !v.IsObject() {
		r.wrong(path, wrongType, "must be an object")
		return
	}
	t := conversation.Tool{Name: r.need(path+".name", v.Get("name"))}
	if kind := r.text(path+".type", v.Get("type")); kind != "" && kind != "custom" {
		t.Kind, t.Raw, t.Origin = conversation.Builtin, json.RawMessage(v.Raw), home
		r.request.Tools = append(r.request.Tools, t)
		return
	}
	schema := v.Get("input_schema")
	if !schema.IsObject() {
		r.wrong(path+".input_schema", required, "must be a JSON schema")
	}
	t.Parameters = json.RawMessage(schema.Raw)
	t.Description = r.text(path+".description", v.Get("description"))
	t.Strict = r.flag(path+".strict", v.Get("strict"))
	t.Cache = r.cache(path+".cache_control", v.Get("cache_control"))
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "name", "type", "input_schema", "description", "strict", "cache_control":
		default:
			r.other(path+"."+key.Str, v)
		}
		return true
	})
	r.request.Tools = append(r.request.Tools, t)
}

// markLast puts a mark on the last part that can have one.
func (r *reader) markLast(mark conversation.Cache) {
	for i := len(r.request.Messages) - 1; i >= 0; i-- {
		parts := r.request.Messages[i].Parts
		for j := len(parts) - 1; j >= 0; j-- {
			if parts[j].Kind != conversation.Thought {
				parts[j].Cache = mark
				return
			}
		}
	}
}
