package simulator_test

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

func TestEncodings(t *testing.T) {
	r := start(t, simulator.Options{})
	open := map[string]func(io.Reader) (io.Reader, error){
		"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"deflate": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
		"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd":    func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	wav := part{field: "file", name: "a.wav", kind: "audio/wav", data: "RIFF1234"}
	for name, decode := range open {
		h, transcription := form(part{field: "model", data: "fault-" + name}, wav)
		for _, c := range []struct {
			path string
			h    http.Header
			body string
			want string
		}{
			{chatPath, http.Header{}, chat("fault-"+name, "Say hello", ""), "Say hello"},
			{chatPath, http.Header{}, chat("fault-"+name+"-split-7", "Say hello", `,"stream":true`), "[DONE]"},
			{"/v1/audio/speech", http.Header{}, `{"model":"fault-` + name + `","input":"one two three","voice":"v"}`, "one two three"},
			{"/v1/audio/transcriptions", h, transcription, "a.wav"},
			{"/v1beta/models/fault-" + name + ":streamGenerateContent", http.Header{}, geminiAsk, "functionCall"},
		} {
			c.h.Set("Accept-Encoding", "identity")
			resp, raw := r.do(http.MethodPost, c.path, c.h, c.body)
			require.Equal(t, name, resp.Header.Get("Content-Encoding"), c.path)
			plain, err := decode(strings.NewReader(raw))
			require.NoError(t, err)
			text, err := io.ReadAll(plain)
			require.NoError(t, err)
			require.Contains(t, string(text), c.want)
		}
	}
}

func TestHeadsAndTails(t *testing.T) {
	r := start(t, simulator.Options{})
	early := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { early = code; return nil },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+chatPath, strings.NewReader(chat("fault-early-trailer-wrongtype", "x", "")))
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusEarlyHints, early)
	require.Equal(t, "text/plain; charset=utf-8", resp.Header.Get("Content-Type"))
	require.Equal(t, "the end", resp.Trailer.Get("X-Sim-Trailer"))
	require.Empty(t, resp.Header.Get("Link"))

	for _, path := range []string{"/v1/images/generations", "/v1/rerank", "/v1/audio/speech", "/v1/embeddings", "/v1/videos", "/v1/responses", "/v1/messages"} {
		r.refused(path, nil, `{"model":"fault-status-503-retry-7"}`, 503, "error")
		resp, _ := r.do(http.MethodPost, path, nil, `{"model":"fault-html"}`)
		require.Equal(t, "text/html", resp.Header.Get("Content-Type"), path)
	}
	h, body := form(part{field: "model", data: "fault-status-429"}, part{field: "file", name: "a.wav", data: "x"})
	r.refused("/v1/audio/transcriptions", h, body, 429, "rate_limit_error")
	for _, terms := range []string{"cut", "short", "cut-2"} {
		resp, err := http.Post(r.url+"/v1/audio/speech", "application/json", strings.NewReader(`{"model":"fault-`+terms+`","input":"one two three","voice":"v"}`))
		require.NoError(t, err)
		_, err = io.ReadAll(resp.Body)
		require.Error(t, err, terms)
		require.NoError(t, resp.Body.Close())
	}
}

func TestGoAway(t *testing.T) {
	sim := simulator.New(simulator.Options{})
	ts := httptest.NewUnstartedServer(sim)
	sim.Attach(ts.Config)
	ts.EnableHTTP2 = true
	ts.StartTLS()
	t.Cleanup(ts.Close)
	conns := map[string]bool{}
	for range 2 {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { conns[i.Conn.LocalAddr().String()] = true }})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, ts.URL+chatPath, strings.NewReader(chat("fault-goaway", "x", "")))
		require.NoError(t, err)
		resp, err := ts.Client().Do(req)
		require.NoError(t, err)
		require.Equal(t, 2, resp.ProtoMajor)
		_, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	require.Len(t, conns, 2, "each answer ended its connection")
}
