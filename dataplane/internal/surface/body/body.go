// Package body owns getting a request's body where it can be read as bytes, in
// memory or beyond a size in a mapped file: its size before and after inflation,
// its content encodings, and the time it may take. It knows nothing of what a
// body says.
package body

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Limits bound a body.
type Limits struct {
	MaxBytes int64         // after inflation
	Time     time.Duration // from the first read to the last byte
	Spool    *Spool        // for what is larger than InMemory; nil: memory holds every body
}

// InMemory is the size up to which memory holds a body, in bytes. Up to it the
// declared length is believed before the bytes are there.
const InMemory = 1 << 20

// Body is a body that was read whole.
type Body struct {
	Bytes []byte
	Held  *Held // where Bytes are when memory does not hold them; to be released. Else nil
}

const (
	// leftover is how long the rest of a body may take that nobody will look at.
	leftover = time.Second
	// retryIn is when a gateway without room may have some again.
	retryIn = time.Second
)

// Skip is for a request that is answered without its body, or before the end
// of it. net/http reads on behind the answer's back, and waits for a caller who
// sends nothing for as long as the deadline says: without one, for ever.
func Skip(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		// A recorder in tests has no deadlines, and no slow callers either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(leftover))
	}
}

// Read returns the whole body, inflated. It refuses a declared length over the
// limit before it reads anything, and a body that turns out longer as soon as
// it does. net/http lifts the deadline itself once a body was read to its end.
func Read(w http.ResponseWriter, r *http.Request, limits Limits) (Body, *fault.Error) {
	data, refusal := read(w, r, limits)
	if refusal != nil {
		Skip(w, r)
	}
	return data, refusal
}

func read(w http.ResponseWriter, r *http.Request, limits Limits) (Body, *fault.Error) {
	if r.ContentLength > limits.MaxBytes {
		return Body{}, tooLarge(limits.MaxBytes)
	}
	if r.ContentLength == 0 {
		return Body{}, nil
	}
	if limits.Time > 0 {
		// A recorder in tests has no deadlines, and no slow callers either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limits.Time))
	}
	encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding")))
	if encoding == "" || encoding == "identity" {
		return readAll(r.Body, r.ContentLength, limits)
	}
	// What goes in is bounded as what comes out: a stream of empty members
	// inflates to nothing for as long as it lasts.
	packed := &io.LimitedReader{R: r.Body, N: limits.MaxBytes + 1}
	inflated, refusal := inflate(packed, encoding)
	if refusal != nil {
		return Body{}, refusal
	}
	defer func() { _ = inflated.Close() }()
	data, refusal := readAll(inflated, -1, limits)
	if packed.N <= 0 {
		data.drop()
		return Body{}, tooLarge(limits.MaxBytes)
	}
	if refusal == nil {
		// A decoder may stop short of the end of the body, without which net/http
		// neither lifts the deadline nor notices a caller who leaves.
		_, _ = io.CopyN(io.Discard, r.Body, 1)
	}
	if refusal != nil && refusal.Code == fault.ValidationError && refusal.Reason == "" {
		refusal.Message = "The body is not valid " + encoding + ", as its content-encoding says."
	}
	return data, refusal
}

// drop lets go of a body that is of no use.
func (b *Body) drop() {
	if b.Held != nil {
		b.Held.Release()
	}
}

// readAll reads a body; size is what was declared, or -1.
func readAll(r io.Reader, size int64, limits Limits) (Body, *fault.Error) {
	limit := limits.MaxBytes
	switch {
	case size > InMemory && limits.Spool != nil:
		return limits.Spool.keep(nil, r, size, limit)
	case size >= 0 && size <= InMemory:
		data := make([]byte, size)
		if _, err := io.ReadFull(r, data); err != nil {
			return Body{}, unreadable(err)
		}
		return Body{Bytes: data}, nil
	}
	most := limit
	if limits.Spool != nil {
		most = min(limit, InMemory)
	}
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(r, most+1))
	switch {
	case n > limit:
		return Body{}, tooLarge(limit)
	case n > most:
		return limits.Spool.keep(buf.Bytes(), r, size, limit)
	case err == nil && n < size:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Body{}, unreadable(err)
	}
	return Body{Bytes: buf.Bytes()}, nil
}

// inflate opens one of the encodings that clients use. Stacked encodings are
// refused: no client sends them, and each layer multiplies.
func inflate(r io.Reader, encoding string) (io.ReadCloser, *fault.Error) {
	var out io.ReadCloser
	var err error
	switch encoding {
	case "gzip", "x-gzip":
		out, err = gzip.NewReader(r)
	case "deflate":
		out, err = zlib.NewReader(r)
	case "br":
		out = io.NopCloser(brotli.NewReader(r))
	case "zstd":
		var decoder *zstd.Decoder
		// One goroutine and a bounded window: a frame may ask for gigabytes.
		decoder, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderMaxWindow(8<<20))
		if err == nil {
			out = decoder.IOReadCloser()
		}
	default:
		return nil, fault.New(fault.UnsupportedMediaType,
			"This content-encoding is not supported. Use identity, gzip, deflate, br or zstd, and only one of them.")
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.ValidationError, "The body is not valid "+encoding+", as its content-encoding says.")
	}
	return out, nil
}

func tooLarge(limit int64) *fault.Error {
	return fault.Newf(fault.PayloadTooLarge, "The body is larger than %d MiB.", limit>>20).With("limit_bytes", limit)
}

// unreadable sorts the ways in which a body does not arrive.
func unreadable(err error) *fault.Error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.Wrap(err, fault.ValidationError, "The body did not arrive in time.").Because(fault.BodyTimeout)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(err, fault.ValidationError, "The body ended before its declared length.")
	}
	return fault.Wrap(err, fault.ValidationError, "The body could not be read.")
}
