package seal

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/daead/subtle"
)

// Identifiers turns what an identifier stands for into the identifier: text
// for URLs that tells nothing, cannot be made or changed by others, and is the
// same each time (AES-SIV, RFC 5297, with keys derived from the keyring's). It
// is frozen and safe for concurrent use.
type Identifiers struct{ keys []*subtle.AESSIV } // the primary first

// identifierPurpose keeps these keys apart from all else that may ever be
// derived from the keyring.
const identifierPurpose = "signalbox identifiers 1"

// keyMaterial is what is read of a keyset's JSON form
// (https://github.com/tink-crypto/tink/blob/master/proto/tink.proto).
type keyMaterial struct {
	Primary uint32 `json:"primaryKeyId"`
	Keys    []struct {
		ID   uint32 `json:"keyId"`
		Data struct {
			Value []byte `json:"value"`
		} `json:"keyData"`
	} `json:"key"`
}

// Identifiers derives the keys. After a rotation, identifiers that were made
// before are still read.
func (k *Keyring) Identifiers() (*Identifiers, error) {
	text, err := k.json()
	if err != nil {
		return nil, err
	}
	var set keyMaterial
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, ErrKeyring // the error could quote keys
	}
	out := &Identifiers{}
	for _, key := range set.Keys {
		derived, err := hkdf.Key(sha256.New, key.Data.Value, nil, identifierPurpose, subtle.AESSIVKeySize)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		siv, err := subtle.NewAESSIV(derived)
		if err != nil {
			return nil, fmt.Errorf("use a derived key: %w", err)
		}
		if key.ID == set.Primary {
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
