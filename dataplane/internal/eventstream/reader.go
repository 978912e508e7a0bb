// Package eventstream owns the reading of application/vnd.amazon.eventstream,
// the framing in which Amazon's services stream: it finds where frames end,
// checks their sums, and hands on what each carries as an event of the kind
// that sse reads. It knows no service, no JSON and no connection.
//
// The format is described with the operations that use it:
// https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
package eventstream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/signalbox-dev/signalbox/dataplane/internal/sse"
	"github.com/signalbox-dev/signalbox/shared/jsonappend"
)

// MediaType is the type of an answer in this framing.
const MediaType = "application/vnd.amazon.eventstream"

var (
	// ErrTruncated is returned when the bytes end inside a frame. It is an
	// io.ErrUnexpectedEOF.
	ErrTruncated = fmt.Errorf("event stream ends inside a frame: %w", io.ErrUnexpectedEOF)
	// ErrCorrupt is returned for a frame whose sums or headers are wrong. What
	// follows it cannot be read.
	ErrCorrupt = errors.New("event stream frame is corrupt")
)

const (
	preludeLen = 12 // total length, length of the headers, sum of both
	leastFrame = 16 // a prelude and the sum of the whole

	startBuffer = 4 << 10
	keepBuffer  = 32 << 10 // a larger buffer is let go after the frame that needed it
)

// Reader takes a stream apart. It holds one frame and what was read beyond it.
// It is for one goroutine.
type Reader struct {
	src     io.Reader
	max     int
	decoder *eventstream.Decoder
	buf     []byte
	start   int // of what was not yet returned, in buf
	fill    int // end of what was read, in buf
	payload []byte
	err     error // of src or of a frame, sticky
}

// NewReader returns a Reader of src whose frames are at most max bytes.
func NewReader(src io.Reader, max int) *Reader {
	return &Reader{src: src, max: max, decoder: eventstream.NewDecoder()}
}

// Next returns the next frame as an event: Raw is the frame, Name its
// :event-type or :exception-type, Data its payload. A frame of the type error,
// which has no payload, is named so and has its code and message as Data. All
// of them hold until the next call. A frame over the limit is sse.ErrTooLarge, one that
// is broken ErrCorrupt; the end of the bytes is io.EOF between frames and
// ErrTruncated inside one.
func (r *Reader) Next() (sse.Event, error) {
	for {
		n, err := r.frame()
		if err != nil {
			return r.broken(err)
		}
		if n > 0 {
			raw := r.buf[r.start : r.start+n : r.start+n]
			r.start += n
			e, err := r.event(raw)
			if err != nil {
				return r.broken(err)
			}
			return e, nil
		}
		if r.err != nil {
			return r.end()
		}
		r.read()
	}
}

// Ready reports whether Next has a whole frame at hand, so that it returns
// without reading.
func (r *Reader) Ready() bool {
	n, err := r.frame()
	return err == nil && n > 0
}

// AtEnd reports that the end of the stream was read and every frame before it
// returned.
func (r *Reader) AtEnd() bool { return errors.Is(r.err, io.EOF) && r.start == r.fill }

// broken ends the stream: where the next frame begins is not known any more.
func (r *Reader) broken(err error) (sse.Event, error) {
	r.err, r.buf, r.start, r.fill = err, nil, 0, 0
	return sse.Event{}, err
}

func (r *Reader) end() (sse.Event, error) {
	if r.fill > r.start && errors.Is(r.err, io.EOF) {
		r.err = ErrTruncated
	}
	return r.broken(r.err)
}

// frame returns the length of the frame at the start of what was read, 0 when
// more bytes are needed. The prelude's own sum is checked first, so that a
// broken length is never waited for.
func (r *Reader) frame() (int, error) {
	b := r.buf[r.start:r.fill]
	if len(b) < preludeLen {
		return 0, nil
	}
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return 0, ErrCorrupt
	}
	total := int64(binary.BigEndian.Uint32(b))
	switch {
	case total < leastFrame:
		return 0, ErrCorrupt
	case total > int64(r.max):
		return 0, sse.ErrTooLarge
	case total > int64(len(b)):
		return 0, nil
	}
	return int(total), nil
}

// event decodes one whole frame.
func (r *Reader) event(raw []byte) (sse.Event, error) {
	if cap(r.payload) > keepBuffer {
		r.payload = nil
	}
	m, err := r.decoder.Decode(bytes.NewReader(raw), r.payload)
	if err != nil {
		return sse.Event{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if m.Payload != nil {
		r.payload = m.Payload
	}
	e := sse.Event{Raw: raw, Data: m.Payload}
	var code, message string
	for _, h := range m.Headers {
		switch h.Name {
		case ":event-type", ":exception-type":
			e.Name = []byte(h.Value.String())
		case ":error-code":
			code = h.Value.String()
		case ":error-message":
			message = h.Value.String()
		}
	}
	if code != "" {
		// Such a frame has no payload: what it says stands in its headers.
		e.Name, e.Data = []byte("error"), errorData(code, message)
	}
	return e, nil
}

// errorData says what an error frame says in the way of error events.
func errorData(code, message string) []byte {
	var b jsonappend.Buffer
	b.Open('{')
	b.String("code", code)
	b.String("message", message)
	b.Close('}')
	return b
}

// read makes room and reads once.
func (r *Reader) read() {
	switch {
	case r.buf == nil, r.start == r.fill && len(r.buf) > keepBuffer:
		r.buf, r.start, r.fill = make([]byte, startBuffer), 0, 0
	case r.start == r.fill:
		r.start, r.fill = 0, 0
	case r.fill == len(r.buf) && r.start > 0:
		r.fill = copy(r.buf, r.buf[r.start:r.fill])
		r.start = 0
	case r.fill == len(r.buf):
		grown := make([]byte, min(2*len(r.buf), r.max+startBuffer))
		copy(grown, r.buf[:r.fill])
		r.buf = grown
	}
	n, err := r.src.Read(r.buf[r.fill:])
	r.fill += n
	r.err = err
}
