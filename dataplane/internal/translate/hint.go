package translate

import (
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// keyMember is a member that tells the provider which prompts begin alike, ""
// where the body does not say so. Only OpenAI's formats have one.
func keyMember(c *call.Call, to decide.Candidate, spoken format) (value string) {
	if spoken != chatFormat && spoken != responsesFormat {
		return ""
	}
	if c.CacheHint(to.Provider) != catalog.HintPromptCacheKey {
		return ""
	}
	return c.Conversation.Hint.String()
}

// hinted adds to what a format demands the header that tells the provider which
// prompts begin alike, where it has one.
func hinted(set http.Header, c *call.Call, to decide.Candidate) http.Header {
	how := c.CacheHint(to.Provider)
	if how == "" || how == catalog.HintPromptCacheKey {
		return set
	}
	if set == nil {
		set = make(http.Header, 1)
	}
	set.Set(how, c.Conversation.Hint.String())
	return set
}

// keyed is the member as it is put in front of a body.
func keyed(value string) string {
	if value == "" {
		return ""
	}
	return `"prompt_cache_key":` + string(rawjson.Quote(value))
}
