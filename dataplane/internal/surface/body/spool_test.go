package body_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/body"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

const limit = 8 << 20

func open(t *testing.T, most int64) (*body.Spool, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bodies")
	s, err := body.OpenSpool(dir, most)
	require.NoError(t, err)
	return s, dir
}

// read reads a body whose declared length is size, -1 for none.
func read(s *body.Spool, from io.Reader, size int64, encoding string) (body.Body, *fault.Error) {
	r := httptest.NewRequest(http.MethodPost, "/", from)
	r.ContentLength = size
	if encoding != "" {
		r.Header.Set("Content-Encoding", encoding)
	}
	return body.Read(httptest.NewRecorder(), r, body.Limits{MaxBytes: limit, Spool: s})
}

func text(n int) []byte { return bytes.Repeat([]byte("0123456789abcdef"), n/16+1)[:n] }

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "no body has a name")
}

func TestLargeBodiesAreInFiles(t *testing.T) {
	for _, n := range []int{1, body.InMemory - 1, body.InMemory, body.InMemory + 1, 3 << 20, limit} {
		for _, encoding := range []string{"", "chunked", "gzip"} {
			s, dir := open(t, limit)
			want := text(n)
			from, size := io.Reader(bytes.NewReader(want)), int64(n)
			if encoding != "" {
				size = -1
			}
			if encoding == "gzip" {
				var packed bytes.Buffer
				w := gzip.NewWriter(&packed)
				_, err := w.Write(want)
				require.NoError(t, err)
				require.NoError(t, w.Close())
				from = &packed
			}
			if encoding == "chunked" {
				encoding = ""
			}
			got, refusal := read(s, from, size, encoding)
			require.Nil(t, refusal)
			require.True(t, bytes.Equal(want, got.Bytes))
			empty(t, dir)
			if n <= body.InMemory {
				require.Nil(t, got.Held)
				continue
			}
			require.NotNil(t, got.Held)
			require.EqualValues(t, n, s.Used())
			got.Held.Release()
			require.Zero(t, s.Used())
		}
	}
}

// net/http may read a body whose answer came early, after the request is over.
func TestABodyStaysUntilNobodyReadsIt(t *testing.T) {
	s, _ := open(t, limit)
	want := text(2 << 20)
	got, refusal := read(s, bytes.NewReader(want), int64(len(want)), "")
	require.Nil(t, refusal)
	sent := upstream.Pieces(got.Held, got.Bytes).Open()
	half := make([]byte, 1<<20)
	_, err := io.ReadFull(sent, half)
	require.NoError(t, err)
	got.Held.Release() // the request is over
	require.NotZero(t, s.Used())
	rest, err := io.ReadAll(sent)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, append(half, rest...)))
	require.NoError(t, sent.Close())
	require.NoError(t, sent.Close())
	require.Zero(t, s.Used())
	_, err = sent.Read(half)
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Panics(t, got.Held.Release)
	require.Panics(t, got.Held.Retain)
}

func TestABodyThatIsReadWhileItIsClosed(t *testing.T) {
	s, _ := open(t, limit)
	for range 50 {
		got, refusal := read(s, bytes.NewReader(text(2<<20)), 2<<20, "")
		require.Nil(t, refusal)
		sent := upstream.Pieces(got.Held, got.Bytes).Open()
		got.Held.Release()
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, struct{ io.Reader }{sent})
		}()
		require.NoError(t, sent.Close()) // as HTTP/2 does it
		<-read
		require.Zero(t, s.Used())
	}
}

func TestWhatCannotBeKeptLeavesNothing(t *testing.T) {
	broken := errors.New("reset")
	for name, c := range map[string]struct {
		from   io.Reader
		size   int64
		most   int64
		disk   error
		code   fault.Code
		reason string
	}{
		"too large":         {bytes.NewReader(text(limit + 1)), -1, 2 * limit, nil, fault.PayloadTooLarge, ""},
		"shorter than said": {bytes.NewReader(text(3 << 20)), 4 << 20, limit, nil, fault.ValidationError, ""},
		"nothing of it":     {bytes.NewReader(nil), 4 << 20, limit, nil, fault.ValidationError, ""},
		"caller gone":       {io.MultiReader(bytes.NewReader(text(3<<20)), iotest.ErrReader(broken)), 4 << 20, limit, nil, fault.ValidationError, ""},
		"caller gone early": {iotest.ErrReader(broken), -1, limit, nil, fault.ValidationError, ""},
		"no room":           {bytes.NewReader(text(3 << 20)), 3 << 20, 2 << 20, nil, fault.Unavailable, ""},
		"no room, chunked":  {bytes.NewReader(text(3 << 20)), -1, 1 << 20, nil, fault.Unavailable, ""},
		"disk full":         {bytes.NewReader(text(3 << 20)), 3 << 20, limit, syscall.ENOSPC, fault.Unavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := open(t, c.most)
			if c.disk != nil {
				s.Failing(c.disk)
			}
			got, refusal := read(s, c.from, c.size, "")
			require.NotNil(t, refusal)
			require.Equal(t, c.code, refusal.Code)
			require.Nil(t, got.Held)
			require.Zero(t, s.Used())
			empty(t, dir)
			if c.code == fault.Unavailable {
				require.True(t, refusal.Retryable)
				require.Positive(t, refusal.RetryAfter)
				require.NotContains(t, refusal.Message, dir)
			}
			if c.disk != nil {
				require.ErrorIs(t, refusal, c.disk)
			}
		})
	}
}

func TestRoomComesBack(t *testing.T) {
	s, _ := open(t, 4<<20)
	first, refusal := read(s, bytes.NewReader(text(3<<20)), 3<<20, "")
	require.Nil(t, refusal)
	_, refusal = read(s, bytes.NewReader(text(3<<20)), 3<<20, "")
	require.Equal(t, fault.Unavailable, refusal.Code)
	first.Held.Release()
	second, refusal := read(s, bytes.NewReader(text(3<<20)), 3<<20, "")
	require.Nil(t, refusal)
	second.Held.Release()
}

func TestTheDirectoryIsEmptiedAndPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "bodies")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "body-1"), []byte("left"), 0o600))
	_, err := body.OpenSpool(dir, limit)
	require.NoError(t, err)
	empty(t, dir)
	fresh := filepath.Join(t.TempDir(), "data", "bodies")
	_, err = body.OpenSpool(fresh, limit)
	require.NoError(t, err)
	info, err := os.Stat(fresh)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = body.OpenSpool(file, limit)
	require.Error(t, err)
}

// A directory that is taken away later is the gateway's trouble, not the
// caller's.
func TestADirectoryThatIsGone(t *testing.T) {
	s, dir := open(t, limit)
	require.NoError(t, os.RemoveAll(dir))
	_, refusal := read(s, bytes.NewReader(text(3<<20)), 3<<20, "")
	require.Equal(t, fault.Unavailable, refusal.Code)
	require.Equal(t, fault.Gateway, refusal.Origin)
}
