// Package rawjson owns the reading of JSON by offsets: the members of an
// object and the elements of an array where they stand in the text, so that
// one value can be replaced and every other byte kept. It checks the grammar
// (RFC 8259) as it goes and never builds values. It knows nothing of what the
// JSON means.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// Object walks the members of the object at the start of a text. The zero
// value has no members. It is a value, so that walking allocates nothing:
//
//	o := rawjson.NewObject(text)
//	for o.Next() {
//		if o.Is("model") { … o.Value() … }
//	}
//	if !o.OK() { … not an object, or broken … }
type Object struct {
	b     []byte
	i     int
	begin int // of the object
	state state

	keyAt, keyEnd int // quotes excluded
	valAt, valEnd int
	escaped       bool // the name has an escape
	comma         int  // offset of the comma before the member, -1 for the first
}

type state uint8

const (
	fresh state = iota
	inside
	done
	broken
)

// NewObject starts at the first byte of text that is not white space.
func NewObject(text []byte) Object {
	at := space(text, 0)
	return Object{b: text, i: at, begin: at, comma: -1}
}

// Next moves to the next member. It returns false after the last one and on
// broken JSON; OK tells which.
func (o *Object) Next() bool {
	switch o.state {
	case fresh:
		if o.i >= len(o.b) || o.b[o.i] != '{' {
			return o.fail()
		}
		o.i = space(o.b, o.i+1)
		if o.i < len(o.b) && o.b[o.i] == '}' {
			o.i++
			o.state = done
			return false
		}
		o.state = inside
	case inside:
		if o.i < len(o.b) && o.b[o.i] == '}' {
			o.i++
			o.state = done
			return false
		}
		if o.i >= len(o.b) || o.b[o.i] != ',' {
			return o.fail()
		}
		o.comma = o.i
		o.i = space(o.b, o.i+1)
	default:
		return false
	}
	return o.member()
}

func (o *Object) member() bool {
	end := str(o.b, o.i)
	if end < 0 {
		return o.fail()
	}
	o.keyAt, o.keyEnd = o.i+1, end-1
	o.escaped = bytes.IndexByte(o.b[o.keyAt:o.keyEnd], '\\') >= 0
	i := space(o.b, end)
	if i >= len(o.b) || o.b[i] != ':' {
		return o.fail()
	}
	o.valAt = space(o.b, i+1)
	if o.valEnd = Skip(o.b, o.valAt); o.valEnd < 0 {
		return o.fail()
	}
	o.i = space(o.b, o.valEnd)
	return true
}

func (o *Object) fail() bool { o.state = broken; return false }

// OK reports, after Next returned false, that the whole object was read and
// was sound.
func (o *Object) OK() bool { return o.state == done }

// Start returns the offset of the opening brace.
func (o *Object) Start() int { return o.begin }

// Whole reports that the text was one sound object and white space.
func (o *Object) Whole() bool { return o.state == done && space(o.b, o.i) == len(o.b) }

// Is reports whether the member's name is name, however it is escaped.
func (o *Object) Is(name string) bool {
	if !o.escaped {
		return string(o.b[o.keyAt:o.keyEnd]) == name
	}
	var plain string
	return json.Unmarshal(o.b[o.keyAt-1:o.keyEnd+1], &plain) == nil && plain == name
}

// Key returns the member's name as it is written, quotes excluded. Most
// callers compare with Is.
func (o *Object) Key() []byte { return o.b[o.keyAt:o.keyEnd] }

// Value returns the member's value as it is written.
func (o *Object) Value() []byte { return o.b[o.valAt:o.valEnd] }

// ValueSpan returns where the value stands.
func (o *Object) ValueSpan() (start, end int) { return o.valAt, o.valEnd }

// KeyStart is the offset of the quote that opens the member's name.
func (o *Object) KeyStart() int { return o.keyAt - 1 }

// Comma is the offset of the comma before the member, -1 for the first.
func (o *Object) Comma() int { return o.comma }
