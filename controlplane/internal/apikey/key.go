// Package apikey owns inference credentials: their life from creation to
// revocation, what they may be used for, and their published document. It
// knows nothing of SQL, NATS or HTTP. Plaintexts leave it once, from Create
// and Rotate, and are stored nowhere.
package apikey

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Key is an API key without its secret.
type Key struct {
	ID        id.Key
	Workspace id.Workspace
	KID       string // the public part of the credential; never changes
	Name      string
	Suffix    string           // last four characters of the secret
	Status    policy.KeyStatus // active, paused or revoked; see Effective
	CreatedBy id.User          // zero when an operator created it

	SecretHash    secret.Hash
	PreviousHash  secret.Hash // accepted until PreviousUntil
	PreviousUntil *time.Time
	ExpiresAt     *time.Time
	LastUsedAt    *time.Time

	Models   []string          // ids or patterns with *; empty allows all
	Surfaces []catalog.Surface // empty allows all
	Scopes   []string

	Profile    id.Profile    // the routing profile bound to it; zero for none
	Department id.Department // that it belongs to; zero for none
	Route      id.Route      // the dynamic route attached to it; zero for none

	Limits *policy.KeyLimits // nil for none
	Agent  string            // that its requests are of when they name none; "" for none

	Version     int64 // rises with every change, from 1
	Revision    int64 // of the workspace at the last change
	MinRevision int64 // no request of this key may use an older snapshot
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Effective is the status at now: a key that is not revoked and whose time is
// up is credential.Expired.
func (k Key) Effective(now time.Time) policy.KeyStatus {
	return credential.Effective(k.Status, k.ExpiresAt, now)
}

// NewKey is what a caller gives.
type NewKey struct {
	Name      string
	ExpiresAt *time.Time
	Models    []string
	Surfaces  []catalog.Surface
	Scopes    []string

	Profile    id.Profile    // zero for none
	Department id.Department // zero for none

	Limits policy.KeyLimits
	Agent  string
}

// Patch changes a key; nil fields stay.
type Patch struct {
	Name      *string
	SetExpiry bool // ExpiresAt applies, and nil takes the expiry away
	ExpiresAt *time.Time
	Models    *[]string
	Surfaces  *[]catalog.Surface
	Scopes    *[]string

	Profile    *id.Profile    // the zero id unbinds
	Department *id.Department // the zero id takes it out of its department

	Limits *LimitsPatch
	Agent  *string // "" takes it away

	IfMatch *int64
}

// Filter narrows a list.
type Filter struct {
	Status policy.KeyStatus // effective status; "" for all
}
