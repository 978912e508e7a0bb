package surface_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

const (
	transcriptions = "/v1/audio/transcriptions"
	formOfX        = "multipart/form-data; boundary=x"
)

// upload is a form with a file of size bytes, and the model behind it.
func upload(size int) []byte {
	var b bytes.Buffer
	b.WriteString("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n")
	b.Write(bytes.Repeat([]byte("\xff\x00\r\n--y-"+strings.Repeat("sound", 203)+"\r"), size>>10))
	b.WriteString("\r\n--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper\r\n--x--\r\n")
	return b.Bytes()
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Large bodies take pages of a file, not of the heap, from all callers at once,
// and give everything back.
func TestManyLargeBodiesAtOnce(t *testing.T) {
	const callers, size = 20, 8 << 20
	body := upload(size)
	dir := filepath.Join(t.TempDir(), "bodies")
	var here, over sync.WaitGroup
	w := &world{serve: func(_ context.Context, c call.Call, s call.Sink) {
		here.Done()
		over.Wait() // all of them are here at once
		if c.Malformed != nil || c.Request.Model != "whisper" || c.Store == nil || !bytes.Equal(c.Body, body) {
			panic("the body is not what was sent")
		}
		_ = s.Start(call.Head{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}})
		_ = s.Write([]byte(`{}`))
	}}
	url := start(t, w, func(o *surface.Options) {
		o.BodyDir, o.BodyRoom = dir, callers*int64(len(body)) // not a byte more: what is not given back is missed
	})
	key := newToken(t, secret.Inference)
	for _, declared := range []bool{true, false} {
		here.Add(callers)
		over.Add(1)
		before := heap()
		var left sync.WaitGroup
		status := make(chan int, callers)
		for range callers {
			left.Go(func() {
				var from io.Reader = bytes.NewReader(body)
				if !declared {
					from = io.MultiReader(from)
				}
				status <- send(t, http.MethodPost, url+transcriptions, from, "x-api-key", key, "content-type", formOfX).status
			})
		}
		here.Wait()
		grown := heap() - before
		files, err := os.ReadDir(dir)
		over.Done()
		left.Wait()
		require.Less(t, grown, int64(callers*(1<<20)), "less than a MiB for each body of eight")
		require.NoError(t, err)
		require.Empty(t, files)
		for range callers {
			require.Equal(t, 200, <-status)
		}
	}
}

// A caller who leaves while he sends, and one for whom there is no room, leave
// nothing behind that another one would miss.
func TestALargeBodyThatDoesNotArriveLeavesNothing(t *testing.T) {
	w := &world{}
	body := upload(3 << 20)
	url := start(t, w, func(o *surface.Options) {
		o.BodyDir, o.BodyRoom, o.BodyTime = filepath.Join(t.TempDir(), "bodies"), int64(len(body)), 5*time.Second
	})
	key := newToken(t, secret.Inference)
	for i := range 3 {
		conn := dial(t, url)
		_, err := io.WriteString(conn, "POST "+transcriptions+" HTTP/1.1\r\nHost: x\r\nContent-Type: "+formOfX+"\r\nX-Api-Key: "+key+
			"\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+string(body[:2<<20]))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.calls) == i+1 }, patience, time.Millisecond)
		require.NotNil(t, w.last(t).Malformed)
	}
	got := send(t, http.MethodPost, url+transcriptions, bytes.NewReader(upload(5<<20)), "x-api-key", key, "content-type", formOfX)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "unavailable", got.fault(t)["code"])
	require.Equal(t, true, got.fault(t)["retryable"])
	require.Equal(t, "1", got.header.Get("retry-after"))
	got = send(t, http.MethodPost, url+transcriptions, bytes.NewReader(body), "x-api-key", key, "content-type", formOfX)
	require.Equal(t, 200, got.status, got.body)
}

// A bug in the pipeline must not keep a body for ever.
func TestALargeBodyIsReleasedAfterAPanic(t *testing.T) {
	body := upload(3 << 20)
	w := &world{serve: func(context.Context, call.Call, call.Sink) { panic("bug") }}
	url := start(t, w, func(o *surface.Options) {
		o.BodyDir, o.BodyRoom = filepath.Join(t.TempDir(), "bodies"), int64(len(body))
	})
	key := newToken(t, secret.Inference)
	for range 3 {
		got := send(t, http.MethodPost, url+transcriptions, bytes.NewReader(body), "x-api-key", key, "content-type", formOfX)
		require.Equal(t, 500, got.status, "and not 503")
	}
	require.NotNil(t, w.last(t).Store)
}

func TestADirectoryForBodiesThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	options := surface.DefaultOptions()
	options.BodyDir = filepath.Join(file, "bodies")
	_, err := surface.New(surface.Deps{}, options)
	require.ErrorContains(t, err, "large bodies")
}

func TestLargeJSONIsInAFileToo(t *testing.T) {
	w := &world{}
	url := start(t, w, func(o *surface.Options) { o.BodyDir, o.MaxJSON = filepath.Join(t.TempDir(), "bodies"), 4<<20 })
	body := `{"model":"acme/small","messages":[{"role":"user","content":"` + strings.Repeat("x", 3<<20) + `"}]}`
	got := send(t, http.MethodPost, url+chat, strings.NewReader(body), "x-api-key", newToken(t, secret.Inference))
	require.Equal(t, 200, got.status, got.body)
	last := w.last(t)
	require.NotNil(t, last.Store)
	require.Equal(t, "acme/small", last.Request.Model)
	require.InDelta(t, 3<<20/4, last.Request.InputTokens, 50)
}
