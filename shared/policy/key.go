package policy

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Key is the document of one API key. It is published by itself, so that
// revoking a key touches one small document.
type Key struct {
	Schema    int          `json:"schema"` // as Versioned sets it
	KID       string       `json:"kid"`
	ID        id.Key       `json:"id"`
	Workspace id.Workspace `json:"workspace"`
	CreatedBy id.User      `json:"created_by,omitempty"`
	Status    KeyStatus    `json:"status"`

	SecretHash secret.Hash `json:"secret_hash"`
	// PreviousHash is accepted until PreviousUntil: the grace of a rotation.
	PreviousHash  secret.Hash `json:"previous_hash,omitzero"`
	PreviousUntil *time.Time  `json:"previous_until,omitempty"`
	ExpiresAt     *time.Time  `json:"expires_at,omitempty"`

	Models   []string          `json:"models,omitempty"`   // exact ids or patterns with *; empty allows all
	Surfaces []catalog.Surface `json:"surfaces,omitempty"` // empty allows all
	Scopes   []string          `json:"scopes,omitempty"`

	Profile    id.Profile    `json:"profile,omitzero"`    // the routing profile bound to the key
	Department id.Department `json:"department,omitzero"` // that the key belongs to
	Route      id.Route      `json:"route,omitzero"`      // the dynamic route attached to the key
	Limits     *KeyLimits    `json:"limits,omitempty"`    // nil: none
	Agent      string        `json:"agent,omitempty"`     // that its requests are of when they name none

	// Revision is the workspace revision at which this document was compiled;
	// a document never replaces one of a later revision.
	Revision int64 `json:"revision"`
	// MinRevision: no request of this key uses an older snapshot.
	MinRevision int64 `json:"min_revision"`
}

// A key document's schema says what its reader has to understand, as that of a
// snapshot does: who does not know routes would serve a key past its own.
const (
	schemaKeyRoute  = 2
	schemaKeyLimits = 3 // and agents
	newestKey       = schemaKeyLimits
)

// Versioned is k with the lowest schema whose readers understand all of it.
func (k Key) Versioned() Key {
	k.Schema = Schema
	if !k.Route.IsZero() {
		k.Schema = schemaKeyRoute
	}
	if k.Limits != nil || k.Agent != "" {
		k.Schema = schemaKeyLimits
	}
	return k
}

// KeyStatus says whether a key may be used.
type KeyStatus string

// The key states. Expired is derived from ExpiresAt, never stored.
const (
	KeyActive  KeyStatus = "active"
	KeyPaused  KeyStatus = "paused"
	KeyRevoked KeyStatus = "revoked"
)
