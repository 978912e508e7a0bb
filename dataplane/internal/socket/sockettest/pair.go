// Package sockettest owns two ends of one WebSocket for tests.
package sockettest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
)

const maxFrame = 1 << 20

// Pair connects two sockets. Both have ended when the test has.
func Pair(t *testing.T) (dialed, accepted call.Frames) {
	t.Helper()
	conversations := make(chan *socket.Socket, 1)
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s, err := socket.Accept(w, r, "realtime", maxFrame); err == nil {
			conversations <- s
			<-over
		}
	}))
	transport := &http.Transport{}
	t.Cleanup(func() {
		close(over)
		transport.CloseIdleConnections()
		server.Close()
	})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	s, response, err := socket.Dial(t.Context(), transport, request, "realtime", maxFrame) //nolint:bodyclose // memory, or none
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	return s, <-conversations
}
