package translate

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// format is a wire format of conversations.
type format int

const (
	noFormat format = iota
	chatFormat
	responsesFormat
	messagesFormat
	geminiFormat
	converseFormat
)

// callerFormats are the formats of the surfaces that carry conversations.
var callerFormats = map[catalog.Surface]format{
	catalog.Chat:      chatFormat,
	catalog.Responses: responsesFormat,
	catalog.Messages:  messagesFormat,
	catalog.Gemini:    geminiFormat,
}

// spokenTo is the format in which a candidate is asked for a conversation that
// came in the format of surface: the caller's own where the candidate speaks
// it, because then nothing has to be translated.
func spokenTo(surface catalog.Surface, to decide.Candidate) format {
	switch to.Provider.Type {
	case catalog.Anthropic:
		return messagesFormat
	case catalog.Google:
		return geminiFormat
	case catalog.Vertex:
		if isClaude(to.Endpoint.UpstreamModel) {
			return messagesFormat
		}
		return geminiFormat
	case catalog.Bedrock:
		return converseFormat
	case catalog.OpenAI, catalog.Azure:
		if surface == catalog.Responses && lists(to.Endpoint, catalog.Responses, true) {
			return responsesFormat
		}
		if !lists(to.Endpoint, catalog.Chat, false) && lists(to.Endpoint, catalog.Responses, false) {
			return responsesFormat // a model that is there on this surface alone
		}
		return chatFormat
	case catalog.OpenAICompatible:
		// Few of them have more than chat; those that do say so.
		if own := callerFormats[surface]; own != geminiFormat && lists(to.Endpoint, surface, false) {
			return own
		}
		return chatFormat
	}
	return noFormat
}

// lists reports whether an endpoint has a surface; one that lists none is
// taken at unlisted.
func lists(e *catalog.Endpoint, s catalog.Surface, unlisted bool) bool {
	if len(e.Surfaces) == 0 {
		return unlisted
	}
	return slices.Contains(e.Surfaces, s)
}

// isClaude recognizes the models that Vertex serves in Anthropic's format
// (https://docs.anthropic.com/en/api/claude-on-vertex-ai).
func isClaude(model string) bool { return strings.HasPrefix(model, "claude-") }
