// Package rawform owns the reading of multipart/form-data by offsets: the
// parts of a form where they stand in the body, so that one field can be
// replaced and every other byte, files of many megabytes above all, stays where
// it is. It checks the grammar (RFC 7578 over RFC 2046) more strictly than most
// servers do: a form that two of them could read differently is refused. It
// knows nothing of what a form means.
package rawform

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Bounds of a form.
const (
	MaxParts       = 256
	MaxBoundary    = 70 // bytes, as in RFC 2046
	MaxHeaderBytes = 8 << 10
)

// Part is one field or file of a form.
type Part struct {
	Name     string
	Filename string
	File     bool   // a file name was given, empty or not
	Type     string // content type as it was written; "" when none was
	// Start and End are where the value stands in the body.
	Start, End int

	at int // of the boundary before the part
}

// Value is the part's value in the body that it was read from.
func (p *Part) Value(body []byte) []byte { return body[p.Start:p.End] }

// Base is the name up to its first bracket, by which clients tell the members
// of an object or array apart: "metadata" of "metadata[tier]".
func (p *Part) Base() string {
	base, _, _ := strings.Cut(p.Name, "[")
	return base
}

// Parse returns the parts of a form in their order.
func Parse(body []byte, boundary string) ([]Part, *SyntaxError) {
	if !isBoundary(boundary) {
		return nil, &SyntaxError{Want: "the boundary must have 1 to 70 letters, digits or one of '()+_,-./:=?"}
	}
	p := parser{body: body, line: []byte("\n--" + boundary)}
	parts, ok := p.form()
	if !ok || !p.nothing() {
		return nil, &SyntaxError{Offset: p.i, Want: p.want}
	}
	return parts, nil
}

// isBoundary checks the characters of RFC 2046, section 5.1.1. A space, which
// it allows inside, is left out: parsers disagree on it.
func isBoundary(b string) bool {
	for _, c := range []byte(b) {
		if !isAlphanumeric(c) && strings.IndexByte("'()+_,-./:=?", c) < 0 {
			return false
		}
	}
	return b != "" && len(b) <= MaxBoundary
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// parser moves over a form. It stops for good where the grammar ends.
type parser struct {
	body []byte
	line []byte // line feed, two dashes and the boundary
	i    int
	want string
}

func (p *parser) fail(want string) bool {
	p.want = want
	return false
}

// form reads all parts and passes the last boundary.
func (p *parser) form() (parts []Part, ok bool) {
	p.i = begin(p.body)
	if !bytes.HasPrefix(p.body[p.i:], p.line[1:]) {
		return nil, p.fail("expected the first boundary")
	}
	for {
		at := p.i
		last, ok := p.boundary()
		switch {
		case !ok:
			return nil, false
		case last:
			return parts, true
		case len(parts) == MaxParts:
			return nil, p.fail("more than 256 parts")
		}
		part := Part{at: at}
		if !p.headers(&part) || !p.value(&part) {
			return nil, false
		}
		parts = append(parts, part)
	}
}

var crlf = []byte("\r\n")

// begin is where the first boundary is to stand: some clients send a line
// break before it.
func begin(body []byte) int {
	if bytes.HasPrefix(body, crlf) {
		return len(crlf)
	}
	return 0
}

// boundary passes a boundary's line, which starts here, and tells whether it
// was the last one.
func (p *parser) boundary() (last, ok bool) {
	p.i += len(p.line) - 1
	if bytes.HasPrefix(p.body[p.i:], []byte("--")) {
		p.i += 2
		return true, true
	}
	for p.i < len(p.body) && (p.body[p.i] == ' ' || p.body[p.i] == '\t') {
		p.i++
	}
	if !bytes.HasPrefix(p.body[p.i:], crlf) {
		return false, p.fail("expected the end of a boundary's line")
	}
	p.i += len(crlf)
	return false, true
}

// nothing checks that nothing stands behind the last boundary.
func (p *parser) nothing() bool {
	for ; p.i < len(p.body); p.i++ {
		if c := p.body[p.i]; c != '\r' && c != '\n' && c != ' ' && c != '\t' {
			return p.fail("unexpected text after the last boundary")
		}
	}
	return true
}

// value finds the end of a part's value, and stops at the boundary behind it.
func (p *parser) value(part *Part) bool {
	part.Start = p.i
	if bytes.HasPrefix(p.body[p.i:], p.line[1:]) {
		return p.fail("expected a line break before a boundary")
	}
	n := bytes.Index(p.body[p.i:], p.line)
	switch {
	case n < 0:
		p.i = len(p.body)
		return p.fail("unexpected end: the last boundary is missing")
	case n == 0 || p.body[p.i+n-1] != '\r':
		p.i += n
		return p.fail("a boundary after a bare line feed")
	}
	part.End = p.i + n - 1
	p.i += n + 1
	if !part.File && !utf8.Valid(part.Value(p.body)) {
		p.i = part.Start
		return p.fail("a field that is not valid UTF-8; a file needs a filename")
	}
	return true
}
