package provider

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// maxZstdWindow bounds what one compressed answer may make us hold.
const maxZstdWindow = 8 << 20

// inflated returns the body as it was before the provider compressed it,
// asked or not. The size after inflation is bounded by whoever reads.
func inflated(response *http.Response) (io.ReadCloser, *upstream.Failure) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(response.Header["Content-Encoding"], ",")))
	var open func(io.Reader) (io.Reader, error)
	switch encoding {
	case "", "identity":
		return response.Body, nil
	case "gzip", "x-gzip":
		open = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = openDeflate
	case "br":
		open = func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "zstd":
		open = openZstd
	default:
		return nil, upstream.Fail(upstream.BadEncoding, errors.New("unknown content encoding"))
	}
	return &inflating{source: &remembering{r: response.Body}, body: response.Body, open: open}, nil
}

// openDeflate reads what RFC 9110 calls deflate, a zlib stream, and the bare
// deflate that many servers send in its place.
func openDeflate(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	start, err := buffered.Peek(2)
	if err == nil && start[0]&0x0f == 8 && (int(start[0])<<8|int(start[1]))%31 == 0 {
		return zlib.NewReader(buffered)
	}
	return flate.NewReader(buffered), nil
}

func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxZstdWindow))
}

// inflating opens its decoder with the first Read, since decoders read from
// the connection when they are made.
type inflating struct {
	source *remembering
	body   io.ReadCloser
	open   func(io.Reader) (io.Reader, error)
	plain  io.Reader
	err    error
}

// Read implements io.Reader. A decoder's failure is a bad encoding only when
// the connection did not fail first.
func (i *inflating) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	if i.plain == nil {
		if i.plain, i.err = i.open(i.source); i.err != nil {
			i.err = i.failed(i.err)
			return 0, i.err
		}
	}
	n, err := i.plain.Read(p)
	if err != nil {
		i.err = i.failed(err)
	}
	return n, i.err
}

func (i *inflating) failed(err error) error {
	switch {
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF
	case i.source.err != nil && !errors.Is(i.source.err, io.EOF):
		return i.source.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return err
	}
	return upstream.Fail(upstream.BadEncoding, err)
}

// Close implements io.Closer.
func (i *inflating) Close() error { return i.body.Close() }

// remembering keeps the connection's own error, which decoders replace.
type remembering struct {
	r   io.Reader
	err error
}

func (m *remembering) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil {
		m.err = err
	}
	return n, err
}
