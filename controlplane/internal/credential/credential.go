// Package credential owns what API keys and management keys have in common: a
// status that time changes, and the rotation of a secret. It knows nothing of
// what a key opens, of SQL or of HTTP.
package credential

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Expired is the status of a key whose time is up. It is derived, never stored.
const Expired policy.KeyStatus = "expired"

// MaxGrace is the longest time that a rotated secret stays valid.
const MaxGrace = 7 * 24 * time.Hour

// Effective is the status at now: a key that is not revoked and whose time is
// up is Expired.
func Effective(stored policy.KeyStatus, expiresAt *time.Time, now time.Time) policy.KeyStatus {
	if stored != policy.KeyRevoked && expiresAt != nil && !now.Before(*expiresAt) {
		return Expired
	}
	return stored
}

// Rotation says how a secret is replaced.
type Rotation struct {
	Grace   time.Duration // how long the old secret stays valid, 0 to MaxGrace
	IfMatch *int64
}

// Validate reports every violation.
func (r Rotation) Validate() error {
	var v rule.Violations
	if r.Grace < 0 || r.Grace > MaxGrace {
		v.Add("grace_seconds", rule.OutOfRange, "must be from 0 to 604800 seconds")
	}
	return v.Err()
}

// Retire returns the secret that stays valid beside the new one and until
// when: the present one for the grace, and never one that was already retired.
func (r Rotation) Retire(present secret.Hash, now time.Time) (secret.Hash, *time.Time) {
	if r.Grace == 0 {
		return secret.Hash{}, nil
	}
	until := now.Add(r.Grace)
	return present, &until
}

// Moment gives an optional moment the precision of the database.
func Moment(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := txn.Moment(*t)
	return &u
}
