package provider_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// framed is one connection of a server below HTTP/2.
type framed struct {
	t      *testing.T
	conn   net.Conn
	framer *http2.Framer
	number int // of the connection, from 1
}

// head writes a head of name, value, name, value; ":status" comes first.
func (f *framed) head(stream uint32, last bool, fields ...string) {
	f.write(f.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: packed(fields...), EndHeaders: true, EndStream: last}))
}

func packed(fields ...string) []byte {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return block.Bytes()
}

func (f *framed) data(stream uint32, last bool, text string) {
	f.write(f.framer.WriteData(stream, last, []byte(text)))
}

// write lets a client that has gone go.
func (f *framed) write(error) {}

func (f *framed) good(stream uint32) {
	f.head(stream, false, ":status", "200", "content-type", "application/json")
	f.data(stream, true, "{}")
}

// frames serves HTTP/2 by hand: answer is called for the n-th request of a
// connection, from 1, and closes the connection with false.
func frames(t *testing.T, answer func(f *framed, n int, stream uint32) bool) (url string, conns *atomic.Int32, adjust func(*http.Transport)) {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	config := &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}}
	roots := certified.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	certified.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	require.NoError(t, err)
	conns = &atomic.Int32{}
	var running sync.WaitGroup
	var open sync.Map
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, nil)
			f := &framed{t: t, conn: conn, framer: http2.NewFramer(conn, conn), number: int(conns.Add(1))}
			running.Go(func() {
				defer func() { _ = conn.Close() }()
				f.serve(answer)
			})
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		open.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
		running.Wait()
	})
	return "https://" + listener.Addr().String() + "/v1", conns, func(tr *http.Transport) {
		tr.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	}
}

func (f *framed) serve(answer func(f *framed, n int, stream uint32) bool) {
	if _, err := io.ReadFull(f.conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f.write(f.framer.WriteSettings())
	for n := 0; ; {
		frame, err := f.framer.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.write(f.framer.WriteSettingsAck())
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				if n++; !answer(f, n, frame.StreamID) {
					return
				}
			}
		}
	}
}

func TestFramesOfBrokenServers(t *testing.T) {
	type end struct {
		class upstream.Class
		body  string
		err   string // of the body's end; "" for its proper one
		conns int32  // 0: one
	}
	for name, c := range map[string]struct {
		answer func(f *framed, n int, stream uint32) bool
		end    end
	}{
		"good": {func(f *framed, _ int, s uint32) bool { f.good(s); return true }, end{body: "{}"}},
		"GOAWAY before the head, not taken": {func(f *framed, _ int, s uint32) bool {
			if f.number == 1 {
				f.write(f.framer.WriteGoAway(0, http2.ErrCodeNo, nil))
				return false
			}
			f.good(s)
			return true
		}, end{body: "{}", conns: 2}},
		"GOAWAY before the head, taken": {func(f *framed, _ int, s uint32) bool {
			f.write(f.framer.WriteGoAway(s, http2.ErrCodeNo, nil))
			return false
		}, end{class: upstream.Reset}},
		"GOAWAY with an error": {func(f *framed, _ int, s uint32) bool {
			f.write(f.framer.WriteGoAway(s, http2.ErrCodeEnhanceYourCalm, []byte("canary")))
			return false
		}, end{class: upstream.Reset}},
		"GOAWAY after the head": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.write(f.framer.WriteGoAway(s, http2.ErrCodeNo, nil))
			f.data(s, true, "{}")
			return true
		}, end{body: "{}"}},
		"GOAWAY in the body": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.data(s, false, "{")
			f.write(f.framer.WriteGoAway(s, http2.ErrCodeInternal, nil))
			return false
		}, end{body: "{", err: "*"}},
		"refused once": {func(f *framed, n int, s uint32) bool {
			if n == 1 {
				f.write(f.framer.WriteRSTStream(s, http2.ErrCodeRefusedStream))
				return true
			}
			f.good(s)
			return true
		}, end{body: "{}"}},
		"reset before the head": {func(f *framed, _ int, s uint32) bool {
			f.write(f.framer.WriteRSTStream(s, http2.ErrCodeInternal))
			return true
		}, end{class: upstream.Reset}},
		"reset in the body": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.data(s, false, "{")
			f.write(f.framer.WriteRSTStream(s, http2.ErrCodeCancel))
			return true
		}, end{body: "{", err: "CANCEL"}},
		"cut in the body": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.data(s, false, "{")
			return false
		}, end{body: "{", err: "unexpected EOF"}},
		"cut before the head": {func(*framed, int, uint32) bool { return false }, end{class: upstream.Reset}},
		"shorter than its length": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200", "content-length", "100")
			f.data(s, true, "{}")
			return true
		}, end{body: "{}", err: "unexpected EOF"}},
		"longer than its length": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200", "content-length", "2")
			f.data(s, true, "{}canary")
			return true
		}, end{body: "{}", err: "*"}},
		"a trailer": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.data(s, false, "{}")
			f.head(s, true, "x-t", "1")
			return true
		}, end{body: "{}"}},
		"early hints": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "103", "link", "</x>")
			f.good(s)
			return true
		}, end{body: "{}"}},
		"very many hints": {func(f *framed, _ int, s uint32) bool {
			for range 500 {
				f.head(s, false, ":status", "103", "link", strings.Repeat("x", 4000))
			}
			f.good(s)
			return true
		}, end{class: upstream.BadHead}},
		"a huge head": {func(f *framed, _ int, s uint32) bool {
			f.write(f.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: packed(":status", "200")}))
			for i := range 100 {
				f.write(f.framer.WriteContinuation(s, i == 99, packed("x-"+strconv.Itoa(i), strings.Repeat("x", 8000))))
			}
			return true
		}, end{class: upstream.BadHead}},
		"a name in capitals": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200", "X-Big", "1")
			return true
		}, end{class: upstream.BadHead}},
		"no status": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, "x", "1")
			return true
		}, end{class: upstream.BadHead}},
		"a frame larger than agreed": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "200")
			f.framer.AllowIllegalWrites = true
			f.write(f.framer.WriteData(s, true, make([]byte, 2<<20)))
			return true
		}, end{err: "*"}},
		"data without a head": {func(f *framed, _ int, s uint32) bool {
			f.data(s, true, "{}")
			return true
		}, end{class: upstream.BadHead}},
		"another protocol": {func(f *framed, _ int, _ uint32) bool {
			_, _ = io.WriteString(f.conn, "HTTP/1.1 200 OK\r\n\r\n")
			return false
		}, end{class: upstream.BadHead}},
		"a redirect": {func(f *framed, _ int, s uint32) bool {
			f.head(s, true, ":status", "302", "location", "https://127.0.0.1:1/")
			return true
		}, end{class: upstream.Redirected}},
		"an error": {func(f *framed, _ int, s uint32) bool {
			f.head(s, false, ":status", "529")
			f.data(s, true, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
			return true
		}, end{class: upstream.Overloaded}},
	} {
		t.Run(name, func(t *testing.T) {
			url, conns, adjust := frames(t, c.answer)
			client := newClient(t, provider.Options{Adjust: adjust})
			response, failure := client.Call(t.Context(), request(url))
			require.Equal(t, max(c.end.conns, 1), conns.Load())
			if c.end.class != "" {
				require.NotNil(t, failure)
				require.Equal(t, c.end.class, failure.Class, "%v", failure)
				return
			}
			require.Nil(t, failure, "%v", failure)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, response.Body.Close())
			require.Equal(t, c.end.body, string(body))
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

// A kept connection that the server left, with a word or without, is replaced.
func TestKeptHTTP2ConnectionIsReplaced(t *testing.T) {
	for name, leave := range map[string]func(f *framed, stream uint32){
		"with a word":    func(f *framed, stream uint32) { f.write(f.framer.WriteGoAway(stream, http2.ErrCodeNo, nil)) },
		"without a word": func(*framed, uint32) {},
	} {
		t.Run(name, func(t *testing.T) {
			url, conns, adjust := frames(t, func(f *framed, _ int, stream uint32) bool {
				f.good(stream)
				leave(f, stream)
				return false
			})
			client := newClient(t, provider.Options{Adjust: adjust})
			for range 3 {
				body, failure := post(t, client, url)
				require.Nil(t, failure, "%v", failure)
				require.Equal(t, "{}", body)
			}
			require.EqualValues(t, 3, conns.Load())
		})
	}
}
