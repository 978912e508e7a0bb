package simulator

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// plain writes a JSON reply in one piece.
func (x *exchange) plain(body json.RawMessage) { x.whole("application/json", body) }

// whole writes a reply of a known length.
func (x *exchange) whole(kind string, raw []byte) {
	f := x.fault
	x.head(kind)
	if f.Encoding != "" {
		raw = compressed(f.Encoding, raw)
	}
	length := len(raw)
	if f.Short {
		length += 100
	}
	if !f.Trailer {
		x.w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	x.w.WriteHeader(http.StatusOK)
	if f.CutAfter > 0 {
		_, _ = x.w.Write(raw[:len(raw)/2])
		x.flush()
		panic(http.ErrAbortHandler)
	}
	x.put(x.w, raw)
	if f.Short {
		x.flush()
		panic(http.ErrAbortHandler)
	}
	x.tail()
}

// head sets the headers of a body, with what faults change of them.
func (x *exchange) head(kind string) {
	h := x.w.Header()
	if x.fault.WrongType {
		kind = "text/plain; charset=utf-8"
	}
	h.Set("Content-Type", kind)
	if x.fault.Encoding != "" {
		h.Set("Content-Encoding", x.fault.Encoding)
	}
	if x.fault.Trailer {
		h.Set("Trailer", trailer)
	}
}

const trailer = "X-Sim-Trailer"

func (x *exchange) tail() {
	if x.fault.Trailer {
		x.w.Header().Set(trailer, "the end")
	}
}

// put writes bytes in the pieces that the fault asks for; false means that
// the caller has gone.
func (x *exchange) put(w io.Writer, raw []byte) bool {
	size := max(len(raw), 1)
	switch {
	case x.fault.Trickle:
		size = 1
	case x.fault.Split > 0:
		size = x.fault.Split
	}
	for piece := range slices.Chunk(raw, size) {
		if _, err := w.Write(piece); err != nil || x.r.Context().Err() != nil {
			return false
		}
		if z, ok := w.(compressor); ok {
			_ = z.Flush() // the next write says when the caller has gone
		}
		if size < len(raw) {
			x.flush()
		}
		if x.fault.Trickle && x.fault.Pause > 0 && !x.sleep(x.fault.Pause) {
			return false
		}
	}
	return true
}

func (x *exchange) flush() { _ = http.NewResponseController(x.w).Flush() }

// compressor is a writer of one content coding.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// newCompressor returns nil for no encoding.
func newCompressor(encoding string, w io.Writer) compressor {
	switch encoding {
	case "gzip":
		return gzip.NewWriter(w)
	case "br":
		return brotli.NewWriter(w)
	case "deflate": // RFC 9110 means a zlib stream
		return zlib.NewWriter(w)
	case "zstd":
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		if err != nil {
			panic(err) // the options are right
		}
		return z
	}
	return nil
}

func compressed(encoding string, raw []byte) []byte {
	var b bytes.Buffer
	z := newCompressor(encoding, &b)
	_, _ = z.Write(raw) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
