package secret

// Sealed is ciphertext that only a holder of the keyring can open, together
// with the associated data it was sealed for. It may be stored and sent; the
// associated data is given again by the opener and is not part of it.
type Sealed []byte

// IsZero reports whether nothing is sealed.
func (s Sealed) IsZero() bool { return len(s) == 0 }
