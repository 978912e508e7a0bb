package sse

import (
	"errors"
	"io"
)

// ErrTooLarge is returned for an event over the Reader's limit.
var ErrTooLarge = errors.New("server-sent event over the size limit")

const (
	startBuffer = 4 << 10
	keepBuffer  = 32 << 10 // a larger buffer is let go after the event that needed it
)

// Reader takes a stream apart. It holds one event and what was read beyond it.
// It is for one goroutine.
type Reader struct {
	src     io.Reader
	max     int
	buf     []byte
	start   int // of what was not yet returned, in buf
	fill    int // end of what was read, in buf
	scan    scanner
	found   int // end of the next event, when Ready has looked for it
	scratch []byte
	err     error // of src, sticky
	tail    bool  // the partial block was returned
}

// NewReader returns a Reader of src whose events are at most max bytes.
func NewReader(src io.Reader, max int) *Reader {
	r := &Reader{src: src, max: max}
	r.scan.reset(true)
	return r
}

// Next returns the next event. At the end of the stream, or when reading
// fails, what was left without a blank line comes as a Partial event first and
// the error, io.EOF for a clean end, after it.
func (r *Reader) Next() (Event, error) {
	first := r.start == 0 && r.fill == 0 && r.buf == nil
	for {
		n := r.found
		if r.found = 0; n == 0 {
			n = r.scan.end(r.buf[r.start:r.fill], r.err != nil)
		}
		switch {
		case n > r.max, n == 0 && r.fill-r.start > r.max:
			r.err, r.tail = ErrTooLarge, true
		case n > 0:
			return r.take(n, first), nil
		}
		if r.err != nil {
			return r.rest(first)
		}
		r.read()
	}
}

// Ready reports whether Next has a whole event at hand, so that it returns
// without reading.
func (r *Reader) Ready() bool {
	if r.found == 0 {
		r.found = r.scan.end(r.buf[r.start:r.fill], r.err != nil)
	}
	return r.found > 0 && r.found <= r.max
}

// AtEnd reports that the end of the stream was read and everything before it
// returned.
func (r *Reader) AtEnd() bool { return errors.Is(r.err, io.EOF) && r.start == r.fill }

// rest returns the partial block once, then the error.
func (r *Reader) rest(first bool) (Event, error) {
	if n := r.fill - r.start; n > 0 && !r.tail {
		r.tail = true
		r.scan.lines = 0 // the last one has no end, and was not counted
		e := r.take(n, first)
		e.Partial = true
		return e, nil
	}
	r.buf, r.start, r.fill = nil, 0, 0
	r.scan.reset(false)
	return Event{}, r.err
}

func (r *Reader) take(n int, first bool) Event {
	raw := r.buf[r.start : r.start+n : r.start+n]
	r.start += n
	scan := r.scan
	r.scan.reset(false)
	if scan.lines == 1 {
		if e, ok := single(raw, scan.from, scan.to); ok {
			return e
		}
	}
	if cap(r.scratch) > keepBuffer {
		r.scratch = nil
	}
	e, scratch := parse(raw, first, r.scratch)
	r.scratch = scratch
	return e
}

// read makes room and reads once.
func (r *Reader) read() {
	switch {
	case r.buf == nil:
		r.buf = make([]byte, startBuffer)
	case r.start == r.fill && len(r.buf) > keepBuffer:
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
