// Package target holds the two servers that a gateway is measured against: an
// upstream that costs next to nothing, and the plainest proxy that still
// checks a key. It must not import the product.
package target

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	replyBytes = 400 // of the plain reply
	chunks     = 20  // content events of a stream
)

// Upstream answers chat completions from memory. A model that ends in
// "-delay-60ms" is answered after that time.
func Upstream() http.Handler {
	plain, stream := plainReply(), streamReply()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if d := delayOf(body); d > 0 {
			select {
			case <-time.After(d):
			case <-r.Context().Done():
				return
			}
		}
		if bytes.Contains(body, []byte(`"stream":true`)) {
			writeStream(w, stream)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(plain)))
		_, _ = w.Write(plain) // the caller may have gone
	})
}

func writeStream(w http.ResponseWriter, events [][]byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for _, e := range events {
		if _, err := w.Write(e); err != nil {
			return
		}
		_ = flush.Flush()
	}
}

var delayMark = []byte("-delay-")

func delayOf(body []byte) time.Duration {
	_, rest, ok := bytes.Cut(body, delayMark)
	if !ok {
		return 0
	}
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return 0
	}
	return d
}

func plainReply() []byte {
	const head = `{"id":"chatcmpl-bench","object":"chat.completion","created":1767225600,"model":"small","choices":[{"index":0,"message":{"role":"assistant","content":"`
	const tail = `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":24,"total_tokens":36}}`
	return []byte(head + strings.Repeat("x", replyBytes-len(head)-len(tail)) + tail)
}

func streamReply() [][]byte {
	const chunk = `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1767225600,"model":"small","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}` + "\n\n"
	events := make([][]byte, 0, chunks+3)
	for i := range chunks {
		events = append(events, fmt.Appendf(nil, chunk, fmt.Sprintf(`"content":" word%d"`, i), "null"))
	}
	return append(events,
		fmt.Appendf(nil, chunk, "", `"stop"`),
		[]byte(`data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1767225600,"model":"small","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":20,"total_tokens":32}}`+"\n\n"),
		[]byte("data: [DONE]\n\n"))
}

const (
	idleConns   = 256
	idleTimeout = 90 * time.Second
)

// Bare is httputil.ReverseProxy behind one key check.
func Bare(upstream *url.URL, key string) http.Handler {
	want := sha256.Sum256([]byte(key))
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Header.Del("Authorization")
		},
		Transport: &http.Transport{
			MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: idleTimeout, DisableCompression: true,
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}
