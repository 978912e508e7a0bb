package surface

import (
	"context"
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

// upgrades refuses what cannot become a two-way conversation.
func upgrades(r *http.Request) *fault.Error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return fault.New(fault.ValidationError, "This surface is a WebSocket: connect with ws:// or wss:// and the model in the query, as in /v1/realtime?model=….")
	}
	return nil
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
