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

// ending is what a stop_reason is made of.
type ending struct {
	finish         conversation.Finish
	sequence       string
	calls, refuses bool // what the answer holds
}

// saw notes what a part of the answer tells of its end.
func (e *ending) saw(k conversation.Kind) {
	e.calls = e.calls || k == conversation.Call
	e.refuses = e.refuses || k == conversation.Refusal
}

// reason writes a stop_reason. Callers run tools when it says so, and some
// providers say nothing but "stop" of an answer that calls them; OpenAI says
// it of one that refuses. There is no word for a model that broke off: the
// answer ends where it does.
func (e *ending) reason() string {
	switch e.finish {
	case conversation.Length:
		return "max_tokens"
	case conversation.ToolCalls:
		return typeToolUse
	case conversation.ContentFilter, conversation.Refused:
		return "refusal"
	case conversation.Paused:
		return "pause_turn"
	case conversation.Stop:
		switch {
		case e.refuses:
			return "refusal"
		case e.calls:
			return typeToolUse
		case e.sequence != "":
			return "stop_sequence"
		}
	default:
	}
	return "end_turn"
}
