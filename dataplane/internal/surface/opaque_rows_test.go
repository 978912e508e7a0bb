package surface_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// A large form goes through without a copy of its file on the heap, and the
// upstream gets every byte of it.
func TestALargeFormReachesTheUpstream(t *testing.T) {
	s := samples["transcriptions"]
	file := bytes.Repeat([]byte("\x00\xffRIFF\r\n--"), 400_000)
	l := newLine(t, s.kind, answering(s))
	body, kind := form(t, "@file", string(file), "model", "acme/small", "models", "acme/large")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/audio/transcriptions", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", kind)
	request.Header.Set("x-api-key", newToken(t, secret.Inference))
	response := l.do(t, request)
	require.Equal(t, 200, response.StatusCode)
	require.NotNil(t, l.world.last(t).Store)
	got, _ := l.last(t)
	have := fields(t, got)
	require.Equal(t, "up-small", have["model"])
	require.NotContains(t, have, "models")
	require.Equal(t, sha256.Sum256(file), sha256.Sum256([]byte(have["file"])))
}

// S8 for bytes: what came is with the caller before there is more.
func TestOpaqueAnswersAreFlushed(t *testing.T) {
	s := samples["speech"]
	took := make(chan struct{})
	l := newLine(t, s.kind, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", s.media)
		for _, piece := range []string{"one", "two"} {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-took:
			case <-q.Context().Done():
				return
			}
		}
	})
	response := l.do(t, s.ask(t, rowOf(t, "speech"), false, false))
	for _, want := range []string{"one", "two"} {
		got := make([]byte, 3)
		_, err := io.ReadFull(response.Body, got)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		took <- struct{}{}
	}
	rest, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Empty(t, rest)
}

// A binary answer that breaks off must not look whole.
func TestHalfAnOpaqueAnswerMustNotLookWhole(t *testing.T) {
	s := samples["speech"]
	l := newLine(t, s.kind, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", s.media)
		_, _ = io.WriteString(w, s.reply)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	response := l.do(t, s.ask(t, rowOf(t, "speech"), false, false))
	require.Equal(t, 200, response.StatusCode)
	_, err := io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Eventually(t, func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.tried) == 1 }, patience, time.Millisecond)
	require.Equal(t, "truncated_reply", l.tried[0][0].Failure)
}
