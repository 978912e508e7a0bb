package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// TokenKind tells an inference credential from a management credential.
type TokenKind int

// The kinds of credential and their prefixes: sb_v1_<kid>_<secret> and
// sb_mk_v1_<kid>_<secret>.
const (
	Inference TokenKind = iota + 1
	Management
)

const (
	inferencePrefix  = "sb_v1_"
	managementPrefix = "sb_mk_v1_"

	kidLen    = 16 // base32 characters, 80 bits
	secretLen = 43 // base62 characters, 256 bits
)

const (
	kidAlphabet    = "0123456789abcdefghjkmnpqrstvwxyz"
	secretAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// ErrTokenFormat is returned for text that cannot be a credential. It never
// repeats the text.
var ErrTokenFormat = errors.New("not a Signalbox key: want sb_v1_… or sb_mk_v1_…")

// Hash is the SHA-256 of a token's secret part. The secret has 256 random
// bits, so a fast hash is right: there is nothing to guess, and a slow one
// would only cost the request path.
type Hash [sha256.Size]byte

// Token is a credential taken apart.
type Token struct {
	Kind   TokenKind
	KID    string
	secret String
}

// NewToken makes a credential from 336 random bits of rnd.
func NewToken(rnd io.Reader, kind TokenKind) (Token, error) {
	var kid [kidLen]byte
	if _, err := io.ReadFull(rnd, kid[:]); err != nil {
		return Token{}, fmt.Errorf("read randomness for a key id: %w", err)
	}
	for i, b := range kid {
		kid[i] = kidAlphabet[b&31]
	}
	var raw [32]byte
	if _, err := io.ReadFull(rnd, raw[:]); err != nil {
		return Token{}, fmt.Errorf("read randomness for a secret: %w", err)
	}
	return Token{Kind: kind, KID: string(kid[:]), secret: NewString(base62(raw))}, nil
}

// Renewed keeps the kid and replaces the secret, as rotation does.
func (t Token) Renewed(rnd io.Reader) (Token, error) {
	fresh, err := NewToken(rnd, t.Kind)
	if err != nil {
		return Token{}, err
	}
	fresh.KID = t.KID
	return fresh, nil
}

// ParseToken takes a credential apart.
func ParseToken(text string) (Token, error) {
	kind := Inference
	rest, ok := strings.CutPrefix(text, inferencePrefix)
	if !ok {
		kind = Management
		if rest, ok = strings.CutPrefix(text, managementPrefix); !ok {
			return Token{}, ErrTokenFormat
		}
	}
	if len(rest) != kidLen+1+secretLen || rest[kidLen] != '_' {
		return Token{}, ErrTokenFormat
	}
	kid, sec := rest[:kidLen], rest[kidLen+1:]
	if !only(kid, kidAlphabet) || !only(sec, secretAlphabet) {
		return Token{}, ErrTokenFormat
	}
	return Token{Kind: kind, KID: kid, secret: NewString(sec)}, nil
}

// ValidKID reports whether text has the form of a kid, so that it is safe as
// part of a subject or a bucket key.
func ValidKID(text string) bool { return len(text) == kidLen && only(text, kidAlphabet) }

// Plaintext is the credential as the caller must send it. It is shown once.
func (t Token) Plaintext() String {
	prefix := inferencePrefix
	if t.Kind == Management {
		prefix = managementPrefix
	}
	return NewString(prefix + t.KID + "_" + t.secret.Reveal())
}

// Hash is what is stored.
func (t Token) Hash() Hash { return sha256.Sum256([]byte(t.secret.Reveal())) }

// Suffix is the last four characters, enough for a person to tell keys apart.
func (t Token) Suffix() string {
	text := t.secret.Reveal()
	return text[max(0, len(text)-4):]
}

// Matches compares in constant time.
func (t Token) Matches(h Hash) bool {
	own := t.Hash()
	return subtle.ConstantTimeCompare(own[:], h[:]) == 1
}

// String redacts the secret part and keeps the kid, which is not secret.
func (t Token) String() string { return t.KID + "_" + redacted }

// Format implements fmt.Formatter by redacting under every verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// GoString redacts like String.
func (t Token) GoString() string { return t.String() }

func only(s, alphabet string) bool {
	for i := range len(s) {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	return true
}

func base62(raw [32]byte) string {
	n := new(big.Int).SetBytes(raw[:])
	base, digit := big.NewInt(62), new(big.Int)
	out := make([]byte, secretLen)
	for i := secretLen - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = secretAlphabet[digit.Int64()]
	}
	return string(out)
}
