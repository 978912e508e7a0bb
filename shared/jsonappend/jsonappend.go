// Package jsonappend owns writing JSON by hand, for the few types that every
// request writes: encoding/json costs ten times as much there. Whoever uses it
// has a test that compares its output with encoding/json's, member by member.
package jsonappend

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Buffer is JSON that is being written. Members and elements put their own
// comma: whether one is due shows in the last byte.
type Buffer []byte

// Open begins an object or an array: '{' or '['.
func (b *Buffer) Open(bracket byte) { *b = append(*b, bracket) }

// Close ends it: '}' or ']'.
func (b *Buffer) Close(bracket byte) { *b = append(*b, bracket) }

// Next puts the comma before an element of an array, if one is due.
func (b *Buffer) Next() {
	if n := len(*b); n > 0 && (*b)[n-1] != '[' && (*b)[n-1] != '{' {
		*b = append(*b, ',')
	}
}

// Name begins a member. The name must need no escapes.
func (b *Buffer) Name(name string) {
	b.Next()
	*b = append(append(append(*b, '"'), name...), '"', ':')
}

// String writes a string member.
func (b *Buffer) String(name, v string) {
	b.Name(name)
	*b = AppendString(*b, v)
}

// StringIf writes a string member unless it is empty.
func (b *Buffer) StringIf(name, v string) {
	if v != "" {
		b.String(name, v)
	}
}

// Int writes a number.
func (b *Buffer) Int(name string, v int64) {
	b.Name(name)
	*b = strconv.AppendInt(*b, v, 10)
}

// IntIf writes a number unless it is zero.
func (b *Buffer) IntIf(name string, v int64) {
	if v != 0 {
		b.Int(name, v)
	}
}

// Uint writes a number.
func (b *Buffer) Uint(name string, v uint64) {
	b.Name(name)
	*b = strconv.AppendUint(*b, v, 10)
}

// Float writes a number; what JSON cannot say becomes 0.
func (b *Buffer) Float(name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	b.Name(name)
	*b = strconv.AppendFloat(*b, v, 'g', -1, 64)
}

// FloatIf writes a number unless it is zero.
func (b *Buffer) FloatIf(name string, v float64) {
	if v != 0 {
		b.Float(name, v)
	}
}

// Bool writes a boolean.
func (b *Buffer) Bool(name string, v bool) {
	b.Name(name)
	*b = strconv.AppendBool(*b, v)
}

// BoolIf writes a boolean that is true.
func (b *Buffer) BoolIf(name string, v bool) {
	if v {
		b.Bool(name, v)
	}
}

// Time writes a time as encoding/json does.
func (b *Buffer) Time(name string, v time.Time) {
	b.Name(name)
	*b = append(*b, '"')
	*b = v.AppendFormat(*b, time.RFC3339Nano)
	*b = append(*b, '"')
}

// Text writes a member whose text appends itself and needs no escapes, such as
// an id.
func Text[T interface{ AppendTo(dst []byte) []byte }](b *Buffer, name string, v T) {
	b.Name(name)
	*b = append(*b, '"')
	*b = v.AppendTo(*b)
	*b = append(*b, '"')
}

// TextsIf writes a list of texts that need no escaping, unless it is empty.
func TextsIf[T interface{ AppendTo(dst []byte) []byte }](b *Buffer, name string, list []T) {
	if len(list) == 0 {
		return
	}
	b.Name(name)
	b.Open('[')
	for i := range list {
		b.Next()
		*b = append(list[i].AppendTo(append(*b, '"')), '"')
	}
	b.Close(']')
}

// Strings writes an array of strings unless it is empty.
func (b *Buffer) Strings(name string, v []string) {
	if len(v) == 0 {
		return
	}
	b.Name(name)
	b.Open('[')
	for _, s := range v {
		b.Next()
		*b = AppendString(*b, s)
	}
	b.Close(']')
}

// Raw writes a member that is JSON already, unless it is empty.
func (b *Buffer) Raw(name string, v []byte) {
	if len(v) > 0 {
		b.Name(name)
		*b = append(*b, v...)
	}
}

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as
// with encoding/json.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		case c >= ' ' && c != '"' && c != '\\':
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		if c == '"' || c == '\\' {
			dst = append(dst, '\\', c)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
