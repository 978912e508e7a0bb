package provider_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

type flusher interface {
	io.WriteCloser
	Flush() error
}

// packers compress as providers do that were not asked to.
func packers(t *testing.T) map[string]func(io.Writer) flusher {
	return map[string]func(io.Writer) flusher{
		"gzip":    func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"x-gzip":  func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) flusher { return zlib.NewWriter(w) },
		"deflate ": func(w io.Writer) flusher { // bare, against the RFC
			f, err := flate.NewWriter(w, flate.DefaultCompression)
			require.NoError(t, err)
			return f
		},
		"br": func(w io.Writer) flusher { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) flusher {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			require.NoError(t, err)
			return z
		},
	}
}

func TestUnaskedCompression(t *testing.T) {
	text := `{"choices":[` + strings.Repeat(`{"a":"北京"},`, 500) + `1]}`
	for encoding, pack := range packers(t) {
		t.Run(encoding, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				p := pack(w)
				_, _ = io.WriteString(p, text)
				_ = p.Close()
			})
			client := newClient(t, provider.Options{})
			response, failure := client.Call(t.Context(), request(url))
			require.Nil(t, failure)
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, text, string(body))
			require.NotContains(t, response.Header, "Content-Encoding", "the head fits the body")
		})
	}
}

// A compressed stream must come event by event: each is there before the next
// one is sent.
func TestCompressedStreamIsNotHeldBack(t *testing.T) {
	for encoding, pack := range packers(t) {
		t.Run(encoding, func(t *testing.T) {
			next := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				p := pack(w)
				for range 3 {
					_, _ = io.WriteString(p, "data: x\n\n")
					_ = p.Flush()
					_ = http.NewResponseController(w).Flush()
					<-next
				}
				_ = p.Close()
			})
			response, failure := newClient(t, provider.Options{}).Call(t.Context(), request(url))
			require.Nil(t, failure)
			buf := make([]byte, len("data: x\n\n"))
			for range 3 {
				_, err := io.ReadFull(response.Body, buf)
				require.NoError(t, err)
				require.Equal(t, "data: x\n\n", string(buf))
				next <- struct{}{}
			}
			_, err := io.ReadFull(response.Body, buf)
			require.ErrorIs(t, err, io.EOF)
			require.NoError(t, response.Body.Close())
		})
	}
}

func TestBrokenCompression(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, strings.Repeat("{}", 1000))
	_ = z.Close()
	whole := packed.String()
	for name, body := range map[string]string{
		"not compressed": `{"plain":"text"}`,
		"bad checksum":   whole[:len(whole)-8] + "\x00\x00\x00\x00" + whole[len(whole)-4:],
	} {
		t.Run(name, func(t *testing.T) {
			err := readGzip(t, body, len(body))
			failure, ok := errors.AsType[*upstream.Failure](err)
			require.True(t, ok, err)
			require.Equal(t, upstream.BadEncoding, failure.Class)
		})
	}
	require.ErrorIs(t, readGzip(t, whole[:len(whole)-12], len(whole)), io.ErrUnexpectedEOF, "the connection broke, not the encoding")
	require.ErrorIs(t, readGzip(t, whole[:len(whole)-12], len(whole)-12), io.ErrUnexpectedEOF)
}

func readGzip(t *testing.T, body string, length int) error {
	t.Helper()
	s := serveRaw(t, func(int, int) string {
		return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: " +
			strconv.Itoa(length) + "\r\n\r\n" + body
	})
	response, failure := newClient(t, provider.Options{}).Call(t.Context(), request(s.url))
	require.Nil(t, failure)
	_, err := io.ReadAll(response.Body)
	require.NoError(t, response.Body.Close())
	_, again := response.Body.Read(make([]byte, 1))
	require.Error(t, again)
	return err
}
