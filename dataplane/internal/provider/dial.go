package provider

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// realtimeProtocol is the subprotocol of two-way conversations
// (https://platform.openai.com/docs/guides/realtime-websocket).
const realtimeProtocol = "realtime"

// dial opens a two-way conversation on a connection of its own. The context
// ends the dialing; the conversation ends by itself.
func (c *Client) dial(ctx context.Context, request *http.Request, with authorizer) (upstream.Response, *upstream.Failure) {
	frames, response, err := socket.Dial(ctx, c.fresh, request, realtimeProtocol, sse.MaxEvent) //nolint:bodyclose // memory, or none
	if err == nil {
		return upstream.Response{
			Status: http.StatusSwitchingProtocols, Header: inbound(nil, time.Time{}), Length: -1, Frames: frames,
		}, nil
	}
	if response == nil {
		return upstream.Response{}, failed(err)
	}
	if response.StatusCode == http.StatusUnauthorized {
		with.refused(request)
	}
	if response.StatusCode < 300 {
		failure := upstream.Fail(upstream.BadHead, err) // it did not refuse, and did not upgrade
		failure.Status = response.StatusCode
		return upstream.Response{}, failure
	}
	failure := c.refused(response, response.Body)
	failure.Status = response.StatusCode
	return upstream.Response{}, failure
}
