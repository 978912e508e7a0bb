package seal

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/secret"
)

// markLength is of what begins everything that a key seals
// (https://developers.google.com/tink/wire-format): one byte and the key's id.
const (
	markLength = 5
	tinkPrefix = 1
)

// SealedBy is the id of the key that sealed, as the ciphertext says.
func SealedBy(sealed secret.Sealed) (key uint32, ok bool) {
	if len(sealed) < markLength || sealed[0] != tinkPrefix {
		return 0, false
	}
	return binary.BigEndian.Uint32(sealed[1:]), true
}

func markOf(key uint32) []byte { return binary.BigEndian.AppendUint32([]byte{tinkPrefix}, key) }

// IDs are the ids of the keys, the oldest first. They are no secret.
func (k *Keyring) IDs() []uint32 {
	ids := make([]uint32, 0, k.handle.Len())
	for i := range k.handle.Len() {
		if entry, err := k.handle.Entry(i); err == nil { // an index below Len always has one
			ids = append(ids, entry.KeyID())
		}
	}
	return ids
}

// PrimaryID is the id of the key that seals; it is no secret.
func (k *Keyring) PrimaryID() uint32 {
	entry, err := k.handle.Primary()
	if err != nil {
		return 0 // cannot be: fromHandle asked for a primary
	}
	return entry.KeyID()
}

// Mark is what begins everything that the present primary key seals.
func (k *Keyring) Mark() []byte { return markOf(k.PrimaryID()) }

// Marks are what begins everything that need not be sealed anew: by the
// primary key, and by those after it, which another process may have promoted
// already.
func (k *Keyring) Marks() [][]byte {
	ids := k.IDs()
	var marks [][]byte
	for _, key := range ids[max(0, slices.Index(ids, k.PrimaryID())):] {
		marks = append(marks, markOf(key))
	}
	return marks
}

// IsStale reports whether a key before the primary one sealed, or one that the
// keyring does not have.
func (k *Keyring) IsStale(sealed secret.Sealed) bool {
	return !slices.ContainsFunc(k.Marks(), func(mark []byte) bool { return bytes.HasPrefix(sealed, mark) })
}
