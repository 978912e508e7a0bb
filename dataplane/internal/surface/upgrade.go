package surface

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

const (
	// realtimeProtocol is what callers of /v1/realtime may offer to speak
	// (https://platform.openai.com/docs/guides/realtime-websocket).
	realtimeProtocol = "realtime"
	// keyProtocol begins the offer that carries the key of a caller who cannot
	// set headers, as in a browser.
	keyProtocol = "openai-insecure-api-key."
	// maxFrame bounds what a caller says at once, in bytes: OpenAI's own bound on
	// appended audio.
	maxFrame = 15 << 20
)

const headerProtocol = "Sec-Websocket-Protocol"

// failTime bounds the last words of a conversation.
const failTime = 5 * time.Second

// upgrades refuses what cannot become a two-way conversation (RFC 6455, section
// 4.2.1), before a provider is asked for its side of one.
func upgrades(r *http.Request) *fault.Error {
	switch {
	case !hasToken(r.Header["Upgrade"], "websocket"):
		return fault.New(fault.ValidationError, "This surface is a WebSocket: connect with ws:// or wss:// and the model in the query, as in /v1/realtime?model=….")
	case !r.ProtoAtLeast(1, 1) || !hasToken(r.Header["Connection"], "upgrade"):
		return fault.New(fault.ValidationError, "The WebSocket handshake lacks connection: Upgrade over HTTP/1.1. A proxy on the way may have taken it out.")
	case r.Header.Get("Sec-Websocket-Version") != "13":
		return fault.New(fault.ValidationError, "The WebSocket handshake must have sec-websocket-version: 13.")
	case !isNonce(r.Header["Sec-Websocket-Key"]):
		return fault.New(fault.ValidationError, "The WebSocket handshake must have one sec-websocket-key of 16 bytes in base64.")
	}
	return nil
}

// hasToken finds a token in a list that may be spread over several headers.
func hasToken(values []string, token string) bool {
	for _, value := range values {
		for t := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

func isNonce(values []string) bool {
	if len(values) != 1 {
		return false
	}
	nonce, err := base64.StdEncoding.DecodeString(strings.TrimSpace(values[0]))
	return err == nil && len(nonce) == 16
}

// protocolKey is the key that a caller offers as a subprotocol.
func protocolKey(values []string) string {
	for _, value := range values {
		for offer := range strings.SplitSeq(value, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(offer), keyProtocol); ok {
				return key
			}
		}
	}
	return ""
}

// Upgrade implements call.Upgrader.
func (s *sink) Upgrade(head call.Head) (call.Frames, error) {
	s.begin(http.StatusSwitchingProtocols, head.Header)
	frames, err := socket.Accept(s.w, s.request, realtimeProtocol, maxFrame)
	if err != nil {
		return nil, err
	}
	_ = s.control.SetWriteDeadline(time.Time{}) // each frame has its own time
	s.talk = &told{Frames: frames}
	return s.talk, nil
}

// told is the caller's side of a two-way conversation.
type told struct{ call.Frames }

// Receive implements call.Frames.
func (t *told) Receive(ctx context.Context) (call.Frame, error) {
	frame, err := t.Frames.Receive(ctx)
	if errors.Is(err, socket.ErrTooBig) {
		err = fault.Wrap(err, fault.PayloadTooLarge, "A frame may have at most 15 MiB.")
	}
	return frame, err
}

// fail says in a frame why the conversation ends.
func (t *told) fail(ctx context.Context, event []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), failTime)
	defer cancel()
	_ = t.Send(ctx, call.Frame{Text: true, Data: event}) // nobody is left to tell when it fails
}
