package responses

import "github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"

// The values of "status".
const (
	completed  = "completed"
	incomplete = "incomplete"
	inProgress = "in_progress"
	failed     = "failed"
	calledOff  = "cancelled" //nolint:misspell // OpenAI's spelling
)

// The values of "incomplete_details.reason". The last is none of OpenAI's own:
// no format but Anthropic's has the case.
const (
	reasonLength = "max_output_tokens"
	reasonFilter = "content_filter"
	reasonPause  = "pause_turn"
)

// finishOf reads why a response ended. A complete one says no more than that:
// that tools are to be called, or that the model refuses, shows in what it put
// out.
func finishOf(status, reason string, calls, refused bool) conversation.Finish {
	switch {
	case status == incomplete && reason == reasonFilter:
		return conversation.ContentFilter
	case status == incomplete && reason == reasonPause:
		return conversation.Paused
	case status == incomplete:
		return conversation.Length
	case calls:
		return conversation.ToolCalls
	case refused:
		return conversation.Refused
	}
	return conversation.Stop
}

// ended writes why a choice ended. A refusal shows in the output; one without
// words of its own is told as a filter's, or it would look like an answer.
func (o *output) ended(f conversation.Finish) (status, reason string) {
	if f == conversation.Refused && !o.refuses() {
		f = conversation.ContentFilter
	}
	return statusOf(f)
}

func (o *output) refuses() bool {
	for _, i := range o.items {
		for at := range i.pieces {
			if i.pieces[at].refusal {
				return true
			}
		}
	}
	return false
}

func statusOf(f conversation.Finish) (status, reason string) {
	switch f {
	case conversation.Length:
		return incomplete, reasonLength
	case conversation.ContentFilter:
		return incomplete, reasonFilter
	case conversation.Paused:
		return incomplete, reasonPause
	case conversation.Failed:
		return failed, ""
	default:
		return completed, ""
	}
}

// found reports what of parts the finish reason follows from.
func found(parts []conversation.Part) (calls, refused bool) {
	for i := range parts {
		calls = calls || parts[i].Kind == conversation.Call
		refused = refused || parts[i].Kind == conversation.Refusal
	}
	return calls, refused
}
