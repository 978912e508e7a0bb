package pipeline

import (
	"errors"
	"net/http"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// maxCaptured bounds a reply to the gateway itself, in bytes: what it asks for
// has some hundred tokens.
const maxCaptured = 256 << 10

var errTooLong = errors.New("the reply is longer than what the gateway asked for")

// captured is the sink of a request that the gateway itself makes: it keeps the
// body.
type captured struct {
	body   []byte
	status int
}

// Start implements call.Sink.
func (s *captured) Start(h call.Head) error {
	s.status = h.Status
	return nil
}

// Write implements call.Sink.
func (s *captured) Write(p []byte) error {
	if len(s.body)+len(p) > maxCaptured {
		return errTooLong
	}
	s.body = append(s.body, p...)
	return nil
}

// Fail implements call.Sink. Nobody reads the envelope.
func (s *captured) Fail(*fault.Error, http.Header) {
	if s.status == 0 {
		s.status = http.StatusBadGateway
	}
}

// Started implements call.Sink.
func (s *captured) Started() bool { return s.status != 0 }

// Status implements call.Sink.
func (s *captured) Status() int { return s.status }

var _ call.Sink = (*captured)(nil)
