// Package secret owns values that must not be seen: strings that redact
// themselves in every way Go can print them, sealed ciphertext, and the
// credentials that the product issues. It knows nothing of where they are used.
package secret

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// String is text that redacts itself when logged, printed or marshaled. A
// LogValue method alone leaks when the value is nested in a logged struct, so
// every way out is covered: each verb of fmt by Format, and unexported fields,
// on which fmt calls no methods, by holding the text behind a pointer, which
// fmt prints as an address. Only Reveal gives the text. Values are not
// comparable with ==, and two of the same text would not be equal.
type String struct {
	_    [0]func() // forbids ==
	text *string
}

// NewString wraps text.
func NewString(text string) String { return String{text: &text} }

// Reveal returns the text. Its callers are listed in a test.
func (s String) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no text.
func (s String) IsZero() bool { return s.text == nil || *s.text == "" }

// Format implements fmt.Formatter by redacting under every verb.
func (s String) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String implements fmt.Stringer by redacting.
func (s String) String() string { return redacted }

// GoString implements fmt.GoStringer by redacting.
func (s String) GoString() string { return redacted }

// LogValue implements slog.LogValuer by redacting.
func (s String) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler by redacting: a secret that
// must be stored or sent travels as Sealed.
func (s String) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// UnmarshalText reads configuration.
func (s *String) UnmarshalText(text []byte) error {
	*s = NewString(string(text))
	return nil
}
