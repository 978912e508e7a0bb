package messages

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

// finishOf reads a stop_reason.
func finishOf(reason string) conversation.Finish {
	switch reason {
	case "":
		return ""
	case "max_tokens", "model_context_window_exceeded":
		return conversation.Length
	case "tool_use":
		return conversation.ToolCalls
	case "pause_turn":
		return conversation.Paused
	case "refusal":
		return conversation.Refused
	default: // end_turn, stop_sequence, and what may be added
		return conversation.Stop
	}
}

// stopReason writes one. Callers run tools when it says so, and some providers
// say nothing but "stop" of an answer that calls them. There is none for a
// model that broke off: the answer ends where it does.
func stopReason(finish conversation.Finish, sequence string, calls bool) string {
	switch finish {
	case conversation.Length:
		return "max_tokens"
	case conversation.ToolCalls:
		return typeToolUse
	case conversation.ContentFilter, conversation.Refused:
		return "refusal"
	case conversation.Paused:
		return "pause_turn"
	default:
		switch {
		case calls && finish == conversation.Stop:
			return typeToolUse
		case sequence != "":
			return "stop_sequence"
		}
		return "end_turn"
	}
}
