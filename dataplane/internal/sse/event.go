// Package sse owns the byte-level reading of server-sent events (WHATWG HTML,
// section 9.2): it finds where events end and what they carry, and keeps the
// exact bytes of each. It knows no provider, no JSON and no connection.
package sse

import "bytes"

// MaxEvent is the size in bytes up to which an event is carried.
const MaxEvent = 8 << 20

// Event is one block of a stream. Its slices share memory with the Reader and
// hold until the next call of Next.
type Event struct {
	// Raw is the block as it came: comments, line ends, the blank line that
	// ended it, blank lines before it, a byte order mark. The Raw of all events
	// of a stream, one after the other, is the stream.
	Raw []byte
	// Name is the last "event" field, nil when there was none.
	Name []byte
	// Data is the "data" lines joined by newlines, nil when there were none.
	Data []byte
	// Bare marks a line of JSON that stands where a field should: providers
	// that forget the "data:" send such. Data is then the line.
	Bare bool
	// Partial marks a last block that the end of the stream cut off. By the
	// standard it does not count; whoever reads it must judge its Data.
	Partial bool

	dataAt int  // offset of the first data line's value in Raw
	joined bool // Data has several lines and is a copy
	// linesAt is where the lines begin in Raw: behind the byte order mark of the
	// stream's first event. A mark anywhere else is part of a field's name.
	linesAt int
}

// RawOffset returns where the byte Data[i] stands in Raw.
func (e *Event) RawOffset(i int) int {
	if !e.joined {
		return e.dataAt + i
	}
	rest, begun := e.Raw[e.linesAt:], 0
	for len(rest) > 0 {
		at := len(e.Raw) - len(rest)
		var line []byte
		line, rest = cutLine(rest)
		name, value := field(line)
		if string(name) != "data" {
			continue
		}
		if i <= begun+len(value) {
			return at + len(line) - len(value) + i - begun
		}
		begun += len(value) + 1 // the newline that joins
	}
	return len(e.Raw)
}

var bom = []byte("\xef\xbb\xbf")

// parse fills the fields of e from raw; scratch holds joined data lines.
func parse(raw []byte, first bool, scratch []byte) (Event, []byte) {
	e := Event{Raw: raw}
	rest := raw
	if first {
		rest = bytes.TrimPrefix(rest, bom)
		e.linesAt = len(raw) - len(rest)
	}
	lines, begun := 0, false
	for len(rest) > 0 {
		at := len(raw) - len(rest)
		var line []byte
		line, rest = cutLine(rest)
		name, value := field(line)
		switch {
		case len(line) == 0:
			continue
		case isBare(line) && !begun:
			e.Data, e.Bare, e.dataAt = line, true, at
			return e, scratch
		case string(name) == "event":
			e.Name = value
		case string(name) == "data":
			if lines == 0 {
				e.Data, e.dataAt = value, at+len(line)-len(value)
			} else {
				if lines == 1 {
					scratch = append(scratch[:0], e.Data...)
				}
				scratch = append(append(scratch, '\n'), value...)
				e.Data, e.joined = scratch, true
			}
			lines++
		}
		begun = true
	}
	return e, scratch
}

// single is the event of a block that is one line of data between from and to,
// as most are.
func single(raw []byte, from, to int) (Event, bool) {
	name, value := field(raw[from:to])
	if string(name) != "data" {
		return Event{}, false
	}
	return Event{Raw: raw, Data: value, dataAt: to - len(value)}, true
}

// field splits a line at its first colon and drops one space after it.
func field(line []byte) (name, value []byte) {
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return line, line[len(line):]
	}
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return name, value
}

// isBare reports whether a line can only be JSON: no field begins like this.
func isBare(line []byte) bool { return len(line) > 0 && (line[0] == '{' || line[0] == '[') }

// cutLine returns the first line without its end, and what follows the end.
func cutLine(b []byte) (line, rest []byte) {
	i := indexLineEnd(b)
	if i < 0 {
		return b, nil
	}
	if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
		return b[:i], b[i+2:]
	}
	return b[:i], b[i+1:]
}
