package provider_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// What a server may send in place of a proper answer, byte by byte. body is
// what arrives of it, and class or err how it ends.
func TestAnswersOfBrokenServers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	type end struct {
		class upstream.Class // no answer at all
		body  string
		err   string // of reading the body; "" for its proper end
	}
	for name, c := range map[string]struct {
		text string
		end  end
	}{
		// Lengths.
		"HTTP/1.0 without length":     {"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":1}", end{body: `{"a":1}`}},
		"HTTP/1.0 with length, cut":   {"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{}", end{body: `{}`, err: "unexpected EOF"}},
		"until the connection closes": {ok + "Connection: close\r\n\r\n{\"a\":1}", end{body: `{"a":1}`}},
		"shorter than its length":     {ok + "Connection: close\r\nContent-Length: 100\r\n\r\n{\"a\":", end{body: `{"a":`, err: "unexpected EOF"}},
		"longer than its length":      {ok + "Content-Length: 2\r\n\r\n{}HTTP/1.1 500 No\r\n\r\n", end{body: `{}`}},
		"negative length":             {ok + "Content-Length: -1\r\n\r\n{}", end{class: upstream.BadHead}},
		"length that is no number":    {ok + "Content-Length: two\r\n\r\n{}", end{class: upstream.BadHead}},
		"the same length twice":       {ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", end{body: `{}`}},
		"length and chunks":           {ok + "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", end{body: `{}`}},
		// Chunks.
		"chunks":                    {ok + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;ext=\"a\"\r\n}\r\n0\r\n\r\n", end{body: `{}`}},
		"chunks with a trailer":     {ok + "Transfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2\r\n{}\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n", end{body: `{}`}},
		"size that is no number":    {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", end{err: "invalid byte in chunk length"}},
		"size beyond all":           {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}", end{err: "chunk length too large"}},
		"negative size":             {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n", end{err: "invalid byte in chunk length"}},
		"no line after a chunk":     {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", end{body: "{", err: "malformed chunked encoding"}},
		"garbage after a chunk":     {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}garbage", end{body: "{}", err: "malformed chunked encoding"}},
		"extensions without end":    {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("x", 4000)+"\r\na\r\n", 100), end{body: "a*", err: "too much non-data"}},
		"a trailer without end":     {ok + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: " + strings.Repeat("x", 2<<20), end{body: "{}", err: "*"}},
		"another transfer encoding": {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", end{class: upstream.BadHead}},
		// Informational heads.
		"100 and 103":         {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"102 twice":           {strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 2) + ok + "Content-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"very many of them":   {strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: "+strings.Repeat("x", 1000)+"\r\n\r\n", 2000) + ok + "Content-Length: 2\r\n\r\n{}", end{class: upstream.BadHead}},
		"nothing after one":   {"HTTP/1.1 103 Early Hints\r\n\r\n", end{class: upstream.Reset}},
		"an unknown one":      {"HTTP/1.1 199 Odd\r\n\r\n" + ok + "Content-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"switching protocols": {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", end{class: upstream.BadHead}},
		// Heads.
		"one huge line":          {ok + "X: " + strings.Repeat("x", 300<<10) + "\r\n\r\n{}", end{class: upstream.BadHead}},
		"very many lines":        {ok + strings.Repeat("X: y\r\n", 60_000) + "\r\n{}", end{class: upstream.BadHead}},
		"a long status line":     {"HTTP/1.1 200 " + strings.Repeat("x", 300<<10) + "\r\n\r\n{}", end{class: upstream.BadHead}},
		"a name with a space":    {ok + "X Y: z\r\nContent-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"a control character":    {ok + "X: a\x00b\r\nContent-Length: 2\r\n\r\n{}", end{class: upstream.BadHead}},
		"no status":              {"HTTP/1.1\r\n\r\n", end{class: upstream.BadHead}},
		"a status of two digits": {"HTTP/1.1 20 OK\r\n\r\n", end{class: upstream.BadHead}},
		"another protocol":       {"ICY 200 OK\r\n\r\n", end{class: upstream.BadHead}},
		"HTTP/2 out of the blue": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", end{class: upstream.BadHead}},
		"only line feeds":        {"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", end{body: "{}"}},
		"cut in the head":        {ok + "Content-Le", end{class: upstream.BadHead}},
		// What it is.
		"JSON that is called text":    {ok + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"JSON that is called nothing": {ok + "Content-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"a page":                      {ok + "Content-Type: TEXT/HTML;charset=x\r\nContent-Length: 6\r\n\r\n<html>", end{class: upstream.WrongType}},
		"XML":                         {ok + "Content-Type: application/xml\r\nContent-Length: 4\r\n\r\n<a/>", end{class: upstream.WrongType}},
		"a redirect":                  {"HTTP/1.1 307 Moved\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", end{class: upstream.Redirected}},
		"a redirect to nowhere":       {"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n", end{class: upstream.Redirected}},
		"several choices":             {"HTTP/1.1 300 Choose\r\nContent-Length: 0\r\n\r\n", end{class: upstream.Redirected}},
		"204":                         {"HTTP/1.1 204 No Content\r\n\r\n", end{class: upstream.EmptyReply}},
		"205":                         {"HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", end{class: upstream.EmptyReply}},
		"status 600":                  {"HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n", end{class: upstream.ServerError}},
		"401 that asks for a login":   {"HTTP/1.1 401 No\r\nWww-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", end{class: upstream.CredentialRejected}},
		"an error that is cut":        {"HTTP/1.1 400 No\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{\"error\":{\"mess", end{class: upstream.Rejected}},
		"an error that is a page":     {"HTTP/1.1 400 No\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", end{class: upstream.Rejected}},
		// Encodings.
		"no encoding by name":       {ok + "Content-Encoding: none\r\nContent-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"a charset for an encoding": {ok + "Content-Encoding: UTF-8\r\nContent-Length: 2\r\n\r\n{}", end{body: "{}"}},
		"an unknown one below":      {ok + "Content-Encoding: lzma, gzip\r\nContent-Length: 2\r\n\r\n{}", end{class: upstream.BadEncoding}},
		"too many over each other":  {ok + "Content-Encoding: gzip, gzip, gzip, gzip\r\nContent-Length: 2\r\n\r\n{}", end{class: upstream.BadEncoding}},
		"too many in several lines": {ok + strings.Repeat("Content-Encoding: br\r\n", 4) + "Content-Length: 2\r\n\r\n{}", end{class: upstream.BadEncoding}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, func(conn, _ int) string {
				if strings.Contains(c.text, "Content-Length: 2\r\n") {
					return c.text
				}
				return c.text + "\x00close"
			})
			response, failure := newClient(t, provider.Options{}).Call(t.Context(), request(s.url))
			if c.end.class != "" {
				require.NotNil(t, failure)
				require.Equal(t, c.end.class, failure.Class, failure)
				require.NotContains(t, failure.Fault.Message, "169.254")
				require.NotContains(t, failure.Fault.Message, "<")
				require.NotContains(t, failure.Error(), "sk-live", "nor in the log")
				return
			}
			require.Nil(t, failure)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, response.Body.Close())
			if want, open := strings.CutSuffix(c.end.body, "*"); open {
				require.True(t, strings.HasPrefix(string(body), want))
			} else {
				require.Equal(t, c.end.body, string(body))
			}
			switch c.end.err {
			case "":
				require.NoError(t, err)
			case "*":
				require.Error(t, err)
			default:
				require.ErrorContains(t, err, c.end.err)
			}
		})
	}
}

// Bytes behind an answer are no answer to the next request, in clear or not.
func TestBytesBehindAnAnswerAreNotTheNext(t *testing.T) {
	log.SetOutput(io.Discard) // net/http tells there what it saw
	defer log.SetOutput(os.Stderr)
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
	plain := serveRaw(t, func(int, int) string { return answer })
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		for {
			_, _ = io.WriteString(conn, answer)
			next, err := http.ReadRequest(rw.Reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, next.Body)
		}
	}))
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for name, c := range map[string]struct {
		url    string
		client *provider.Client
	}{
		"plain": {plain.url, newClient(t, provider.Options{})},
		"TLS": {secure.URL, newClient(t, provider.Options{Adjust: func(tr *http.Transport) {
			tr.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
		}})},
	} {
		t.Run(name, func(t *testing.T) {
			idle, asked, first := make(chan struct{}), make(chan struct{}), make(chan string)
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(error) {
				close(idle)
				<-asked // before net/http looks at what is left on the connection
			}})
			go func() { first <- text(c.client.Call(ctx, request(c.url))) }()
			<-idle
			once := sync.OnceFunc(func() { close(asked) })
			ctx = httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { once() }})
			require.Equal(t, "{}", text(c.client.Call(ctx, request(c.url))))
			require.Equal(t, "{}", <-first)
		})
	}
}

// text is the body of an answer, or why there is none.
func text(response upstream.Response, failure *upstream.Failure) string {
	if failure != nil {
		return failure.Error()
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err.Error()
	}
	return string(body)
}

func TestStackedEncodings(t *testing.T) {
	text := strings.Repeat(`{"a":"北京"},`, 500)
	pack := packers(t)
	for _, stack := range [][]string{{"gzip", "br"}, {"br", "gzip"}, {"zstd", "deflate"}, {"gzip", "gzip"}, {"br", "zstd", "gzip"}, {"identity", "gzip"}} {
		t.Run(strings.Join(stack, ","), func(t *testing.T) {
			body := text
			for _, encoding := range stack {
				if encoding == "identity" {
					continue
				}
				var out bytes.Buffer
				p := pack[encoding](&out)
				_, err := io.WriteString(p, body)
				require.NoError(t, err)
				require.NoError(t, p.Close())
				body = out.String()
			}
			for _, lines := range [][]string{{strings.Join(stack, ", ")}, stack} {
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header()["Content-Encoding"] = lines
					_, _ = io.WriteString(w, body)
				})
				got, failure := post(t, newClient(t, provider.Options{}), url)
				require.Nil(t, failure)
				require.Equal(t, text, got)
			}
		})
	}
}

// bombs inflate to endless zeros.
func bombs(t *testing.T) map[string]func(io.Writer) io.WriteCloser {
	t.Helper()
	fast := func(w io.Writer) io.WriteCloser {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		require.NoError(t, err)
		return z
	}
	return map[string]func(io.Writer) io.WriteCloser{
		"gzip": fast,
		"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) },
		"zstd": func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			require.NoError(t, err)
			return z
		},
		"gzip, br": func(w io.Writer) io.WriteCloser { return fast(brotli.NewWriterLevel(w, 1)) },
	}
}

// What is read of a bomb is what is asked for, through windows of a few
// megabytes; the rest is never inflated.
func TestBombsStayBounded(t *testing.T) {
	const size = 24 << 20
	for encoding, pack := range bombs(t) {
		t.Run(encoding, func(t *testing.T) {
			var packed bytes.Buffer
			w := pack(&packed)
			zeros := make([]byte, 1<<20)
			for range size >> 20 {
				_, err := w.Write(zeros)
				require.NoError(t, err)
			}
			if f, ok := w.(interface{ Flush() error }); ok {
				require.NoError(t, f.Flush())
			}
			require.NoError(t, w.Close())
			for _, status := range []int{200, 400} {
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Encoding", encoding)
					w.WriteHeader(status)
					_, _ = w.Write(packed.Bytes())
				})
				client := newClient(t, provider.Options{})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				response, failure := client.Call(t.Context(), request(url))
				if status == 400 {
					require.Equal(t, upstream.Rejected, failure.Class)
				} else {
					require.Nil(t, failure)
					n, err := io.CopyN(struct{ io.Writer }{io.Discard}, response.Body, size*2/3)
					require.EqualValues(t, size*2/3, n, err)
					require.NoError(t, response.Body.Close())
				}
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/2), "all that was allocated, not what was held at once")
			}
		})
	}
}

// A window that would have to be held is refused, whatever the frame promises.
func TestZstdWindowIsBounded(t *testing.T) {
	// A frame's header (RFC 8878, section 3.1.1.1) that asks for a window of 2 GiB.
	body := "\x28\xb5\x2f\xfd\x00\xa8" + "\x01\x00\x00"
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "zstd")
		_, _ = io.WriteString(w, body)
	})
	response, failure := newClient(t, provider.Options{}).Call(t.Context(), request(url))
	require.Nil(t, failure)
	_, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	refused, ok := errors.AsType[*upstream.Failure](err)
	require.True(t, ok, err)
	require.Equal(t, upstream.BadEncoding, refused.Class)
}

// Whatever a server writes, a call ends, with a class that has a saying or
// with a body that ends.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip, br\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 429 No\r\nRetry-After: 7\r\nX-Amzn-Errortype: ThrottlingException:x\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.0 302 Found\r\nLocation: http://x\r\n\r\n"))
	known := map[upstream.Class]bool{}
	for _, class := range upstream.Classes() {
		known[class] = true
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		client := provider.New(&vault{}, provider.Options{Adjust: func(tr *http.Transport) {
			tr.DialContext = func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go func() {
					defer func() { _ = there.Close() }()
					if _, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
						_, _ = there.Write(answer)
					}
				}()
				return here, nil
			}
		}})
		defer client.Close()
		response, failure := client.Call(t.Context(), request("http://provider.test/v1"))
		if failure != nil {
			if !known[failure.Class] || failure.Fault.Message == "" {
				t.Fatalf("a failure without class or words: %v", failure)
			}
			return
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
		if response.Body.Close() != nil {
			t.Fatal("the body does not close")
		}
	})
}
