package rawjson

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may nest.
const MaxDepth = 256

// SyntaxError says where a text stops being JSON. Its message never repeats
// the text.
type SyntaxError struct {
	Offset int // bytes from the start
	Line   int // from 1
	Column int // bytes from the start of the line, from 1
	Want   string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at line %d, column %d (byte %d)", e.Want, e.Line, e.Column, e.Offset)
}

// scanner moves over JSON. It stops for good where the grammar ends and keeps
// what it wanted there, so that a failure costs nothing until it is asked for.
type scanner struct {
	b     []byte
	i     int
	depth int
	want  string // "" while all is well
}

func (s *scanner) fail(want string) bool {
	s.want = want
	return false
}

func (s *scanner) syntaxError() *SyntaxError {
	e := &SyntaxError{Offset: s.i, Line: 1, Column: 1, Want: s.want}
	for _, c := range s.b[:min(s.i, len(s.b))] {
		e.Column++
		if c == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

// value passes one value, which starts here.
func (s *scanner) value() bool {
	if s.i >= len(s.b) {
		return s.fail("unexpected end")
	}
	switch c := s.b[s.i]; {
	case c == '"':
		return s.text()
	case c == '{':
		return s.members()
	case c == '[':
		return s.elements()
	case c == '-' || isDigit(c):
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.fail("expected a value")
}

func (s *scanner) members() bool {
	for more := s.enter('}'); more; more = s.more('}') {
		if !s.text() || !s.colon() || !s.value() {
			return false
		}
	}
	return s.want == ""
}

func (s *scanner) elements() bool {
	for more := s.enter(']'); more; more = s.more(']') {
		if !s.value() {
			return false
		}
	}
	return s.want == ""
}

// enter passes an opening bracket and stops at the first thing inside, or
// behind the closing one when there is none.
func (s *scanner) enter(closing byte) bool {
	if s.depth++; s.depth > MaxDepth {
		return s.fail("nesting deeper than 256 levels")
	}
	s.i++
	s.space()
	if s.at(closing) {
		s.i++
		s.depth--
		return false
	}
	return closing == ']' || s.atName()
}

// more passes what follows a thing inside brackets: a comma, and stops at the
// next thing, or the closing bracket.
func (s *scanner) more(closing byte) bool {
	s.space()
	switch {
	case s.at(','):
		s.i++
		s.space()
		return closing == ']' || s.atName()
	case s.at(closing):
		s.i++
		s.depth--
		return false
	case closing == '}':
		return s.fail("expected ',' or '}'")
	}
	return s.fail("expected ',' or ']'")
}

func (s *scanner) atName() bool {
	return s.at('"') || s.fail("expected a member name in double quotes")
}

func (s *scanner) colon() bool {
	s.space()
	if !s.at(':') {
		return s.fail("expected ':'")
	}
	s.i++
	s.space()
	return true
}

// text passes a string from its opening quote, eight bytes at a time up to the
// next quote, backslash or control character. Bytes that are not UTF-8 pass,
// as encoding/json lets them.
func (s *scanner) text() bool {
	b, i := s.b, s.i+1
	for {
		for i+8 <= len(b) {
			m := marks(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			s.i = i
			return s.fail("unexpected end inside a string")
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				s.i = i
				return s.fail("invalid escape in a string")
			}
			i += n
		case c < ' ':
			s.i = i
			return s.fail("unescaped control character in a string")
		default:
			i++
		}
	}
}

// marks sets the high bit of bytes that end or interrupt a string: the usual
// zero-byte trick for '"' and '\\', and a borrow test for controls. Only the
// lowest mark is sure, since borrows run upwards from it.
func marks(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	found := (quote - ones) &^ quote
	found |= (slash - ones) &^ slash
	found |= (w - ones*' ') &^ w
	return found & highs
}

// escape returns the length of the escape at the start of p, 0 when invalid.
func escape(p []byte) int {
	if len(p) < 2 {
		return 0
	}
	switch p[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(p) < 6 {
			return 0
		}
		for _, c := range p[2:6] {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

func (s *scanner) number() bool {
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.at('0') {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.at('.') {
		s.i++
		if !s.digits() {
			return false
		}
	}
	if s.at('e') || s.at('E') {
		s.i++
		if s.at('+') || s.at('-') {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
	}
	return s.i > start || s.fail("expected a digit")
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return s.fail("expected a value")
	}
	s.i += len(w)
	return true
}

func (s *scanner) at(c byte) bool { return s.i < len(s.b) && s.b[s.i] == c }

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// firstInvalid returns the offset of the first byte that is not UTF-8.
func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n < 2 {
			return i
		}
		i += n
	}
	return len(text)
}
