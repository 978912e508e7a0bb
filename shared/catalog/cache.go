package catalog

import "time"

// Bounds of Provider.CacheRetention. Under a quarter of an hour pins would be
// written more often than they are of use; no provider keeps more than a day.
const (
	MinCacheRetention = 15 * time.Minute
	MaxCacheRetention = 24 * time.Hour
)

// CacheLifetime is how long the provider is worth going back to for what it
// cached of a prompt: CacheRetention, else by type. OpenAI and Azure drop a
// prefix after 5 to 10 minutes without use and at the latest after an hour
// (https://platform.openai.com/docs/guides/prompt-caching), Google keeps
// explicit caches for an hour unless told otherwise
// (https://ai.google.dev/gemini-api/docs/caching), Anthropic and Bedrock keep
// five minutes from the last use, and of the many others little is known.
func (p *Provider) CacheLifetime() time.Duration {
	if p.CacheRetention > 0 {
		return min(max(p.CacheRetention, MinCacheRetention), MaxCacheRetention)
	}
	switch p.Type {
	case OpenAI, Azure, Google, Vertex:
		return time.Hour
	default:
		return MinCacheRetention
	}
}

// The ways to tell a provider which prompts begin alike: a member of the body,
// or a header.
const (
	HintPromptCacheKey = "prompt_cache_key"
	HintXAI            = "x-grok-conv-id"     // https://docs.x.ai/docs/advanced-api-usage/prompt-caching
	HintFireworks      = "x-session-affinity" // https://docs.fireworks.ai/guides/prompt-caching
	HintNone           = "none"
)

// CacheHint is how the provider is told which prompts begin alike, HintNone
// where it has no way.
func (p *Provider) CacheHint() string {
	if p.Quirks != nil && p.Quirks.CacheHint != "" {
		return p.Quirks.CacheHint
	}
	if p.Type == OpenAI || p.Type == Azure {
		return HintPromptCacheKey
	}
	return HintNone
}
