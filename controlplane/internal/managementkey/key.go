// Package managementkey owns the credentials of the management API: their
// life, the scopes they carry, and how a presented one is recognized. It knows
// nothing of SQL or HTTP, and not which operation needs which scope.
package managementkey

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Key is a management key without its secret.
type Key struct {
	ID        id.ManagementKey
	Workspace id.Workspace
	KID       string // the public part of the credential; never changes
	Name      string
	Suffix    string           // last four characters of the secret
	Status    policy.KeyStatus // active or revoked; see Effective
	CreatedBy id.User          // whose role in the workspace the key acts with

	SecretHash    secret.Hash
	PreviousHash  secret.Hash // accepted until PreviousUntil
	PreviousUntil *time.Time
	ExpiresAt     *time.Time
	LastUsedAt    *time.Time // to within TouchEvery

	Template Template // what Scopes were made from, "" for a list of one's own
	Scopes   []string // sorted

	Version   int64 // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Effective is the status at now: a key that is not revoked and whose time is
// up is credential.Expired.
func (k Key) Effective(now time.Time) policy.KeyStatus {
	return credential.Effective(k.Status, k.ExpiresAt, now)
}

// NewKey is what a caller gives: either a template or scopes.
type NewKey struct {
	Name      string
	Template  Template
	Scopes    []string
	ExpiresAt *time.Time
	// Owner is the member whose role the key will act with; zero means the
	// person behind the actor. Only operators may name someone else: the edge
	// decides that.
	Owner id.User
}
