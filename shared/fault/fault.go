// Package fault owns the closed vocabulary of failures that leave the
// product: a code, a reason where the code has several, a message safe to
// show, and the places in the input that were wrong. It knows nothing of HTTP:
// each surface has one file that turns codes into statuses and envelopes.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Error is a failure with a code. Message is for the person who called: what
// was wrong, where, and what to do. It never holds a secret, another tenant's
// data, an upstream address or the text of a Go error; those stay in the
// wrapped cause, for the log.
type Error struct {
	Code       Code
	Reason     Reason // "" where the code needs none
	Message    string
	Origin     Origin // "" means Client for the codes of the caller's making, else Gateway
	Violations []Violation
	Retryable  bool
	RetryAfter time.Duration  // 0 when unknown
	Status     int            // 4xx: the upstream's for upstream_rejected, the route's for route_rejected; else 0
	Fields     map[string]any // further members of the envelope that the code calls for, such as "policy_id"

	cause error
}

// Violation is one wrong place in the input.
type Violation struct {
	Path    string // dotted, "" for the whole input
	Code    string // machine-readable kind, such as "unknown_field"
	Message string // never repeats the submitted value
	Node    string // id of the node of a graph; "" elsewhere
}

// Origin says who made a failure happen.
type Origin string

// The origins.
const (
	Client   Origin = "client"
	Gateway  Origin = "gateway"
	Upstream Origin = "upstream"
)

// New returns a failure with a safe message.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Newf is New with a format. The arguments must be safe to show.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap gives cause a code and a safe message. A nil cause is allowed.
func Wrap(cause error, code Code, message string) *Error {
	return &Error{Code: code, Message: message, cause: cause}
}

// Invalid returns a validation_error over the collected violations.
func Invalid(violations ...Violation) *Error {
	e := &Error{Code: ValidationError, Violations: violations, Message: "The request has invalid fields."}
	if len(violations) == 0 {
		return e
	}
	// Most SDKs show the message alone.
	said := make([]string, 0, named)
	for _, v := range violations[:min(named, len(violations))] {
		if v.Path != "" {
			v.Message = v.Path + ": " + v.Message
		}
		said = append(said, v.Message)
	}
	e.Message = strings.Join(said, "; ")
	if more := len(violations) - named; more > 0 {
		e.Message += fmt.Sprintf("; and %d more", more)
	}
	return e
}

// named is how many violations a message names.
const named = 3

// Because sets the reason and returns the receiver.
func (e *Error) Because(r Reason) *Error { e.Reason = r; return e }

// From sets the origin and returns the receiver.
func (e *Error) From(o Origin) *Error { e.Origin = o; return e }

// After marks the failure retryable after d and returns the receiver.
func (e *Error) After(d time.Duration) *Error {
	e.Retryable, e.RetryAfter = true, d
	return e
}

// With adds a member to the envelope and returns the receiver.
func (e *Error) With(name string, value any) *Error {
	if e.Fields == nil {
		e.Fields = make(map[string]any, 4)
	}
	e.Fields[name] = value
	return e
}

// Error implements error for the log: code, reason, message and cause.
func (e *Error) Error() string {
	text := string(e.Code)
	if e.Reason != "" {
		text += "/" + string(e.Reason)
	}
	text += ": " + e.Message
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Of finds the failure inside err. Anything without a code is a gateway_error
// whose text the caller never sees. Of(nil) is nil.
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{
		Code:    GatewayError,
		Message: "Something went wrong on our side. The request id identifies it in our logs.",
		Origin:  Gateway,
		cause:   err,
	}
}

// CodeOf is Of(err).Code, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return Of(err).Code
}

// Is reports whether err carries code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }
