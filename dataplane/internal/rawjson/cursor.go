package rawjson

import "bytes"

// Cursor goes through nested values in one pass, where Object and Array pass a
// value before it can be looked into. Its caller keeps the brackets:
//
//	c := rawjson.NewCursor(text)
//	for more := c.Open(); more; more = c.More('}') {
//		c.Name()
//		if c.Is("model") { … c.Value() … } else { c.Value() }
//	}
//
// The text may be cut off anywhere: what stands before the cut is gone through,
// and nothing is after it. The zero value is at its end.
type Cursor struct {
	s             scanner
	keyAt, keyEnd int // quotes excluded
	escaped       bool
}

// NewCursor starts at the first byte of text that is not white space.
func NewCursor(text []byte) Cursor {
	c := Cursor{s: scanner{b: text}}
	c.s.space()
	return c
}

// Kind is the first byte of the value at hand, 0 when there is none.
func (c *Cursor) Kind() byte {
	if c.s.want != "" || c.s.i >= len(c.s.b) {
		return 0
	}
	return c.s.b[c.s.i]
}

// Open goes into the object or array at hand, and reports whether there is
// something inside.
func (c *Cursor) Open() bool {
	switch c.Kind() {
	case '{':
		return c.s.enter('}')
	case '[':
		return c.s.enter(']')
	}
	return false
}

// More goes to the next thing in the object or array that closing ends, or
// behind it when there is none.
func (c *Cursor) More(closing byte) bool { return c.s.want == "" && c.s.more(closing) }

// Name passes a member's name and stops at its value.
func (c *Cursor) Name() {
	c.keyAt, c.keyEnd, c.escaped = 0, 0, false
	if at := c.s.i + 1; c.s.want == "" && c.s.text() {
		c.keyAt, c.keyEnd = at, c.s.i-1
		c.escaped = bytes.IndexByte(c.Key(), '\\') >= 0
		c.s.colon()
	}
}

// Key is the member's name as it is written, quotes excluded.
func (c *Cursor) Key() []byte { return c.s.b[c.keyAt:c.keyEnd] }

// Is reports whether the member's name is name, however it is escaped.
func (c *Cursor) Is(name string) bool {
	if !c.escaped {
		return string(c.Key()) == name
	}
	return c.Text() == name
}

// Text is the member's name, "" when its escapes make no text.
func (c *Cursor) Text() string {
	if !c.escaped {
		return string(c.Key())
	}
	return String(c.s.b[c.keyAt-1 : c.keyEnd+1])
}

// Value passes the value at hand and returns it as it is written, or as much of
// it as there is.
func (c *Cursor) Value() []byte {
	if c.Kind() == 0 {
		return nil
	}
	at := c.s.i
	c.s.value()
	return c.s.b[at:min(c.s.i, len(c.s.b))]
}

// Offset is how far the cursor has come.
func (c *Cursor) Offset() int { return min(c.s.i, len(c.s.b)) }
