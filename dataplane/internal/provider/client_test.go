package provider_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// What the caller sent as its credential, in whatever place, must not arrive.
func TestOnlyTheAllowListReachesTheProvider(t *testing.T) {
	var got *http.Request
	var body []byte
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Ratelimit-Remaining", "7")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Disposition", "inline")
		_, _ = io.WriteString(w, "{}")
	})
	r := request(url)
	r.Header = http.Header{}
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "X-Forwarded-For", "Forwarded",
		"X-Signalbox-Metadata", "X-Signalbox-Session-Id", "X-Request-Id", "Openai-Organization", "Openai-Project", "Anthropic-Beta",
		"User-Agent", "Host", "Connection", "Transfer-Encoding", "Referer", "Origin", "Accept-Encoding", "Traceparent", "Te", "Expect",
	} {
		r.Header.Set(name, "canary")
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("OpenAI-Beta", "assistants=v2")

	response, failure := newClient(t, provider.Options{}).Call(t.Context(), r)
	require.Nil(t, failure)
	require.NoError(t, response.Body.Close())
	for name, values := range got.Header {
		require.NotContains(t, strings.Join(values, ","), "canary", name)
	}
	require.Equal(t, http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Accept": {"application/json"}, "Openai-Beta": {"assistants=v2"},
		"Authorization": {"Bearer key-1"}, "Accept-Encoding": {"identity"}, "User-Agent": {"signalbox"}, "Content-Length": {"13"},
	}, got.Header)
	require.Equal(t, "/v1/chat/completions", got.RequestURI, "no query")
	require.JSONEq(t, `{"model":"m"}`, string(body))
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Content-Disposition": {"inline"}}, response.Header)
	require.Equal(t, "application/json", response.MediaType)
}

func TestPathFollowsTheBaseURL(t *testing.T) {
	var got string
	url := strings.TrimSuffix(serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.RequestURI
		_, _ = io.WriteString(w, "{}")
	}), "/v1")
	client := newClient(t, provider.Options{})
	for base, want := range map[string]string{
		"": "/chat/completions", "/": "/chat/completions", "/v1": "/v1/chat/completions", "/v1/": "/v1/chat/completions",
		"/a%2Fb/v1": "/a%2Fb/v1/chat/completions", "/v1?api-version=2": "/v1/chat/completions?api-version=2",
	} {
		_, failure := post(t, client, url+base)
		require.Nil(t, failure, base)
		require.Equal(t, want, got, base)
	}
}

func TestKeylessProviderGetsNoCredential(t *testing.T) {
	var got http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = io.WriteString(w, "{}")
	})
	r := request(url)
	r.Provider = north(url, "")
	r.Stream = true
	r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	response, failure := newClient(t, provider.Options{}).Call(t.Context(), r)
	require.Nil(t, failure)
	require.NoError(t, response.Body.Close())
	require.NotContains(t, got, "Authorization")
	require.Equal(t, "text/event-stream", got.Get("Accept"))
	require.Equal(t, "application/json", got.Get("Content-Type"))
}

// The managed credential never stands in for one that the plan names.
func TestACredentialThatIsNotHereIsNotReplaced(t *testing.T) {
	r := request(serve(t, func(http.ResponseWriter, *http.Request) { t.Error("called") }))
	r.Credential = decide.CredentialUse{Source: decide.CredentialBYOK}
	_, failure := newClient(t, provider.Options{}).Call(t.Context(), r)
	require.NotNil(t, failure)
	require.Equal(t, upstream.CredentialFault, failure.Class)
}

func TestCredentialIsOpenedOnce(t *testing.T) {
	var got atomic.Value
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "{}")
	})
	v := &vault{}
	client := provider.New(v, provider.Options{})
	t.Cleanup(client.Close)
	for _, key := range []string{"key-1", "key-1", "key-2", "key-2"} {
		r := request(url)
		r.Provider = north(url, key)
		response, failure := client.Call(t.Context(), r)
		require.Nil(t, failure)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "Bearer "+key, got.Load())
	}
	require.EqualValues(t, 2, v.opened.Load())

	for _, sealed := range []secret.Sealed{secret.Sealed("broken"), nil} {
		r := request(url)
		r.Provider.Credential = sealed
		_, failure := client.Call(t.Context(), r)
		require.Equal(t, upstream.CredentialFault, failure.Class)
		require.Equal(t, fault.UpstreamCredentialRejected, failure.Fault.Code)
	}
}

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		class  upstream.Class
		after  time.Duration
	}{
		"rate limit":           {429, map[string]string{"Retry-After": "7"}, `{"error":{"message":"slow"}}`, upstream.RateLimited, 7 * time.Second},
		"rate limit by date":   {429, map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:04:35 GMT"}, `{}`, upstream.RateLimited, 30 * time.Second},
		"a wait in the past":   {429, map[string]string{"Retry-After": "Fri, 02 Jan 2026 03:03:35 GMT"}, `{}`, upstream.RateLimited, 0},
		"a date too far away":  {429, map[string]string{"Retry-After": "Sun, 04 Jan 2026 03:04:35 GMT"}, `{}`, upstream.RateLimited, 24 * time.Hour},
		"too long a wait":      {429, map[string]string{"Retry-After": "86401"}, `{}`, upstream.RateLimited, 24 * time.Hour},
		"a wait of centuries":  {429, map[string]string{"Retry-After": "99999999999999999999"}, `{}`, upstream.RateLimited, 24 * time.Hour},
		"no number":            {429, map[string]string{"Retry-After": "soon"}, `{}`, upstream.RateLimited, 0},
		"negative":             {429, map[string]string{"Retry-After": "-5"}, `{}`, upstream.RateLimited, 0},
		"busy, with a wait":    {503, map[string]string{"Retry-After": "3"}, ``, upstream.ServerError, 3 * time.Second},
		"html page":            {502, map[string]string{"Content-Type": "text/html"}, `<html>x</html>`, upstream.ServerError, 0},
		"unauthorized":         {401, nil, `{"error":{"message":"bad key-1"}}`, upstream.CredentialRejected, 0},
		"bad request":          {400, nil, `{"error":{"message":"no"}}`, upstream.Rejected, 0},
		"redirect":             {302, map[string]string{"Location": "http://127.0.0.1:1/elsewhere"}, ``, upstream.Redirected, 0},
		"permanent redirect":   {308, map[string]string{"Location": "/v2"}, ``, upstream.Redirected, 0},
		"not modified":         {304, nil, ``, upstream.Redirected, 0},
		"no content":           {204, nil, ``, upstream.EmptyReply, 0},
		"length nought":        {200, map[string]string{"Content-Length": "0"}, ``, upstream.EmptyReply, 0},
		"a page for an answer": {200, map[string]string{"Content-Type": "text/html; charset=utf-8"}, `<html>login</html>`, upstream.WrongType, 0},
		"unknown encoding":     {200, map[string]string{"Content-Encoding": "lzma"}, `x`, upstream.BadEncoding, 0},
		"error, odd encoding":  {500, map[string]string{"Content-Encoding": "lzma"}, `x`, upstream.ServerError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			calls := atomic.Int32{}
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				for name, value := range c.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
			_, failure := post(t, newClient(t, provider.Options{Now: now}), url)
			require.NotNil(t, failure)
			require.Equal(t, c.class, failure.Class)
			require.Equal(t, c.status, failure.Status)
			require.Equal(t, c.after, failure.RetryAfter)
			require.NotContains(t, failure.Fault.Message, "key-1")
			require.EqualValues(t, 1, calls.Load(), "nothing is followed or repeated")
		})
	}
}

func TestTransportFailures(t *testing.T) {
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = nil
	t.Cleanup(untrusted.Close)
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	noHost := provider.Options{Adjust: func(tr *http.Transport) {
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.invalid", IsNotFound: true}}
		}
	}}
	slow := provider.Options{Adjust: func(tr *http.Transport) {
		tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: timeout{}}
		}
	}}
	for name, c := range map[string]struct {
		url   string
		opts  provider.Options
		class upstream.Class
	}{
		"refused":            {closedPort(t), provider.Options{}, upstream.ConnectFailed},
		"no such host":       {plain, noHost, upstream.DNSFailed},
		"connect timeout":    {plain, slow, upstream.ConnectTimeout},
		"untrusted":          {untrusted.URL, provider.Options{}, upstream.TLSFailed},
		"plain behind https": {strings.Replace(plain, "http:", "https:", 1), provider.Options{}, upstream.TLSFailed},
		"closed":             {serveRaw(t, func(int, int) string { return "" }).url, provider.Options{}, upstream.Reset},
		"reset":              {serveRaw(t, func(int, int) string { return reset }).url, provider.Options{}, upstream.Reset},
		"not http":           {serveRaw(t, func(int, int) string { return "SSH-2.0-OpenSSH\r\n\r\n" }).url, provider.Options{}, upstream.BadHead},
		"bad header":         {serveRaw(t, func(int, int) string { return "HTTP/1.1 200 OK\r\nbroken\r\n\r\n" }).url, provider.Options{}, upstream.BadHead},
		"two lengths":        {serveRaw(t, func(int, int) string { return "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab" }).url, provider.Options{}, upstream.BadHead},
		"cut in the head":    {serveRaw(t, func(int, int) string { return "HTTP/1.1 200 OK\r\nConnection: close\r\n" }).url, provider.Options{}, upstream.Reset},
		"huge head": {serveRaw(t, func(int, int) string {
			return "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n"
		}).url, provider.Options{}, upstream.BadHead},
		"switching": {serveRaw(t, func(int, int) string {
			return "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"
		}).url, provider.Options{}, upstream.BadHead},
		"base url that is none": {"http://a b/\x7f", provider.Options{}, upstream.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			_, failure := post(t, newClient(t, c.opts), c.url)
			require.NotNil(t, failure)
			require.Equal(t, c.class, failure.Class, failure)
			require.NotContains(t, failure.Fault.Message, "127.0.0.1")
		})
	}
}

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestStaleConnectionIsReplacedOnce(t *testing.T) {
	for _, broken := range []string{"", reset} {
		s := serveRaw(t, func(_, n int) string {
			if n == 1 {
				return good
			}
			return broken
		})
		client := newClient(t, provider.Options{})
		for range 3 {
			body, failure := post(t, client, s.url)
			require.Nil(t, failure)
			require.Equal(t, "{}", body)
		}
	}
}

// TestOnceIsOnce: a submission neither goes on a connection that may be stale
// nor is it sent again.
func TestOnceIsOnce(t *testing.T) {
	s := serveRaw(t, func(conn, n int) string {
		if conn == 1 && n == 1 || conn == 2 {
			return good
		}
		return ""
	})
	client := newClient(t, provider.Options{})
	_, failure := post(t, client, s.url)
	require.Nil(t, failure)
	once := request(s.url)
	once.Once = true
	response, failure := client.Call(t.Context(), once)
	require.Nil(t, failure)
	require.NoError(t, response.Body.Close())
	require.EqualValues(t, 2, s.conns.Load(), "on a connection of its own")
	_, failure = client.Call(t.Context(), once)
	require.Equal(t, upstream.Reset, failure.Class)
	require.EqualValues(t, 3, s.conns.Load())
}

func TestFreshConnectionIsNotRetried(t *testing.T) {
	s := serveRaw(t, func(conn, n int) string {
		if conn == 1 && n == 1 {
			return good
		}
		return ""
	})
	client := newClient(t, provider.Options{})
	_, failure := post(t, client, s.url)
	require.Nil(t, failure)
	_, failure = post(t, client, s.url)
	require.Equal(t, upstream.Reset, failure.Class)
	require.EqualValues(t, 2, s.conns.Load(), "the kept one and one fresh one")
	_, failure = post(t, client, s.url)
	require.Equal(t, upstream.Reset, failure.Class)
	require.EqualValues(t, 3, s.conns.Load())
}

func TestNoRetryAfterTheFirstByte(t *testing.T) {
	s := serveRaw(t, func(_, n int) string {
		if n == 1 {
			return good
		}
		return "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	})
	client := newClient(t, provider.Options{})
	_, failure := post(t, client, s.url)
	require.Nil(t, failure)
	_, failure = post(t, client, s.url)
	require.Equal(t, upstream.Reset, failure.Class)
	require.EqualValues(t, 1, s.conns.Load())
}

func TestInformationalHeadsAndTrailers(t *testing.T) {
	s := serveRaw(t, func(int, int) string {
		return "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" +
			"HTTP/1.1 200 OK\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-T: 1\r\n\r\n"
	})
	body, failure := post(t, newClient(t, provider.Options{}), s.url)
	require.Nil(t, failure)
	require.Equal(t, "{}", body)
}

func TestBodiesThatBreak(t *testing.T) {
	for name, text := range map[string]string{
		"short of its length": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{\"a\":",
		"cut chunk":           "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\"",
		"missing last chunk":  "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(int, int) string { return text })
			response, failure := newClient(t, provider.Options{}).Call(t.Context(), request(s.url))
			require.Nil(t, failure)
			_, err := io.ReadAll(response.Body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.NoError(t, response.Body.Close())
		})
	}
}

func TestHangingErrorBodyIsNotWaitedFor(t *testing.T) {
	gone := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	_, failure := post(t, newClient(t, provider.Options{ErrorBody: 10 * time.Millisecond}), url)
	require.Equal(t, upstream.ServerError, failure.Class)
	<-gone
}

func TestErrorBodyIsBounded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, strings.Repeat("word ", 1<<20))
	})
	_, failure := post(t, newClient(t, provider.Options{}), url)
	require.Equal(t, upstream.Rejected, failure.Class)
	require.LessOrEqual(t, len(failure.Fault.Message), 2<<10)
}

func TestContextEndsTheCall(t *testing.T) {
	for name, begin := range map[string]bool{"before the head": false, "in the body": true} {
		t.Run(name, func(t *testing.T) {
			started, gone := make(chan struct{}), make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if begin {
					_, _ = io.WriteString(w, "data: a\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				close(started)
				<-r.Context().Done()
				close(gone)
			})
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-started
				leave()
			}()
			response, failure := newClient(t, provider.Options{}).Call(ctx, request(url))
			if failure == nil {
				_, err := io.ReadAll(response.Body)
				require.ErrorIs(t, err, context.Canceled)
				require.NoError(t, response.Body.Close())
			} else {
				require.Equal(t, upstream.CallerGone, failure.Class)
			}
			<-gone
		})
	}
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	client := newClient(t, provider.Options{Adjust: func(tr *http.Transport) {
		tr.TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	}})
	body, failure := post(t, client, s.URL+"/v1")
	require.Nil(t, failure)
	require.Equal(t, "HTTP/2.0", body)
}

func TestFailureSaysWhatItWraps(t *testing.T) {
	_, failure := post(t, newClient(t, provider.Options{}), closedPort(t))
	_, ok := errors.AsType[*net.OpError](failure)
	require.True(t, ok, "the cause is for the log")
}
