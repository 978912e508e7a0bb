package provider_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vault opens what is "sealed" as plain bytes, and counts.
type vault struct{ opened atomic.Int32 }

func (v *vault) Open(sealed secret.Sealed, ad ...string) (secret.String, error) {
	v.opened.Add(1)
	if strings.Join(ad, "/") != "platform/north" {
		return secret.String{}, errors.New("wrong associated data")
	}
	if string(sealed) == "broken" {
		return secret.String{}, errors.New("cannot open")
	}
	return secret.NewString(string(sealed)), nil
}

func north(baseURL, key string) *catalog.Provider {
	return &catalog.Provider{
		Slug: "north", Type: catalog.OpenAICompatible, BaseURL: baseURL,
		Credential: secret.Sealed(key), Keyless: key == "",
	}
}

func newClient(t *testing.T, opts provider.Options) *provider.Client {
	t.Helper()
	c := provider.New(&vault{}, opts)
	t.Cleanup(c.Close)
	return c
}

func request(baseURL string) upstream.Request {
	return upstream.Request{Provider: north(baseURL, "key-1"), Path: "/chat/completions", Body: upstream.Bytes([]byte(`{"model":"m"}`))}
}

// post makes one call and reads the whole body.
func post(t *testing.T, c *provider.Client, baseURL string) (string, *upstream.Failure) {
	t.Helper()
	response, failure := c.Call(t.Context(), request(baseURL))
	if failure != nil {
		return "", failure
	}
	defer func() { require.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(body), nil
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// raw is a server below HTTP: script gets each connection with the requests
// that came on it so far.
type raw struct {
	url   string
	conns atomic.Int32
}

// exchange reads one request and writes what reply says for the n-th request
// of this connection, from 1; "" closes the connection, hang keeps it silent.
func serveRaw(t *testing.T, reply func(conn, n int) string) *raw {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &raw{url: "http://" + listener.Addr().String() + "/v1"}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			number := int(r.conns.Add(1))
			go func() {
				defer func() { _ = conn.Close() }()
				end := context.AfterFunc(ctx, func() { _ = conn.Close() })
				defer end()
				talk(conn, func(n int) string { return reply(number, n) })
			}()
		}
	}()
	t.Cleanup(func() {
		stop()
		require.NoError(t, listener.Close())
		<-done
	})
	return r
}

const reset = "\x00reset"

func talk(conn net.Conn, reply func(n int) string) {
	reader := bufio.NewReader(conn)
	for n := 1; ; n++ {
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		if _, err = io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		text := reply(n)
		if text == reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
			return
		}
		text, last := strings.CutSuffix(text, "\x00close")
		if text == "" {
			return
		}
		if _, err = io.WriteString(conn, text); err != nil || last {
			return
		}
		if strings.Contains(text, "Connection: close") {
			return
		}
	}
}

const good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

// closedPort is an address that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return "http://" + listener.Addr().String() + "/v1"
}
