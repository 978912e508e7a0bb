package surface_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// patience is when a test that waits for a hostile peer's end gives up.
const patience = 10 * time.Second

func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// A body that is announced and never sent holds nobody up: whatever is answered
// without it is answered, and the connection ends.
func TestABodyThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	key := newToken(t, secret.Inference)
	auth := "X-Api-Key: " + key + "\r\n"
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"no credentials":   {"POST " + chat + " HTTP/1.1\r\n", 401},
		"no route":         {"POST /v1/nothing HTTP/1.1\r\n", 404},
		"wrong method":     {"PUT " + chat + " HTTP/1.1\r\n", 405},
		"discovery":        {"GET /v1/generations/x HTTP/1.1\r\n" + auth, 404},
		"wrong type":       {"POST " + chat + " HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\n" + auth, 415},
		"unknown encoding": {"POST " + chat + " HTTP/1.1\r\nContent-Encoding: foo\r\n" + auth, 415},
		"too large":        {"POST " + chat + " HTTP/1.1\r\n" + auth, 413},
	} {
		for _, length := range []string{"Content-Length: 10", "Transfer-Encoding: chunked"} {
			t.Run(name+", "+length, func(t *testing.T) {
				t.Parallel()
				if name == "too large" {
					length = "Content-Length: 99999999"
				}
				conn := dial(t, start(t, &world{}, func(o *surface.Options) { o.BodyTime = time.Hour }))
				_, err := io.WriteString(conn, c.head+"Host: x\r\n"+length+"\r\n\r\n")
				require.NoError(t, err)
				r := bufio.NewReader(conn)
				response, err := http.ReadResponse(r, nil)
				require.NoError(t, err)
				defer response.Body.Close()
				require.Equal(t, c.status, response.StatusCode)
				_, err = io.Copy(io.Discard, response.Body)
				require.NoError(t, err)
				_, err = r.ReadByte()
				require.ErrorIs(t, err, io.EOF, "what comes next on this connection is unknown")
			})
		}
	}
}

// Compressed bytes that inflate to nothing are bounded like those that inflate
// to something.
func TestABodyOfEmptyMembersIsBounded(t *testing.T) {
	empty := compress(t, "gzip", nil)
	members := strings.NewReader(strings.Repeat(string(empty), (2<<20)/len(empty)))
	w := &world{}
	got := send(t, http.MethodPost, start(t, w, nil)+chat, io.MultiReader(members), // chunked
		"x-api-key", newToken(t, secret.Inference), "Content-Encoding", "gzip")
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
}

// A caller who sends requests and never takes an answer is gone after a while,
// however small the answers are.
func TestAnswersThatNobodyTakesEndTheConnection(t *testing.T) {
	for name, request := range map[string]string{
		"refused":  "GET /v1/key HTTP/1.1\r\nHost: x\r\n\r\n",
		"answered": "POST " + chat + " HTTP/1.1\r\nHost: x\r\nX-Api-Key: " + newToken(t, secret.Inference) + "\r\nContent-Length: 2\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, start(t, &world{}, func(o *surface.Options) { o.WriteStall = 100 * time.Millisecond }))
			many := strings.Repeat(request, 1000)
			var err error
			for err == nil {
				_, err = io.WriteString(conn, many)
			}
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the gateway must end it, not the test")
		})
	}
}

// A caller who closed only the sending half counts as gone, and must not be
// told an empty 200.
func TestACallerWhoHalfClosedGetsNoEmptyAnswer(t *testing.T) {
	w := &world{serve: func(ctx context.Context, _ call.Call, _ call.Sink) { <-ctx.Done() }}
	conn := dial(t, start(t, w, nil))
	_, err := io.WriteString(conn, "POST "+chat+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+newToken(t, secret.Inference)+"\r\nContent-Length: 2\r\n\r\n{}")
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Empty(t, string(got))
}

// A caller who takes a large answer slowly is served to the end: only one who
// takes nothing at all for the time is gone.
func TestALargeAnswerMayBeTakenSlowly(t *testing.T) {
	const size = 24 << 20 // more than the sockets' buffers hold
	failed := make(chan error, 1)
	w := &world{serve: func(_ context.Context, _ call.Call, s call.Sink) {
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}})
		err := s.Write(make([]byte, size))
		if err != nil {
			s.Fail(fault.Of(err), nil)
		}
		failed <- err
	}}
	conn := dial(t, start(t, w, func(o *surface.Options) { o.WriteStall = time.Second }))
	_, err := io.WriteString(conn, "POST "+chat+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+newToken(t, secret.Inference)+"\r\nContent-Length: 2\r\n\r\n{}")
	require.NoError(t, err)
	for taken := int64(0); taken < size; {
		n, err := io.CopyN(io.Discard, conn, 2<<20)
		taken += n
		require.NoError(t, err)
		<-time.After(200 * time.Millisecond) // the caller's pace, in all far beyond the limit
	}
	require.NoError(t, <-failed)
}
