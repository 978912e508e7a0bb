package secret

import (
	"encoding/hex"
	"fmt"
)

// IsZero reports whether there is no hash.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText writes 64 hexadecimal digits, or nothing for the zero value.
func (h Hash) MarshalText() ([]byte, error) {
	if h.IsZero() {
		return nil, nil
	}
	return hex.AppendEncode(nil, h[:]), nil
}

// UnmarshalText reads what MarshalText writes.
func (h *Hash) UnmarshalText(text []byte) error {
	*h = Hash{}
	if len(text) == 0 {
		return nil
	}
	if len(text) != 2*len(h) {
		return fmt.Errorf("hash: want %d hexadecimal digits", 2*len(h))
	}
	if _, err := hex.Decode(h[:], text); err != nil {
		return fmt.Errorf("hash: want hexadecimal digits: %w", err)
	}
	return nil
}
