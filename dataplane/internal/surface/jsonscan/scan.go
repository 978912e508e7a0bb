// Package jsonscan owns the one pass over a request's JSON body: it checks the
// whole text against RFC 8259, bounds its depth, and hands out the members of
// the top-level object as the bytes they are. It knows nothing of what the
// members mean, and it decodes nothing.
package jsonscan

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
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

// Object checks that data is one JSON object and calls visit for each of its
// members in order, with the key as written between its quotes and the value
// as written. A key that comes twice is visited twice: the last one wins.
func Object(data []byte, visit func(key, value []byte)) error {
	s := scanner{data: data}
	if err := s.object(visit); err != nil {
		return err
	}
	return nil
}

type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) object(visit func(key, value []byte)) *SyntaxError {
	s.space()
	if s.pos >= len(s.data) || s.data[s.pos] != '{' {
		return s.fail("expected a JSON object")
	}
	if err := s.members(visit); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.fail("unexpected text after the JSON object")
	}
	if !utf8.Valid(s.data) {
		s.pos = firstInvalid(s.data)
		return s.fail("invalid UTF-8")
	}
	return nil
}

// members reads an object; visit may be nil.
func (s *scanner) members(visit func(key, value []byte)) *SyntaxError {
	if err := s.descend(); err != nil {
		return err
	}
	if s.next() == '}' {
		s.ascend()
		return nil
	}
	for {
		if s.next() != '"' {
			return s.fail("expected a member name in double quotes")
		}
		start := s.pos + 1
		if err := s.text(); err != nil {
			return err
		}
		key := s.data[start : s.pos-1]
		if s.next() != ':' {
			return s.fail("expected ':'")
		}
		s.pos++
		s.space()
		start = s.pos
		if err := s.value(); err != nil {
			return err
		}
		if visit != nil {
			visit(key, s.data[start:s.pos])
		}
		switch s.next() {
		case ',':
			s.pos++
		case '}':
			s.ascend()
			return nil
		default:
			return s.fail("expected ',' or '}'")
		}
	}
}

func (s *scanner) elements() *SyntaxError {
	if err := s.descend(); err != nil {
		return err
	}
	if s.next() == ']' {
		s.ascend()
		return nil
	}
	for {
		s.space()
		if err := s.value(); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.ascend()
			return nil
		default:
			return s.fail("expected ',' or ']'")
		}
	}
}

func (s *scanner) value() *SyntaxError {
	if s.pos >= len(s.data) {
		return s.fail("unexpected end")
	}
	switch c := s.data[s.pos]; {
	case c == '"':
		return s.text()
	case c == '{':
		return s.members(nil)
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

// text reads a string from its opening quote. Eight bytes are passed at a
// time while none of them is a quote, a backslash or a control character.
func (s *scanner) text() *SyntaxError {
	i := s.pos + 1
	for {
		for i+8 <= len(s.data) && plain(binary.LittleEndian.Uint64(s.data[i:])) {
			i += 8
		}
		if i >= len(s.data) {
			s.pos = i
			return s.fail("unexpected end inside a string")
		}
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c == '\\':
			n := escape(s.data[i:])
			if n == 0 {
				s.pos = i
				return s.fail("invalid escape in a string")
			}
			i += n
		case c < ' ':
			s.pos = i
			return s.fail("unescaped control character in a string")
		default:
			i++
		}
	}
}

// plain reports whether none of the eight bytes ends or interrupts a string:
// the usual zero-byte trick for '"' and '\\', and a borrow test for controls.
func plain(w uint64) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := w ^ ones*'"'
	slash := w ^ ones*'\\'
	found := (quote - ones) &^ quote
	found |= (slash - ones) &^ slash
	found |= (w - ones*' ') &^ w
	return found&highs == 0
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

func (s *scanner) number() *SyntaxError {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case !s.digits():
		return s.fail("expected a digit")
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return s.fail("expected a digit")
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if !s.digits() {
			return s.fail("expected a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) word(w string) *SyntaxError {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		return s.fail("expected a value")
	}
	s.pos += len(w)
	return nil
}

func (s *scanner) descend() *SyntaxError {
	if s.depth++; s.depth > MaxDepth {
		return s.fail(fmt.Sprintf("nesting deeper than %d levels", MaxDepth))
	}
	s.pos++
	return nil
}

func (s *scanner) ascend() { s.depth--; s.pos++ }

// next skips white space and returns the byte there, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) fail(want string) *SyntaxError {
	e := &SyntaxError{Offset: s.pos, Line: 1, Column: 1, Want: want}
	for _, c := range s.data[:min(s.pos, len(s.data))] {
		e.Column++
		if c == '\n' {
			e.Line, e.Column = e.Line+1, 1
		}
	}
	return e
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n < 2 {
			return i
		}
		i += n
	}
	return len(data)
}
