// Package seal owns the keyring that seals secrets for storage and transport:
// AES-256-GCM by Tink, a key id in every ciphertext, so that keys rotate
// while old ciphertext still opens. It knows nothing of what the secrets are.
package seal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Failures. Their texts hold neither plaintext nor key material.
var (
	// ErrOpen: the ciphertext was changed, was sealed for other associated
	// data, or by a key that the keyring does not have.
	ErrOpen = errors.New("cannot open the sealed value with this keyring")
	// ErrUnknownKey: an ErrOpen because the keyring does not have the key that
	// sealed, which it may get yet.
	ErrUnknownKey = fmt.Errorf("%w: it was sealed by a key that the keyring does not have", ErrOpen)
	// ErrKeyring: the text or file is not a keyring.
	ErrKeyring = errors.New("not a keyring")
)

// Keyring seals with its primary key and opens with any of its keys. It is
// frozen and safe for concurrent use.
type Keyring struct {
	handle *keyset.Handle
	aead   tink.AEAD
}

// New returns a keyring with one fresh key.
func New() (*Keyring, error) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a keyring: %w", err)
	}
	return fromHandle(handle)
}

func fromHandle(handle *keyset.Handle) (*Keyring, error) {
	primitive, err := aead.New(handle)
	if err != nil {
		return nil, fmt.Errorf("%w: no usable keys for authenticated encryption", ErrKeyring)
	}
	return &Keyring{handle: handle, aead: primitive}, nil
}

// Seal encrypts plain. The same associated data, in the same order, must be
// given to Open: it binds the ciphertext to what it is for, so that one
// provider's credential cannot be passed off as another's.
func (k *Keyring) Seal(plain secret.String, associated ...string) (secret.Sealed, error) {
	sealed, err := k.aead.Encrypt([]byte(plain.Reveal()), bind(associated))
	if err != nil {
		return nil, fmt.Errorf("seal a secret: %w", err)
	}
	return sealed, nil
}

// Open decrypts what Seal made.
func (k *Keyring) Open(sealed secret.Sealed, associated ...string) (secret.String, error) {
	plain, err := k.aead.Decrypt(sealed, bind(associated))
	if err == nil {
		return secret.NewString(string(plain)), nil
	}
	if by, ok := SealedBy(sealed); ok && !slices.Contains(k.IDs(), by) {
		return secret.String{}, fmt.Errorf("%w (key %d)", ErrUnknownKey, by)
	}
	return secret.String{}, ErrOpen
}

// Keys is how many keys the keyring has.
func (k *Keyring) Keys() int { return k.handle.Len() }

// Drop returns the keyring without the keys before the one that seals. What
// they sealed cannot be opened with it. Those after it stay: they are appended
// and not promoted yet, and another process may seal with one already.
func (k *Keyring) Drop() (*Keyring, error) {
	manager := keyset.NewManagerFromHandle(k.handle)
	ids := k.IDs()
	for _, older := range ids[:max(0, slices.Index(ids, k.PrimaryID()))] {
		if err := manager.Delete(older); err != nil {
			return nil, fmt.Errorf("drop an old key: %w", err)
		}
	}
	return fromManager(manager)
}

// Append returns the keyring with a fresh key that opens and does not seal
// yet. Give it to every process before Promote.
func (k *Keyring) Append() (*Keyring, error) {
	manager := keyset.NewManagerFromHandle(k.handle)
	if _, err := manager.Add(aead.AES256GCMKeyTemplate()); err != nil {
		return nil, fmt.Errorf("add a key to the keyring: %w", err)
	}
	return fromManager(manager)
}

// Promote returns the keyring with the newest key as the one that seals.
func (k *Keyring) Promote() (*Keyring, error) {
	newest, err := k.handle.Entry(k.handle.Len() - 1)
	if err != nil {
		return nil, fmt.Errorf("find the newest key: %w", err)
	}
	manager := keyset.NewManagerFromHandle(k.handle)
	if err := manager.SetPrimary(newest.KeyID()); err != nil {
		return nil, fmt.Errorf("promote the newest key: %w", err)
	}
	return fromManager(manager)
}

// Rotate is Append and Promote, for a keyring that one process holds.
func (k *Keyring) Rotate() (*Keyring, error) {
	appended, err := k.Append()
	if err != nil {
		return nil, err
	}
	return appended.Promote()
}

func fromManager(manager *keyset.Manager) (*Keyring, error) {
	handle, err := manager.Handle()
	if err != nil {
		return nil, fmt.Errorf("read the changed keyring: %w", err)
	}
	return fromHandle(handle)
}

// String names the keyring without its keys.
func (k *Keyring) String() string {
	return fmt.Sprintf("keyring of %d key(s), primary %d", k.Keys(), k.PrimaryID())
}

// GoString is String: %#v would print key material.
func (k *Keyring) GoString() string { return k.String() }

// bind writes each part with its length, so that ("a", "bc") and ("ab", "c")
// differ.
func bind(parts []string) []byte {
	var out []byte
	for _, part := range parts {
		out = binary.AppendUvarint(out, uint64(len(part)))
		out = append(out, part...)
	}
	return out
}
