// Package rawjson owns the reading of JSON by offsets: the members of an
// object and the elements of an array where they stand in the text, so that
// one value can be replaced and every other byte kept. It checks the grammar
// (RFC 8259) and the depth as it goes, says where a text breaks them, and
// never builds values. It knows nothing of what the JSON means.
package rawjson

import (
	"bytes"
	"unicode/utf8"
)

// Object walks the members of the object at the start of a text, in order; a
// name that stands twice comes twice. The zero value has no members. It is a
// value, so that walking allocates nothing:
//
//	o := rawjson.NewObject(text)
//	for o.Next() {
//		if o.Is("model") { … o.Value() … }
//	}
//	if !o.OK() { … not an object, or broken … }
type Object struct {
	s     scanner
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
	over
)

// NewObject starts at the first byte of text that is not white space.
func NewObject(text []byte) Object {
	o := Object{s: scanner{b: text}, comma: -1}
	o.s.space()
	o.begin = o.s.i
	return o
}

// Next moves to the next member. It returns false after the last one and on
// broken JSON; OK tells which.
func (o *Object) Next() bool {
	s := &o.s
	var more bool
	switch o.state {
	case fresh:
		more = s.at('{') || s.fail("expected a JSON object")
		more = more && s.enter('}')
	case inside:
		s.space()
		o.comma = s.i
		more = s.more('}')
	case over:
		return false
	}
	if !more || !o.member() {
		o.state = over
		return false
	}
	o.state = inside
	return true
}

// Over returns the walk as it stands, over another text. That must have the
// same bytes up to the value of the next member, and o not be at its end.
func (o Object) Over(text []byte) Object {
	o.s.b = text
	return o
}

func (o *Object) member() bool {
	s := &o.s
	o.keyAt = s.i + 1
	if !s.text() {
		return false
	}
	o.keyEnd = s.i - 1
	o.escaped = bytes.IndexByte(o.Key(), '\\') >= 0
	if !s.colon() {
		return false
	}
	o.valAt = s.i
	ok := s.value()
	o.valEnd = s.i
	return ok
}

// OK reports, after Next returned false, that the whole object was read and
// was sound.
func (o *Object) OK() bool { return o.state == over && o.s.want == "" }

// Start returns the offset of the opening brace.
func (o *Object) Start() int { return o.begin }

// Whole reports that the text was one sound object and white space.
func (o *Object) Whole() bool {
	rest := o.s
	rest.space()
	return o.OK() && rest.i == len(rest.b)
}

// Err says, after Next returned false, what keeps the text from being one
// object in UTF-8 and nothing else. It is nil when it is that.
func (o *Object) Err() *SyntaxError {
	end := o.s
	if end.want == "" {
		end.space()
		if end.i < len(end.b) {
			end.fail("unexpected text after the JSON object")
		} else if !utf8.Valid(end.b) {
			end.i = firstInvalid(end.b)
			end.fail("invalid UTF-8")
		}
	}
	if end.want == "" {
		return nil
	}
	return end.syntaxError()
}

// Is reports whether the member's name is name, however it is escaped.
func (o *Object) Is(name string) bool {
	if !o.escaped {
		return string(o.Key()) == name
	}
	return o.Name() == name
}

// Name returns the member's name, "" when its escapes make no text.
func (o *Object) Name() string {
	if !o.escaped {
		return string(o.Key())
	}
	return String(o.s.b[o.keyAt-1 : o.keyEnd+1])
}

// Resembles reports whether the member's name is one of names but for the case
// of its letters (Unicode simple folding), however it is escaped. A name that
// is one of them does not resemble it.
func (o *Object) Resembles(names [][]byte) bool {
	key := o.Key()
	if o.escaped {
		key = []byte(o.Name())
	}
	for _, name := range names {
		if bytes.EqualFold(key, name) {
			return !bytes.Equal(key, name)
		}
	}
	return false
}

// Key returns the member's name as it is written, quotes excluded. Most
// callers compare with Is.
func (o *Object) Key() []byte { return o.s.b[o.keyAt:o.keyEnd] }

// Value returns the member's value as it is written.
func (o *Object) Value() []byte { return o.s.b[o.valAt:o.valEnd] }

// ValueSpan returns where the value stands.
func (o *Object) ValueSpan() (start, end int) { return o.valAt, o.valEnd }

// KeyStart is the offset of the quote that opens the member's name.
func (o *Object) KeyStart() int { return o.keyAt - 1 }

// Comma is the offset of the comma before the member, -1 for the first.
func (o *Object) Comma() int { return o.comma }
