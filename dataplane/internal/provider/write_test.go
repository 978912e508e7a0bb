package provider_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// counting counts what is written to a connection, one system call each.
type counting struct {
	net.Conn
	writes *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// A request of a usual size costs one write: net/http sends the head by itself
// before a body of which it does not know that it is in memory.
func TestHeadAndBodyGoOutInOneWrite(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"model":"m"}` {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "{}")
	})
	var writes atomic.Int64
	client := newClient(t, provider.Options{Adjust: func(transport *http.Transport) {
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return counting{Conn: conn, writes: &writes}, err
		}
	}})
	for name, body := range map[string]upstream.Body{
		"one piece": upstream.Bytes([]byte(`{"model":"m"}`)),
		"several":   upstream.Pieces(nil, []byte(`{"model":`), []byte(`"m"}`)),
	} {
		writes.Store(0)
		r := request(url)
		r.Body = body
		response, failure := client.Call(t.Context(), r)
		require.Nil(t, failure, name)
		_, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.EqualValues(t, 1, writes.Load(), name)
	}
}
