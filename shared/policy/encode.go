package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Failures of decoding. A gateway that meets one keeps what it has.
var (
	ErrDigest = errors.New("body does not match its digest")
	ErrSchema = errors.New("unsupported schema version")
)

// Encode writes v, a Snapshot or a catalog, as its body and returns the
// body's digest. Equal values give equal bytes.
func Encode(v any) (body []byte, digest string, err error) {
	body, err = json.Marshal(v)
	if err != nil {
		return nil, "", fmt.Errorf("encode published body: %w", err)
	}
	return body, Digest(body), nil
}

// Digest is the hex SHA-256 of a body.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// DecodeSnapshot verifies digest and schema and reads a snapshot. Unknown
// members are ignored: a newer control plane may add some within a schema, if
// nothing is let through by who does not know them.
func DecodeSnapshot(body []byte, digest string) (Snapshot, error) {
	if Digest(body) != digest {
		return Snapshot{}, ErrDigest
	}
	var s Snapshot
	if err := json.Unmarshal(body, &s); err != nil {
		return Snapshot{}, fmt.Errorf("decode snapshot: %w", err)
	}
	if s.Schema < Schema || s.Schema > newestSnapshot {
		return Snapshot{}, fmt.Errorf("%w: snapshot has %d, want %d to %d", ErrSchema, s.Schema, Schema, newestSnapshot)
	}
	return s, nil
}

// DecodeKey reads a key document and verifies its schema.
func DecodeKey(body []byte) (Key, error) {
	var k Key
	if err := json.Unmarshal(bytes.TrimSpace(body), &k); err != nil {
		return Key{}, fmt.Errorf("decode key document: %w", err)
	}
	if k.Schema < Schema || k.Schema > newestKey {
		return Key{}, fmt.Errorf("%w: key document has %d, want %d to %d", ErrSchema, k.Schema, Schema, newestKey)
	}
	return k, nil
}
