// Package jsonarray owns the other way of Google's API to stream: a JSON array
// whose elements come one by one. It knows nothing of what they mean.
package jsonarray

import "bytes"

// Framer turns the server-sent events of a stream in this format into
// what Google answers without alt=sse: one JSON array over application/json,
// whose elements are the events' data, each sent when it is there. An error
// event is its last element. The zero value is ready; one goroutine uses it.
type Framer struct {
	begun   bool
	line    []byte // that has no end yet
	carried bool   // the last byte was a carriage return, which ended a line
	data    []byte // of an event that has no end yet
	some    bool   // it has data
}

// Append appends to dst what events, a piece of the stream cut anywhere, adds
// to the array. A comment becomes a newline, so that it still keeps the
// connection alive.
func (f *Framer) Append(dst, events []byte) []byte {
	for len(events) > 0 {
		if f.carried && events[0] == '\n' {
			events = events[1:]
		}
		f.carried = false
		end := bytes.IndexAny(events, "\r\n")
		if end < 0 {
			f.line = append(f.line, events...)
			return dst
		}
		f.carried = events[end] == '\r'
		line := events[:end]
		if len(f.line) > 0 {
			f.line = append(f.line, line...)
			line = f.line
		}
		dst = f.take(dst, line)
		f.line, events = f.line[:0], events[end+1:]
	}
	return dst
}

func (f *Framer) take(dst, line []byte) []byte {
	value, isData := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case len(line) == 0:
		return f.element(dst)
	case line[0] == ':':
		return append(dst, '\n')
	case isData:
		if f.some {
			f.data = append(f.data, '\n')
		}
		f.data, f.some = append(f.data, value...), true
	}
	return dst
}

// element appends the event that a blank line has ended.
func (f *Framer) element(dst []byte) []byte {
	if !f.some {
		return dst
	}
	data := bytes.TrimSpace(f.data)
	f.data, f.some = f.data[:0], false
	if len(data) == 0 || data[0] != '{' {
		return dst
	}
	if f.begun {
		dst = append(dst, ",\r\n"...)
	} else {
		dst = append(dst, '[')
		f.begun = true
	}
	return append(dst, data...)
}

// End appends the end of the array: of an empty one too. last is one more
// element, such as an error, and may be nil. An event that was cut off is left
// out.
func (f *Framer) End(dst, last []byte) []byte {
	f.data, f.some = append(f.data[:0], last...), len(last) > 0
	dst = f.element(dst)
	if !f.begun {
		dst = append(dst, '[')
		f.begun = true
	}
	return append(dst, "]\n"...)
}
