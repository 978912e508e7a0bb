package affinity

import (
	"bytes"
	"encoding/binary"
	"hash"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/rawjson"
)

const (
	// hashedBytes bounds what is hashed of one opening: what comes after them,
	// images and files above all, tells nothing apart. Two openings of one
	// workspace that are taken for the same share a pin, which does no harm.
	hashedBytes = 256 << 10
	// passedBytes bounds what is passed over to get that far.
	passedBytes = 64 << 10
	// promptBytes of a prompt that grows with the conversation are its opening:
	// about the 1024 tokens under which no provider caches.
	promptBytes = 4 << 10
)

// What is hashed is told apart by bytes that JSON has nowhere, so that no two
// openings give the same.
const (
	beforeSection byte = iota + 1
	beforeTurn
	beforeText
	beforeName
	beforeValue
)

// digest hashes what stays the same from turn to turn, and leaves out what does
// not: cache marks, which clients move along, ids that come with an echo, and
// whether one text is written as a string or as the only part of a list. It goes
// through an opening once, and no further than it hashes.
type digest struct {
	hash hash.Hash
	buf  []byte // of what is hashed, so that small pieces cost one call
	sum  []byte
	at   rawjson.Cursor
	room int // bytes of the opening that may still be hashed
	ways int // and gone through
}

func newDigest(h hash.Hash) *digest {
	return &digest{hash: h, buf: make([]byte, 0, 512), sum: make([]byte, 0, h.Size())}
}

func (d *digest) reset() {
	d.hash.Reset()
	d.buf = d.buf[:0]
	d.room, d.ways = hashedBytes, hashedBytes+passedBytes
}

// end returns the sum, which holds until the next use.
func (d *digest) end() []byte {
	d.flush()
	d.at = rawjson.Cursor{} // nothing of a request is kept
	d.sum = d.hash.Sum(d.sum[:0])
	return d.sum
}

func (d *digest) flush() {
	d.hash.Write(d.buf)
	d.buf = d.buf[:0]
}

func (d *digest) mark(b byte) {
	if len(d.buf) == cap(d.buf) {
		d.flush()
	}
	d.buf = append(d.buf, b)
}

// name hashes a text of the gateway's own knowledge, in full.
func (d *digest) name(text string) {
	d.mark(beforeName)
	d.buf = binary.AppendUvarint(d.buf, uint64(len(text))) // where it ends no text can say itself
	for len(text) > 0 {
		if len(d.buf) == cap(d.buf) {
			d.flush()
		}
		n := min(len(text), cap(d.buf)-len(d.buf))
		d.buf, text = append(d.buf, text[:n]...), text[n:]
	}
}

// bytes hashes a part of the opening.
func (d *digest) bytes(b []byte) {
	b = b[:min(len(b), d.room)]
	d.room -= len(b)
	if len(b) > cap(d.buf)-len(d.buf) {
		d.flush()
		if len(b) > cap(d.buf) {
			d.hash.Write(b)
			return
		}
	}
	d.buf = append(d.buf, b...)
}

func (d *digest) opening(o *call.Opening) {
	d.begin(o.System)
	d.content(&d.at)
	d.begin(o.Tools)
	d.tools(&d.at)
	if o.Prompt {
		d.mark(beforeSection)
		d.bytes(o.Turns[:min(len(o.Turns), promptBytes)])
		return
	}
	d.begin(o.Turns)
	d.turns(&d.at)
}

// begin goes on to another section.
func (d *digest) begin(value []byte) {
	d.ways -= d.at.Offset()
	d.mark(beforeSection)
	d.at = rawjson.NewCursor(value[:min(len(value), d.ways)])
}

// turns hashes messages up to the first of a user, or a value that stands for
// them.
func (d *digest) turns(c *rawjson.Cursor) {
	if c.Kind() != '[' {
		d.content(c)
		return
	}
	for more := c.Open(); more && d.room > 0; more = c.More(']') {
		if d.turn(c) {
			return
		}
	}
}

// turn hashes one message and reports whether it is a user's. Gemini's need not
// say so.
func (d *digest) turn(c *rawjson.Cursor) (user bool) {
	d.mark(beforeTurn)
	if c.Kind() != '{' {
		d.value(c.Value())
		return false
	}
	var role, parts bool
	for more := c.Open(); more && d.room > 0; more = c.More('}') {
		c.Name()
		switch {
		case c.Is("role"):
			value := c.Value()
			role, user = true, isUser(value)
			d.member(c.Key(), value)
		case c.Is("content"):
			d.content(c)
		case c.Is("parts"):
			parts = true
			d.content(c)
		case volatile(c) || c.Is("type"):
			c.Value()
		default:
			d.member(c.Key(), c.Value())
		}
	}
	return user || parts && !role
}

// content hashes a text, a list of parts, or Gemini's object around one.
func (d *digest) content(c *rawjson.Cursor) {
	switch c.Kind() {
	case '"':
		d.text(c.Value())
	case '[':
		for more := c.Open(); more && d.room > 0; more = c.More(']') {
			d.part(c)
		}
	case '{':
		for more := c.Open(); more && d.room > 0; more = c.More('}') {
			c.Name()
			switch {
			case c.Is("parts"):
				d.content(c)
			case c.Is("role"):
				c.Value()
			default:
				d.member(c.Key(), c.Value())
			}
		}
	default:
		d.value(c.Value())
	}
}

// part hashes one part of a content. That it is text says its text.
func (d *digest) part(c *rawjson.Cursor) {
	switch c.Kind() {
	case '{':
	case '"':
		d.text(c.Value())
		return
	default:
		d.value(c.Value())
		return
	}
	for more := c.Open(); more && d.room > 0; more = c.More('}') {
		c.Name()
		value := c.Value()
		switch {
		case c.Is("text") && rawjson.IsString(value):
			d.text(value)
		case volatile(c), c.Is("type") && isText(value):
		default:
			d.member(c.Key(), value)
		}
	}
}

func (d *digest) tools(c *rawjson.Cursor) {
	if c.Kind() != '[' {
		d.value(c.Value())
		return
	}
	for more := c.Open(); more && d.room > 0; more = c.More(']') {
		d.mark(beforeTurn)
		d.tool(c)
	}
}

// tool hashes one tool, or the function in it.
func (d *digest) tool(c *rawjson.Cursor) {
	if c.Kind() != '{' {
		d.value(c.Value())
		return
	}
	for more := c.Open(); more && d.room > 0; more = c.More('}') {
		c.Name()
		switch {
		case volatile(c):
			c.Value()
		case c.Is("function"):
			d.tool(c)
		default:
			d.member(c.Key(), c.Value())
		}
	}
}

func (d *digest) text(value []byte) {
	d.mark(beforeText)
	d.bytes(value)
}

func (d *digest) value(value []byte) {
	d.mark(beforeValue)
	d.bytes(value)
}

func (d *digest) member(key, value []byte) {
	d.mark(beforeName)
	d.bytes(key)
	d.value(value)
}

// volatile are the members that come and go while the conversation stays the
// same.
func volatile(c *rawjson.Cursor) bool {
	return c.Is("cache_control") || c.Is("prompt_cache_breakpoint") || c.Is("id") || c.Is("status")
}

func isText(value []byte) bool {
	switch string(value) {
	case `"text"`, `"input_text"`:
		return true
	}
	return false
}

func isUser(value []byte) bool {
	return string(value) == `"user"` || bytes.IndexByte(value, '\\') >= 0 && rawjson.String(value) == "user"
}
