package secret

import (
	"fmt"
	"io"
	"strings"
)

const signingPrefix = "sb_whsec_"

// NewSigning makes a secret that signs what is sent to others, from 256 random
// bits of rnd: sb_whsec_<43 characters>. The whole text is the key.
func NewSigning(rnd io.Reader) (String, error) {
	var raw [32]byte
	if _, err := io.ReadFull(rnd, raw[:]); err != nil {
		return String{}, fmt.Errorf("read randomness for a signing secret: %w", err)
	}
	return NewString(signingPrefix + base62(raw)), nil
}

// Issued reports whether text is a secret that the product makes and shows
// once: a credential, or what signs.
func Issued(text string) bool {
	if rest, ok := strings.CutPrefix(text, signingPrefix); ok {
		return len(rest) == secretLen && only(rest, secretAlphabet)
	}
	_, err := ParseToken(text)
	return err == nil
}
