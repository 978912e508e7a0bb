// Package id owns the typed identifiers of the product: a short prefix that
// names the kind and a UUIDv7 written in 26 characters of Crockford base32,
// as in "ws_01kb7n0z1v8q5r2m3t4w5x6y7z". It knows nothing of what the
// identified things are.
package id

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Kind is implemented by the marker type of each identifier kind.
type Kind interface {
	// Prefix is the text before the underscore, in lower case.
	Prefix() string
}

// ID is an identifier of one kind. The zero value means "none" and is written
// as the empty string.
type ID[K Kind] struct {
	u uuid.UUID
}

// ErrMalformed is wrapped by every parse failure. Its text never repeats the
// submitted value.
var ErrMalformed = errors.New("malformed id")

// alphabet is Crockford's base32 in lower case: no i, l, o, u.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const encodedLen = 26 // 128 bits in 5-bit digits; the first digit holds 3 bits

// FromUUID gives u the kind K.
func FromUUID[K Kind](u uuid.UUID) ID[K] { return ID[K]{u: u} }

// Parse reads the written form. Only the exact prefix and lower-case digits
// are accepted, so that one identifier has one spelling.
func Parse[K Kind](text string) (ID[K], error) {
	var k K
	prefix := k.Prefix()
	rest, ok := strings.CutPrefix(text, prefix+"_")
	if !ok || len(rest) != encodedLen {
		return ID[K]{}, fmt.Errorf("%w: want %s_ and %d characters", ErrMalformed, prefix, encodedLen)
	}
	u, ok := decode(rest)
	if !ok || u == uuid.Nil { // "none" is written as the empty string
		return ID[K]{}, fmt.Errorf("%w: want %s_ and %d base32 characters", ErrMalformed, prefix, encodedLen)
	}
	return ID[K]{u: u}, nil
}

// MustParse is Parse for constants in tests and tools; it panics on bad input.
func MustParse[K Kind](text string) ID[K] {
	v, err := Parse[K](text)
	if err != nil {
		panic(err)
	}
	return v
}

// UUID returns the identifier without its kind, as the database stores it.
func (v ID[K]) UUID() uuid.UUID { return v.u }

// IsZero reports whether the identifier means "none".
func (v ID[K]) IsZero() bool { return v.u == uuid.Nil }

// Time returns the creation time inside the UUIDv7, in milliseconds precision.
func (v ID[K]) Time() time.Time {
	ms := int64(v.u[0])<<40 | int64(v.u[1])<<32 | int64(v.u[2])<<24 |
		int64(v.u[3])<<16 | int64(v.u[4])<<8 | int64(v.u[5])
	return time.UnixMilli(ms).UTC()
}

// String returns the written form, or "" for the zero value.
func (v ID[K]) String() string {
	if v.IsZero() {
		return ""
	}
	var k K
	prefix := k.Prefix()
	buf := make([]byte, 0, len(prefix)+1+encodedLen)
	return string(v.AppendTo(buf))
}

// Texts writes each id of a list.
func Texts[K Kind](ids []ID[K]) []string {
	texts := make([]string, len(ids))
	for i, one := range ids {
		texts[i] = one.String()
	}
	return texts
}

// AppendTo appends the written form, nothing for the zero value.
func (v ID[K]) AppendTo(dst []byte) []byte {
	if v.IsZero() {
		return dst
	}
	var k K
	dst = append(dst, k.Prefix()...)
	dst = append(dst, '_')
	return AppendUUID(dst, v.u)
}

// MarshalText writes the written form.
func (v ID[K]) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the written form; empty text is the zero value.
func (v *ID[K]) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = ID[K]{}
		return nil
	}
	parsed, err := Parse[K](string(text))
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// AppendUUID appends what identifiers have after their kind: 26 digits, five bits
// each from the right, of which the first has the three that are left. Ids are
// written several times for each request.
func AppendUUID(dst []byte, u uuid.UUID) []byte {
	hi, lo := binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
	var digits [encodedLen]byte
	for i := encodedLen - 1; i >= 0; i-- {
		digits[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return append(dst, digits[:]...)
}

func decode(text string) (uuid.UUID, bool) {
	var u uuid.UUID
	for i := range encodedLen {
		digit := strings.IndexByte(alphabet, text[i])
		if digit < 0 || (i == 0 && digit > 7) {
			return uuid.Nil, false
		}
		for b := range 5 {
			pos := i*5 + b - 2
			if pos >= 0 && digit>>(4-b)&1 == 1 {
				u[pos/8] |= 1 << (7 - pos%8)
			}
		}
	}
	return u, true
}
