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

// maxStacked bounds how many encodings lie over each other: each holds a window.
const maxStacked = 3

type opening func(io.Reader) (io.Reader, error)

// openings are the encodings that can be read (RFC 9110, section 8.4.1, RFC
// 7932, RFC 8878). Those that are nil are no encodings: some servers name the
// charset here, or that there is none.
var openings = map[string]opening{
	"": nil, "identity": nil, "none": nil, "utf-8": nil,
	"gzip":    func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip":  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"deflate": openDeflate,
	"br":      func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"zstd":    openZstd,
}

// inflated returns the body as it was before the provider compressed it, asked
// or not, once or several times over. The size after inflation is bounded by
// whoever reads.
func inflated(response *http.Response) (io.ReadCloser, *upstream.Failure) {
	said := response.Header["Content-Encoding"]
	if len(said) == 0 {
		return response.Body, nil
	}
	var stack []opening // in the order in which they were applied
	for name := range strings.SplitSeq(strings.Join(said, ","), ",") {
		open, known := openings[strings.ToLower(strings.TrimSpace(name))]
		if !known || len(stack) == maxStacked {
			return nil, upstream.Fail(upstream.BadEncoding, errors.New("unknown content encoding, or too many"))
		}
		if open != nil {
			stack = append(stack, open)
		}
	}
	if len(stack) == 0 {
		return response.Body, nil
	}
	return &inflating{source: &remembering{r: response.Body}, body: response.Body, stack: stack}, nil
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
	stack  []opening
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
		if err := i.open(); err != nil {
			i.err = i.failed(err)
			return 0, i.err
		}
	}
	n, err := i.plain.Read(p)
	if err != nil {
		i.err = i.failed(err)
	}
	return n, i.err
}

// open undoes the encodings, the last one first.
func (i *inflating) open() (err error) {
	plain := io.Reader(i.source)
	for n := len(i.stack) - 1; n >= 0; n-- {
		if plain, err = i.stack[n](plain); err != nil {
			return err
		}
	}
	i.plain = plain
	return nil
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
