package merge

import (
	"slices"

	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Added is what a preset adds to a request, as routing counts it. A parameter
// that the caller's body has already is counted all the same.
type Added struct {
	Parameters   []string // as endpoints list them, sorted
	InputTokens  int64    // estimate
	OutputTokens int64    // cap; 0: none
}

// AddedBy returns what a preset adds to a request of a surface.
func AddedBy(s catalog.Surface, c *policy.PresetConfig) Added {
	var a Added
	var bytes int
	params, _ := sorted(s, c)
	for _, p := range params {
		a.Parameters = append(a.Parameters, p.listed(s))
		if p.concept == "maxtokens" && a.OutputTokens == 0 {
			a.OutputTokens = rawjson.Int(p.value)
		}
		if first := p.value[0]; first == '[' || first == '{' {
			bytes += len(p.value)
		}
	}
	if s.TakesInstructions() {
		bytes += len(c.SystemPrompt)
	}
	a.InputTokens = int64(bytes / meter.BytesPerToken)
	slices.Sort(a.Parameters)
	a.Parameters = slices.Compact(a.Parameters)
	return a
}

// listings are the concepts that endpoints list under the name that Chat
// Completions has, whatever another format calls them.
var listings = map[string]string{
	"maxtokens": "max_tokens", "stop": "stop", "n": "n", "topp": "top_p", "topk": "top_k",
	"presencepenalty": "presence_penalty", "frequencypenalty": "frequency_penalty",
	"thinking": "reasoning", "thinkingconfig": "reasoning", "toolconfig": "tool_choice", "responselogprobs": "logprobs",
	"text": "response_format", "outputconfig": "response_format", "outputformat": "response_format",
	"responsemimetype": "response_format", "responseschema": "response_format", "responsejsonschema": "response_format",
}

// listed is a parameter's name as endpoints list it.
func (p placed) listed(s catalog.Surface) string {
	switch s {
	case catalog.Responses, catalog.Messages, catalog.Gemini:
	default:
		return p.name
	}
	if p.config && p.concept == "logprobs" {
		return "top_logprobs"
	}
	if name, ok := listings[p.concept]; ok {
		return name
	}
	return p.name
}
