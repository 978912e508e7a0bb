// Package socket owns conversations over WebSocket (RFC 6455), on either side:
// with a caller and with a provider. It knows nothing of what is said.
package socket

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
)

// Failures of Receive.
var (
	// ErrTooBig is returned for a frame over the limit.
	ErrTooBig = errors.New("frame over the size limit")
	// ErrVanished is returned when the connection ended and nobody said so.
	ErrVanished = errors.New("connection ended without a close frame")
)

// Socket is one connection. It implements call.Frames.
type Socket struct{ conn *websocket.Conn }

// Accept takes a caller's connection over. It has answered when it fails.
// protocol is the one spoken, if the caller offers it; frames are at most max
// bytes. Callers are told apart by their keys, which pages of other origins do
// not have, so that the origin does not count.
func Accept(w http.ResponseWriter, r *http.Request, protocol string, max int64) (*Socket, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{protocol}, InsecureSkipVerify: true,
	})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(max)
	return &Socket{conn: conn}, nil
}

// Dial connects to a provider with a request's URL and header. The response is
// the provider's when it refused; its body has what it said, as far as that is
// kept.
func Dial(ctx context.Context, transport http.RoundTripper, request *http.Request, protocol string, max int64) (*Socket, *http.Response, error) {
	conn, response, err := websocket.Dial(ctx, request.URL.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPHeader: request.Header, Host: request.Host, Subprotocols: []string{protocol},
	})
	if err != nil {
		return nil, response, err
	}
	conn.SetReadLimit(max)
	return &Socket{conn: conn}, response, nil
}

// Receive implements call.Frames.
func (s *Socket) Receive(ctx context.Context) (call.Frame, error) {
	kind, data, err := s.conn.Read(ctx)
	if err == nil {
		return call.Frame{Text: kind == websocket.MessageText, Data: data}, nil
	}
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return call.Frame{}, io.EOF
	default:
	}
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return call.Frame{}, ErrTooBig
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return call.Frame{}, ErrVanished // to others io.EOF is a goodbye
	}
	return call.Frame{}, err
}

// Send implements call.Frames.
func (s *Socket) Send(ctx context.Context, f call.Frame) error {
	kind := websocket.MessageBinary
	if f.Text {
		kind = websocket.MessageText
	}
	return s.conn.Write(ctx, kind, f.Data)
}

// Alive implements call.Frames.
func (s *Socket) Alive(ctx context.Context) error { return s.conn.Ping(ctx) }

var statuses = map[call.Ending]struct {
	code   websocket.StatusCode
	reason string
}{
	call.Complete: {websocket.StatusNormalClosure, ""},
	call.Restart:  {websocket.StatusServiceRestart, "the gateway restarts"},
	call.TooBig:   {websocket.StatusMessageTooBig, "frame over the size limit"},
	call.Refused:  {websocket.StatusPolicyViolation, "the key is not valid any more"},
	call.Broken:   {websocket.StatusInternalError, "the other side is gone"},
}

// End implements call.Frames.
func (s *Socket) End(why call.Ending) {
	status := statuses[why]
	_ = s.conn.Close(status.code, status.reason) // the other side may have gone
}
