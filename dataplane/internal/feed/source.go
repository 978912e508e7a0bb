package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset"
	"github.com/signalbox-dev/signalbox/dataplane/internal/snapshot"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Source reads published documents for the keyring and the snapshot store.
type Source struct{ reader *document.Reader }

// NewSource reads over conn.
func NewSource(conn *natsconn.Conn) *Source { return &Source{reader: document.NewReader(conn)} }

// Connected reports whether NATS is reachable now.
func (s *Source) Connected() bool { return s.reader.Connected() }

// Key reads a key document from any replica.
func (s *Source) Key(ctx context.Context, kid string) (policy.Key, error) {
	e, err := s.reader.Any(ctx, wire.BucketKeys, kid)
	return decodeKey(kid, e, err)
}

// errFilling says that a missing document proves nothing now.
var errFilling = errors.New("the bucket of keys is not complete yet")

// KeyAtLeader reads a key document from its bucket's leader. Absence is final
// only where the bucket says that it is complete: one that lost its data is
// empty for a while.
func (s *Source) KeyAtLeader(ctx context.Context, kid string) (policy.Key, error) {
	if _, err := s.reader.Leader(ctx, wire.BucketKeys, wire.KeysComplete); err != nil {
		if errors.Is(err, document.ErrAbsent) {
			err = errFilling
		}
		complete := err
		// What is there is good, complete or not.
		e, err := s.reader.Leader(ctx, wire.BucketKeys, kid)
		if errors.Is(err, document.ErrAbsent) {
			return policy.Key{}, complete
		}
		return decodeKey(kid, e, err)
	}
	e, err := s.reader.Leader(ctx, wire.BucketKeys, kid)
	return decodeKey(kid, e, err)
}

func decodeKey(kid string, e document.Entry, err error) (policy.Key, error) {
	if err != nil {
		return policy.Key{}, missing(err, "There is no such key.")
	}
	k, err := policy.DecodeKey(e.Data)
	if err != nil {
		return policy.Key{}, err
	}
	if k.KID != kid {
		return policy.Key{}, errors.New("key document has another kid")
	}
	return k, nil
}

func missing(err error, message string) error {
	if errors.Is(err, document.ErrAbsent) {
		return fault.Wrap(err, fault.NotFound, message)
	}
	return err
}

// Policy reads a workspace's pointer from any replica.
func (s *Source) Policy(ctx context.Context, ws id.Workspace) (policy.Pointer, error) {
	e, err := s.reader.Any(ctx, wire.BucketPolicy, wire.PolicyPointer(ws))
	return decodePointer(e, err)
}

// PolicyAtLeader reads a workspace's pointer from the bucket's leader.
func (s *Source) PolicyAtLeader(ctx context.Context, ws id.Workspace) (policy.Pointer, error) {
	e, err := s.reader.Leader(ctx, wire.BucketPolicy, wire.PolicyPointer(ws))
	return decodePointer(e, err)
}

// CatalogAtLeader reads the catalog's pointer from the bucket's leader.
func (s *Source) CatalogAtLeader(ctx context.Context) (policy.Pointer, error) {
	e, err := s.reader.Leader(ctx, wire.BucketCatalog, wire.CatalogPointer)
	return decodePointer(e, err)
}

func decodePointer(e document.Entry, err error) (policy.Pointer, error) {
	if err != nil {
		return policy.Pointer{}, missing(err, "Nothing is published for this workspace.")
	}
	var p policy.Pointer
	if err := json.Unmarshal(e.Data, &p); err != nil {
		return policy.Pointer{}, fmt.Errorf("decode pointer: %w", err)
	}
	if p.Schema != policy.Schema {
		return policy.Pointer{}, fmt.Errorf("%w: pointer has %d, want %d", policy.ErrSchema, p.Schema, policy.Schema)
	}
	return p, nil
}

// PolicyBody reads the body that a workspace's pointer names.
func (s *Source) PolicyBody(ctx context.Context, p policy.Pointer) ([]byte, error) {
	return s.reader.Body(ctx, wire.BucketPolicy, p)
}

// CatalogBody reads the body that the catalog's pointer names.
func (s *Source) CatalogBody(ctx context.Context, p policy.Pointer) ([]byte, error) {
	return s.reader.Body(ctx, wire.BucketCatalog, p)
}

// PresetDocument reads a document of a preset from any replica.
func (s *Source) PresetDocument(ctx context.Context, key string) ([]byte, error) {
	e, err := s.reader.Any(ctx, wire.BucketPolicy, key)
	return presetDocument(e, err)
}

// PresetDocumentAtLeader reads a document of a preset from the bucket's leader.
func (s *Source) PresetDocumentAtLeader(ctx context.Context, key string) ([]byte, error) {
	e, err := s.reader.Leader(ctx, wire.BucketPolicy, key)
	return presetDocument(e, err)
}

func presetDocument(e document.Entry, err error) ([]byte, error) {
	if err != nil {
		return nil, missing(err, "There is no such preset.")
	}
	return e.Data, nil
}

var (
	_ keyring.Source  = (*Source)(nil)
	_ snapshot.Source = (*Source)(nil)
	_ preset.Source   = (*Source)(nil)
)
