package catalog

import (
	"slices"
	"strings"
)

// Quirks are the spellings in which providers that speak OpenAI's format
// differ from it. A zero member is the format as OpenAI documents it.
type Quirks struct {
	// TokenLimit is the member that limits the output of chat:
	// max_completion_tokens or max_tokens.
	TokenLimit string `json:"token_limit,omitempty"`
	// SystemRole is the role of instructions: system or developer.
	SystemRole string `json:"system_role,omitempty"`
	// StreamUsage is false where stream_options is refused. Such providers send
	// the usage of a stream unasked.
	StreamUsage *bool `json:"stream_usage,omitempty"`
	// ReasoningField is the member of a message that holds thoughts:
	// reasoning_content or reasoning.
	ReasoningField string `json:"reasoning_field,omitempty"`
	// CacheControl is true where parts of content may carry Anthropic's
	// cache_control.
	CacheControl *bool `json:"cache_control,omitempty"`
	// CacheHint is how a provider is told which requests have the beginning of
	// their prompts in common: prompt_cache_key in the body, a header by its
	// name, or none. "" is prompt_cache_key at providers of type openai and
	// azure, and none elsewhere. See Provider.CacheHint.
	CacheHint string `json:"cache_hint,omitempty"`
}

// The values that quirks can have.
var (
	tokenLimits     = []string{"max_completion_tokens", "max_tokens"}
	systemRoles     = []string{"system", "developer"}
	reasoningFields = []string{"reasoning_content", "reasoning"}
	cacheHints      = []string{HintPromptCacheKey, HintXAI, HintFireworks, HintNone}
)

// over lays q over what is below it, member by member.
func (q Quirks) over(below *Quirks) *Quirks {
	if q == (Quirks{}) {
		return below
	}
	var out Quirks
	if below != nil {
		out = *below
	}
	for _, m := range []struct {
		to   *string
		from string
	}{
		{&out.TokenLimit, q.TokenLimit},
		{&out.SystemRole, q.SystemRole},
		{&out.ReasoningField, q.ReasoningField},
		{&out.CacheHint, q.CacheHint},
	} {
		if m.from != "" {
			*m.to = m.from
		}
	}
	out.StreamUsage = first(q.StreamUsage, out.StreamUsage)
	out.CacheControl = first(q.CacheControl, out.CacheControl)
	return &out
}

func (k *checker) quirks(path string, p *Provider) {
	q := p.Quirks
	if q == nil {
		return
	}
	if p.Type != OpenAI && p.Type != Azure && p.Type != OpenAICompatible {
		k.addf(path, "only providers of type openai, azure and openai-compatible have quirks")
	}
	for _, m := range []struct {
		name, value string
		known       []string
	}{
		{"token_limit", q.TokenLimit, tokenLimits},
		{"system_role", q.SystemRole, systemRoles},
		{"reasoning_field", q.ReasoningField, reasoningFields},
		{"cache_hint", q.CacheHint, cacheHints},
	} {
		if m.value != "" && !slices.Contains(m.known, m.value) {
			k.addf(path+"."+m.name, "want %s", strings.Join(m.known, " or "))
		}
	}
}
