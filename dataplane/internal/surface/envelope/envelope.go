package envelope

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Format is a native error form.
type Format int

// The native error forms.
const (
	OpenAI    Format = iota // {"error":{message,type,code,param,…}}
	Anthropic               // {"type":"error","error":{type,message,…},"request_id"}
	Gemini                  // {"error":{code,status,message,details,…}}
	Responses               // OpenAI's, with an event of its own in a stream
)

// Body is a failure as the surface's own clients read it, with the gateway's
// own members inside "error".
func (f Format) Body(e *fault.Error, requestID string) []byte {
	status := Status(e)
	inner := members(e, status, requestID)
	var whole any
	switch f {
	case Anthropic:
		inner["type"] = anthropicType(status)
		if e.Reason == fault.Overloaded {
			inner["type"] = "overloaded_error" // for which clients wait longer
		}
		inner["message"] = e.Message
		whole = map[string]any{"type": "error", "error": inner, "request_id": requestID}
	case Gemini:
		// The SDKs want a number in "code", so ours stands beside it.
		inner["error_code"] = e.Code
		inner["code"] = status
		inner["status"] = geminiStatus(status)
		inner["message"] = e.Message
		whole = map[string]any{"error": inner}
	default:
		if _, kept := inner["type"]; !kept {
			inner["type"] = openAIType(status)
		}
		if _, kept := inner["param"]; !kept {
			inner["param"] = param(e)
		}
		inner["message"] = e.Message
		whole = map[string]any{"error": inner}
	}
	body, err := json.Marshal(whole)
	if err != nil {
		// Only a Fields member that is no JSON value can do this.
		return []byte(`{"error":{"message":"Something went wrong on our side.","code":"gateway_error"}}`)
	}
	return body
}

// Frame is a failure as what ends a stream of the surface; sequence is the
// number of the event, where the surface's events have one. The terminal marker
// does not follow it.
func (f Format) Frame(e *fault.Error, requestID string, sequence int64) []byte {
	body := f.Body(e, requestID)
	switch f {
	case Gemini:
		// Google's SDKs differ: that for JavaScript raises for an event with an
		// error, those for Go and Python for a line of bare JSON.
		return slices.Concat([]byte("data: "), body, []byte("\n\n"), body, []byte("\n"))
	case Responses:
		return slices.Concat([]byte("event: error\ndata: "), responsesEvent(e, body, sequence), []byte("\n\n"))
	case Anthropic:
		return slices.Concat([]byte("event: error\ndata: "), body, []byte("\n\n"))
	default:
		return slices.Concat([]byte("data: "), body, []byte("\n\n"))
	}
}

// Event is a failure as the event that ends a two-way conversation
// (https://platform.openai.com/docs/api-reference/realtime-server-events/error).
func (f Format) Event(e *fault.Error, requestID string) []byte {
	return append([]byte(`{"type":"error","event_id":"`+requestID+`",`), f.Body(e, requestID)[1:]...)
}

// responsesEvent is the "error" event of the responses API
// (https://platform.openai.com/docs/api-reference/responses-streaming/error).
// OpenAI's SDKs raise only for a member "error", which stands there too.
func responsesEvent(e *fault.Error, body []byte, sequence int64) []byte {
	event, err := json.Marshal(struct {
		Type     string `json:"type"`
		Code     string `json:"code"`
		Message  string `json:"message"`
		Param    any    `json:"param"`
		Sequence int64  `json:"sequence_number"`
	}{"error", string(e.Code), e.Message, param(e), sequence})
	if err != nil { // strings and numbers always marshal
		return body
	}
	// body is an object with one member.
	return append(append(event[:len(event)-1], ','), body[1:]...)
}

// members are the gateway's own, and those that the code calls for.
func members(e *fault.Error, status int, requestID string) map[string]any {
	m := make(map[string]any, 10+len(e.Fields))
	for name, value := range e.Fields {
		m[name] = value
	}
	m["code"] = e.Code
	if e.Reason != "" {
		m["reason"] = e.Reason
	}
	m["origin"] = origin(e, status)
	m["request_id"] = requestID
	m["retryable"] = e.Retryable
	if len(e.Violations) > 0 {
		details := make([]map[string]string, len(e.Violations))
		for i, v := range e.Violations {
			details[i] = map[string]string{"path": v.Path, "message": v.Message}
			if v.Code != "" {
				details[i]["code"] = v.Code
			}
		}
		m["details"] = details
	}
	return m
}

// param is the first wrong place, as OpenAI clients know it.
func param(e *fault.Error) any {
	if len(e.Violations) > 0 && e.Violations[0].Path != "" {
		return e.Violations[0].Path
	}
	return nil
}

func openAIType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "insufficient_quota"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "server_error"
}

func anthropicType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	}
	if status < http.StatusInternalServerError {
		return "invalid_request_error"
	}
	return "api_error"
}

// geminiStatus names the google.rpc.Code of an HTTP status
// (https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto).
func geminiStatus(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusConflict:
		return "ABORTED"
	case http.StatusPaymentRequired, http.StatusGone, http.StatusPreconditionFailed:
		return "FAILED_PRECONDITION"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	if status < http.StatusInternalServerError {
		return "INVALID_ARGUMENT"
	}
	return "INTERNAL"
}
