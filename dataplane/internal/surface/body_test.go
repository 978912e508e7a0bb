package surface_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestBodies(t *testing.T) {
	auth := []string{"x-api-key", newToken(t, secret.Inference)}
	with := func(header ...string) []string { return append(append([]string{}, auth...), header...) }
	small := []byte(`{"messages":[],"model":"acme/small","x":1e400}`)
	big := []byte(`{"model":"` + strings.Repeat("a", 2<<20) + `"}`)
	chunked := func(p []byte) io.Reader { return io.MultiReader(bytes.NewReader(p)) }
	cases := map[string]struct {
		body   io.Reader
		header []string
		status int
		code   string
	}{
		"declared":              {bytes.NewReader(small), auth, 200, ""},
		"chunked":               {chunked(small), auth, 200, ""},
		"with a charset":        {bytes.NewReader(small), with("Content-Type", "application/json; charset=utf-8"), 200, ""},
		"curl's default":        {bytes.NewReader(small), with("Content-Type", "application/x-www-form-urlencoded"), 200, ""},
		"gzip":                  {bytes.NewReader(compress(t, "gzip", small)), with("Content-Encoding", "gzip"), 200, ""},
		"deflate":               {bytes.NewReader(compress(t, "deflate", small)), with("Content-Encoding", "deflate"), 200, ""},
		"brotli":                {bytes.NewReader(compress(t, "br", small)), with("Content-Encoding", "br"), 200, ""},
		"zstd":                  {bytes.NewReader(compress(t, "zstd", small)), with("Content-Encoding", "zstd"), 200, ""},
		"empty":                 {nil, auth, 400, "invalid_json"},
		"too large, declared":   {bytes.NewReader(big), auth, 413, "payload_too_large"},
		"too large, chunked":    {chunked(big), auth, 413, "payload_too_large"},
		"bomb":                  {bytes.NewReader(compress(t, "gzip", big)), with("Content-Encoding", "gzip"), 413, "payload_too_large"},
		"zstd bomb":             {bytes.NewReader(compress(t, "zstd", big)), with("Content-Encoding", "zstd"), 413, "payload_too_large"},
		"not gzip":              {bytes.NewReader(small), with("Content-Encoding", "gzip"), 400, "validation_error"},
		"cut gzip":              {bytes.NewReader(compress(t, "gzip", small)[:20]), with("Content-Encoding", "gzip"), 400, "validation_error"},
		"unknown encoding":      {bytes.NewReader(small), with("Content-Encoding", "lzma"), 415, "unsupported_media_type"},
		"stacked encodings":     {bytes.NewReader(small), with("Content-Encoding", "gzip, br"), 415, "unsupported_media_type"},
		"multipart":             {bytes.NewReader(small), with("Content-Type", "multipart/form-data; boundary=x"), 415, "unsupported_media_type"},
		"deep":                  {strings.NewReader(`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`), auth, 400, "invalid_json"},
		"wrong member":          {strings.NewReader(`{"stream":1}`), auth, 400, "validation_error"},
		"wrong metadata header": {strings.NewReader(`{}`), with("x-signalbox-metadata", "{"), 400, "validation_error"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			got := send(t, http.MethodPost, start(t, w, nil)+chat, c.body, c.header...)
			require.Equal(t, c.status, got.status, got.body)
			last := w.last(t)
			if c.code == "" {
				require.Nil(t, last.Malformed)
				require.Equal(t, small, last.Body)
				require.Equal(t, "acme/small", last.Request.Model)
				return
			}
			require.Equal(t, c.code, got.fault(t)["code"])
			require.Equal(t, c.code, string(last.Malformed.Code), "the caller is authenticated before he is told")
		})
	}
}

// The server must answer a body that is declared too large before it is sent.
func TestTooLargeIsRefusedUnread(t *testing.T) {
	w := &world{}
	address := strings.TrimPrefix(start(t, w, nil), "http://")
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST "+chat+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+newToken(t, secret.Inference)+"\r\nContent-Length: 999999999\r\n\r\n")
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

func TestSlowBodyIsCut(t *testing.T) {
	w := &world{}
	address := strings.TrimPrefix(start(t, w, func(o *surface.Options) { o.BodyTime = 50 * time.Millisecond }), "http://")
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST "+chat+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+newToken(t, secret.Inference)+"\r\nContent-Length: 100\r\n\r\n{")
	require.NoError(t, err)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	require.Equal(t, fault.BodyTimeout, w.last(t).Malformed.Reason)
}

// The deadline for the body must not end the response, and a caller who leaves
// must be noticed, whichever way the body came.
func TestAfterTheBody(t *testing.T) {
	body := []byte(`{"model":"acme/small"}`)
	for _, encoding := range []string{"", "gzip", "deflate", "br", "zstd"} {
		t.Run("encoding "+encoding, func(t *testing.T) {
			sent := body
			if encoding != "" {
				sent = compress(t, encoding, body)
			}
			w := &world{serve: func(ctx context.Context, _ call.Call, s call.Sink) {
				timer := time.NewTimer(100 * time.Millisecond)
				defer timer.Stop()
				select {
				case <-ctx.Done():
					s.Fail(fault.New(fault.ClientClosed, "x"), nil)
				case <-timer.C:
					_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}})
				}
			}}
			key := newToken(t, secret.Inference)
			url := start(t, w, func(o *surface.Options) { o.BodyTime = 50 * time.Millisecond })
			got := send(t, http.MethodPost, url+chat, io.MultiReader(bytes.NewReader(sent)), "x-api-key", key, "Content-Encoding", encoding)
			require.Equal(t, 200, got.status)

			left := make(chan struct{})
			w.serve = func(ctx context.Context, _ call.Call, _ call.Sink) {
				<-ctx.Done()
				close(left)
			}
			ctx, leave := context.WithCancel(t.Context())
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+chat, io.MultiReader(bytes.NewReader(sent))) // chunked
			require.NoError(t, err)
			request.Header.Set("x-api-key", key)
			request.Header.Set("Content-Encoding", encoding)
			reached := len(w.calls)
			go func() {
				response, err := http.DefaultClient.Do(request)
				if err == nil {
					_ = response.Body.Close()
				}
			}()
			require.Eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.calls) > reached }, 5*time.Second, time.Millisecond)
			leave()
			select {
			case <-left:
			case <-time.After(5 * time.Second):
				require.Fail(t, "nobody noticed that the caller left")
			}
		})
	}
}

// A decoder that has all it needs does not ask for the end of the body; the
// edge must, or nobody watches the connection.
func TestEndOfABodyIsReadAfterItsDecoder(t *testing.T) {
	reached, left := make(chan struct{}), make(chan struct{})
	w := &world{serve: func(ctx context.Context, _ call.Call, _ call.Sink) {
		close(reached)
		<-ctx.Done()
		close(left)
	}}
	conn, err := net.Dial("tcp", strings.TrimPrefix(start(t, w, nil), "http://"))
	require.NoError(t, err)
	defer conn.Close()
	data := compress(t, "deflate", []byte(`{}`))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n",
		chat, newToken(t, secret.Inference), len(data), data)
	require.NoError(t, err)
	select {
	case <-reached: // without the end of the body
	case <-time.After(100 * time.Millisecond):
	}
	_, err = io.WriteString(conn, "0\r\n\r\n")
	require.NoError(t, err)
	<-reached
	require.NoError(t, conn.Close())
	select {
	case <-left:
	case <-time.After(5 * time.Second):
		require.Fail(t, "nobody noticed that the caller left")
	}
}
