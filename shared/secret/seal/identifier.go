package seal

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/daead/subtle"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Identifiers turns what an identifier stands for into the identifier: text
// for URLs that tells nothing, cannot be made or changed by others, and is the
// same each time (AES-SIV, RFC 5297, with keys derived from the keyring's). It
// is frozen and safe for concurrent use.
type Identifiers struct{ keys []*subtle.AESSIV } // the primary first

// identifierPurpose keeps these keys apart from all else that may ever be
// derived from the keyring.
const identifierPurpose = "signalbox identifiers 1"

// Identifiers derives the keys. After a rotation, identifiers that were made
// before are still read.
func (k *Keyring) Identifiers() (*Identifiers, error) {
	memory := &keyset.MemReaderWriter{}
	if err := insecurecleartextkeyset.Write(k.handle, memory); err != nil {
		return nil, fmt.Errorf("read the keyring: %w", err)
	}
	out := &Identifiers{}
	for _, key := range memory.Keyset.GetKey() {
		derived, err := hkdf.Key(sha256.New, key.GetKeyData().GetValue(), nil, identifierPurpose, subtle.AESSIVKeySize)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		siv, err := subtle.NewAESSIV(derived)
		if err != nil {
			return nil, fmt.Errorf("use a derived key: %w", err)
		}
		if key.GetKeyId() == memory.Keyset.GetPrimaryKeyId() {
			out.keys = append([]*subtle.AESSIV{siv}, out.keys...)
		} else {
			out.keys = append(out.keys, siv)
		}
	}
	return out, nil
}

// Make returns the identifier of value for the associated data, which Read
// must be given again.
func (i *Identifiers) Make(value []byte, associated ...string) (string, error) {
	sealed, err := i.keys[0].EncryptDeterministically(value, bind(associated))
	if err != nil {
		return "", fmt.Errorf("make an identifier: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Read returns what an identifier stands for, or ErrOpen.
func (i *Identifiers) Read(identifier string, associated ...string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(identifier)
	if err != nil {
		return nil, ErrOpen
	}
	for _, key := range i.keys {
		if value, err := key.DecryptDeterministically(sealed, bind(associated)); err == nil {
			return value, nil
		}
	}
	return nil, ErrOpen
}
