package gemini

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

// finishes are the reasons for which Google ends a candidate
// (https://ai.google.dev/api/generate-content#FinishReason). STOP is also
// that of a candidate that calls functions.
var finishes = map[string]conversation.Finish{
	"STOP":                     conversation.Stop,
	"MAX_TOKENS":               conversation.Length,
	"SAFETY":                   conversation.ContentFilter,
	"RECITATION":               conversation.ContentFilter,
	"BLOCKLIST":                conversation.ContentFilter,
	"PROHIBITED_CONTENT":       conversation.ContentFilter,
	"SPII":                     conversation.ContentFilter,
	"MODEL_ARMOR":              conversation.ContentFilter,
	"IMAGE_SAFETY":             conversation.ContentFilter,
	"IMAGE_PROHIBITED_CONTENT": conversation.ContentFilter,
	"IMAGE_RECITATION":         conversation.ContentFilter,
	"CONTINUATION":             conversation.Paused,
}

// finishOf reads a reason, "" when there is none. One that is not listed says
// that the model broke off: MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL,
// TOO_MANY_TOOL_CALLS, LANGUAGE, OTHER and whatever comes to be.
func finishOf(reason string, calls bool) conversation.Finish {
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		return ""
	}
	finish, known := finishes[reason]
	switch {
	case !known:
		return conversation.Failed
	case finish == conversation.Stop && calls:
		return conversation.ToolCalls
	}
	return finish
}

// reasonOf writes a reason. A model's own refusal is text under any reason, so
// that only the reason can tell it from an answer.
func reasonOf(finish conversation.Finish, refuses bool) string {
	switch finish {
	case conversation.Length:
		return "MAX_TOKENS"
	case conversation.ContentFilter, conversation.Refused:
		return "SAFETY"
	case conversation.Failed:
		return "OTHER"
	case conversation.Paused:
		return "CONTINUATION"
	default:
	}
	if refuses {
		return "SAFETY"
	}
	return "STOP"
}
