package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/logging"
)

// The benchmarks run clients, gateway and upstream in one process, so what
// they show is the ratio between Gateway and BareProxy of one run; make bench
// measures separate processes.

const benchCallers = 8 // for each CPU

var reply = []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat("x", 200) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60}}`)

// upstream answers with 400 bytes, or with 20 chunks.
func benchUpstream(b *testing.B) string {
	b.Helper()
	chunk := []byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}` + "\n\n")
	last := []byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"small","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"small","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}` + "\n\ndata: [DONE]\n\n")
	return listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte(`"stream":true`)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(reply)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flusher, _ := w.(http.Flusher)
		for range 19 {
			_, _ = w.Write(chunk)
			flusher.Flush()
		}
		_, _ = w.Write(last)
	}))
}

func listen(b *testing.B, h http.Handler) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

func benchGateway(b *testing.B, upstream string) (string, string) {
	b.Helper()
	p := newPlatform(b)
	p.simAt = upstream
	p.publishCatalog()
	cfg := p.config()
	a, err := app.New(b.Context(), cfg, app.Deps{Log: logging.Discard(), Now: time.Now, AccessLog: io.Discard})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	b.Cleanup(func() { cancel(); require.NoError(b, <-done) })
	require.Eventually(b, func() bool { return a.Ready() == nil }, 10*time.Second, time.Millisecond)
	return "http://" + a.Addr(), p.token
}

// bareProxy forwards and checks one key, and does nothing else.
func bareProxy(b *testing.B, upstream, token string) string {
	b.Helper()
	target, err := url.Parse(upstream)
	require.NoError(b, err)
	want := "Bearer " + token
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 512},
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
	}
	return listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != want {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
}

func drive(b *testing.B, at, token, body string) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	one := func() error {
		request, err := http.NewRequest(http.MethodPost, at+"/v1/chat/completions", strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	require.NoError(b, one())
	b.SetParallelism(benchCallers)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := one(); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "cpu-µs/req")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// cpu is what the process has used. Under load from elsewhere it says more than
// the time that passed.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkChat(b *testing.B) {
	upstream := benchUpstream(b)
	gateway, token := benchGateway(b, upstream)
	bare := bareProxy(b, upstream, token)
	const plain = `{"model":"acme/small","messages":[{"role":"user","content":"How tall is the highest mountain of the world, and where is it?"}],"temperature":0.2}`
	const streamed = `{"model":"acme/small","stream":true,"messages":[{"role":"user","content":"How tall is the highest mountain of the world, and where is it?"}]}`
	for _, c := range []struct{ name, at, body string }{
		{"Plain/Direct", upstream, plain},
		{"Plain/BareProxy", bare, plain},
		{"Plain/Gateway", gateway, plain},
		{"Plain/GatewayOff", gateway, strings.Replace(plain, "{", `{"provider":{"cache_aware_routing":false},`, 1)},
		{"Plain/GatewayPinned", gateway, strings.Replace(plain, "{", `{"session_id":"conversation-7",`, 1)},
		{"Stream/BareProxy", bare, streamed},
		{"Stream/Gateway", gateway, streamed},
	} {
		b.Run(c.name, func(b *testing.B) { drive(b, c.at, token, c.body) })
	}
}
