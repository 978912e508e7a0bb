package dialecttest

import (
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

// param sets one parameter by its neutral name. "cache_control" and
// "tools.0.strict" are parts of what they stand on and are drawn there.
func (d *drawer) param(r *conversation.Request, name string) {
	switch name {
	case "max_tokens":
		r.MaxTokens = rapid.Int64Range(70_000, 200_000).Draw(d.T, name) // above every budget
	case "temperature":
		r.Temperature = anyNumber.Draw(d.T, name)
	case "top_p":
		r.TopP = anyNumber.Draw(d.T, name)
	case "top_k":
		r.TopK = anyNumber.Draw(d.T, name)
	case "seed":
		r.Seed = anyNumber.Draw(d.T, name)
		if d.s.Seeds != nil {
			r.Seed = rapid.SampledFrom(d.s.Seeds).Draw(d.T, name+" taken")
		}
	case "frequency_penalty":
		r.FrequencyPenalty = anyNumber.Draw(d.T, name)
	case "presence_penalty":
		r.PresencePenalty = anyNumber.Draw(d.T, name)
	case "stop":
		r.Stop = rapid.SliceOfN(rapid.SampledFrom([]string{"END", "\n\n", "北京", `"`}), 1, 4).Draw(d.T, name)
	case "n":
		r.Choices = rapid.Int64Range(2, 8).Draw(d.T, name) // one is what every format gives
	case "logprobs":
		r.Logprobs = true
	case "top_logprobs":
		r.Logprobs, r.TopLogprobs = true, rapid.SampledFrom([]conversation.Number{"0", "5", "20"}).Draw(d.T, name)
	case "verbosity":
		r.Verbosity = rapid.SampledFrom([]string{"low", "medium", "high"}).Draw(d.T, name)
	case "service_tier":
		r.ServiceTier = rapid.SampledFrom([]string{"auto", "default"}).Draw(d.T, name)
	case "user":
		r.User = rapid.SampledFrom([]string{"u-1", "é<>"}).Draw(d.T, name)
	case "prompt_cache_key":
		r.CacheKey = "key-1"
	case "response_format":
		r.Output = d.output()
	case "reasoning":
		r.Reasoning = d.reasoning()
	case "parallel_tool_calls":
		if len(r.Tools) > 0 {
			r.ParallelTools = d.flag(name)
		}
	case "tool_choice", "tool_choice.allowed":
		d.choice(r, name)
	}
}

func (d *drawer) output() *conversation.Output {
	o := &conversation.Output{Kind: conversation.JSONSchema, Schema: anySchema.Draw(d.T, "schema")}
	if d.s.NamedOutput {
		o.Name, o.Description, o.Strict = "person", d.text(), d.flag("strict")
	}
	return o
}

func (d *drawer) reasoning() conversation.Reasoning {
	var r conversation.Reasoning
	switch {
	case d.s.Off && d.yes("off"):
		return conversation.Reasoning{Off: true}
	case d.s.Budget && (len(d.s.Efforts) == 0 || d.yes("budget")):
		r.Budget = rapid.Int64Range(1024, 65536).Draw(d.T, "budget")
	case len(d.s.Efforts) > 0:
		r.Effort = rapid.SampledFrom(d.s.Efforts).Draw(d.T, "effort")
	}
	r.Summary = pick(d, "summary", d.s.Summaries)
	return r
}

func (d *drawer) choice(r *conversation.Request, name string) {
	var names []string
	for _, t := range r.Tools {
		if t.Kind == conversation.Function {
			names = append(names, t.Name)
		}
	}
	switch {
	case len(names) == 0:
	case name == "tool_choice.allowed":
		r.ToolChoice = conversation.ToolChoice{
			Mode:    rapid.SampledFrom([]conversation.ToolMode{conversation.Auto, conversation.Required}).Draw(d.T, "mode"),
			Allowed: names[:1],
		}
	default:
		modes := []conversation.ToolMode{conversation.Auto, conversation.None, conversation.Required, conversation.One}
		r.ToolChoice = conversation.ToolChoice{Mode: rapid.SampledFrom(modes).Draw(d.T, "mode")}
		if r.ToolChoice.Mode == conversation.One {
			r.ToolChoice.Name = names[0]
		}
	}
}
