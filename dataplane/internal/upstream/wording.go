package upstream

import "strings"

// The wordings by which providers say the same thing, in lower case. Each is
// part of a message, a code or a type that some provider is known to send.
var (
	contextLengthWords = []string{
		"context_length_exceeded", "context length", "context window", "maximum context",
		"prompt is too long", "input is too long", "too many tokens", "input tokens exceed",
		"reduce the length of the messages", "maximum number of tokens", "max_prompt_tokens",
		"exceeds the maximum allowed tokens", "input token count", "context_window_exceeded",
		"exceeds the model's maximum", "exceed context limit", "model_max_prompt_tokens_exceeded",
	}
	contentPolicyWords = []string{
		"content_policy", "content policy", "content_filter", "content management policy",
		"responsibleaipolicyviolation", "safety system", "usage policies", "usage policy",
		"was flagged", "moderation_blocked", "prohibited_content",
	}
	geographicWords = []string{
		"unsupported_country_region_territory", "country, region, or territory",
		"location is not supported", "not available in your region", "not available in your country",
	}
	rateLimitWords = []string{
		"rate_limit", "rate limit", "too many requests", "insufficient_quota", "quota exceeded", "resource_exhausted",
	}
	credentialWords = []string{
		"invalid_api_key", "invalid api key", "incorrect api key", "api key not valid", "api_key_invalid",
		"authentication_error", "permission_error", "unauthenticated", "permission_denied",
	}
)

func (d *detail) isContextLength() bool { return d.says(contextLengthWords) }
func (d *detail) isContentPolicy() bool { return d.says(contentPolicyWords) }
func (d *detail) isGeographic() bool    { return d.says(geographicWords) }

func (d *detail) isRateLimit() bool { return d.code == "429" || d.says(rateLimitWords) }

func (d *detail) isCredential() bool {
	return d.code == "401" || d.code == "403" || d.says(credentialWords)
}

func (d *detail) says(words []string) bool {
	text := strings.ToLower(d.code + "\n" + d.kind + "\n" + d.message)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
