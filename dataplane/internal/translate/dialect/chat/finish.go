package chat

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

// failed is the finish reason of a choice that is no answer but an error.
const failed = "error"

// finishOf reads a finish reason. The providers' own words that mean one of
// the format's five are taken for it; "" is none.
func finishOf(word string) conversation.Finish {
	switch word {
	case "":
		return ""
	case "length", "max_tokens", "model_length", "MAX_TOKENS":
		return conversation.Length
	case "tool_calls", "function_call", "tool_use":
		return conversation.ToolCalls
	case "content_filter", "sensitive", "safety", "SAFETY":
		return conversation.ContentFilter
	case "insufficient_system_resource", "network_error", "malformed_function_call":
		return conversation.Failed
	}
	return conversation.Stop
}

// finishWord writes a finish reason. A model that refused stops, when the
// refusal stands in the reply as such.
func finishWord(f conversation.Finish, refusal bool) string {
	switch f {
	case conversation.Length, conversation.ToolCalls, conversation.ContentFilter:
		return string(f)
	case conversation.Refused:
		if refusal {
			return "stop"
		}
		return "content_filter"
	default: // the format has no word for the rest
		return "stop"
	}
}
