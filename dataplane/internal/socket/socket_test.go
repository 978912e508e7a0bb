package socket_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server accepts one conversation and hands it to talk.
func server(t *testing.T, talk func(*socket.Socket)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conversation, err := socket.Accept(w, r, "realtime", 1000)
		if err == nil {
			talk(conversation)
			conversation.End(call.Complete)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func dial(t *testing.T, url string) *socket.Socket {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s, response, err := socket.Dial(t.Context(), transport, request, "realtime", 1000)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	require.Equal(t, "realtime", response.Header.Get("Sec-WebSocket-Protocol"))
	t.Cleanup(func() { s.End(call.Complete) })
	return s
}

func TestFramesGoBothWays(t *testing.T) {
	s := server(t, func(c *socket.Socket) {
		for {
			f, err := c.Receive(context.Background())
			if err != nil {
				return
			}
			f.Data = append([]byte("got "), f.Data...)
			if c.Send(context.Background(), f) != nil {
				return
			}
		}
	})
	c := dial(t, s.URL)
	for _, text := range []bool{true, false} {
		require.NoError(t, c.Send(t.Context(), call.Frame{Text: text, Data: []byte("北京🙂é")}))
		f, err := c.Receive(t.Context())
		require.NoError(t, err)
		require.Equal(t, call.Frame{Text: text, Data: []byte("got 北京🙂é")}, f)
	}
}

func TestTheEndIsEOF(t *testing.T) {
	s := server(t, func(c *socket.Socket) { c.End(call.Complete) })
	_, err := dial(t, s.URL).Receive(t.Context())
	require.ErrorIs(t, err, io.EOF)
	for why, code := range map[call.Ending]websocket.StatusCode{
		call.Restart: websocket.StatusServiceRestart, call.TooBig: websocket.StatusMessageTooBig, call.Refused: websocket.StatusPolicyViolation, call.Broken: websocket.StatusInternalError,
	} {
		s := server(t, func(c *socket.Socket) { c.End(why) })
		_, err := dial(t, s.URL).Receive(t.Context())
		require.Equal(t, code, websocket.CloseStatus(err))
	}
}

func TestAFrameOverTheLimit(t *testing.T) {
	seen := make(chan error, 1)
	s := server(t, func(c *socket.Socket) {
		_, err := c.Receive(context.Background())
		seen <- err
	})
	c := dial(t, s.URL)
	require.NoError(t, c.Send(t.Context(), call.Frame{Text: true, Data: []byte(strings.Repeat("x", 1001))}))
	require.ErrorIs(t, <-seen, socket.ErrTooBig)
}

func TestARefusalIsRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusTooManyRequests)
	}))
	defer s.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	_, response, err := socket.Dial(t.Context(), transport, request, "realtime", 1000)
	require.Error(t, err)
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"no"`)
}

func TestAlive(t *testing.T) {
	gone := make(chan struct{})
	s := server(t, func(c *socket.Socket) {
		_, _ = c.Receive(context.Background())
		<-gone
	})
	c := dial(t, s.URL)
	heard := make(chan error, 1)
	go func() {
		_, err := c.Receive(context.Background())
		heard <- err
	}()
	require.NoError(t, c.Alive(t.Context()))
	close(gone)
	c.End(call.Complete)
	require.Error(t, <-heard)
	require.Error(t, c.Alive(t.Context()))
}

// TestAConnectionThatEndsSaysNoGoodbye: to who listens, io.EOF means that the
// other side had enough; a side that vanished is another matter.
func TestAConnectionThatEndsSaysNoGoodbye(t *testing.T) {
	seen := make(chan error, 1)
	s := server(t, func(c *socket.Socket) {
		_, err := c.Receive(context.Background())
		seen <- err
	})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	require.ErrorIs(t, <-seen, socket.ErrVanished)
	require.NoError(t, conn.Close())
}
