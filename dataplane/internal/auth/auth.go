// Package auth owns the step from a credential to a principal. It looks keys
// up through an interface and knows nothing of how they are published, of
// policy, or of HTTP.
package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Keys finds key documents. Its errors are keyring.ErrUnknown for a kid that
// does not exist and keyring.ErrUndetermined when that cannot be told.
type Keys interface {
	Lookup(ctx context.Context, kid string) (policy.Key, error)
}

// Authenticator believes credentials.
type Authenticator struct {
	keys Keys
	now  func() time.Time
}

// New returns an Authenticator over keys that reads expiry against now.
func New(keys Keys, now func() time.Time) *Authenticator {
	return &Authenticator{keys: keys, now: now}
}

// Authenticate returns who calls. A kid that does not exist and a secret that
// does not match take the same steps and get the same answer; the wrapped
// cause tells them apart for the log. What state a key is in is said only to a
// caller who holds its secret.
func (a *Authenticator) Authenticate(ctx context.Context, c *call.Call) (call.Principal, error) {
	if c.Token.Kind == secret.Management {
		return call.Principal{}, unauthorized(fault.ManagementKeyNotValidHere,
			"This is a management key. Inference calls need an API key (sb_v1_…).", nil)
	}
	key, err := a.keys.Lookup(ctx, c.Token.KID)
	if err != nil && !errors.Is(err, keyring.ErrUnknown) {
		return call.Principal{}, undetermined(err)
	}
	// An unknown kid leaves the zero document, whose hashes match nothing, so
	// that both refusals cost the same comparisons.
	if !a.matches(c.Token, key) || err != nil {
		if err == nil {
			err = errWrongSecret
		}
		return call.Principal{}, unauthorized(fault.InvalidKey, "The API key is not valid.", err)
	}
	if refusal := a.usable(key); refusal != nil {
		return call.Principal{}, refusal
	}
	if len(key.Surfaces) > 0 && c.Surface != "" && !slices.Contains(key.Surfaces, c.Surface) {
		return call.Principal{}, fault.Newf(fault.Forbidden,
			"This API key may not use the %s surface.", c.Surface).Because(fault.SurfaceNotAllowed)
	}
	return call.Principal{Key: key}, nil
}

var errWrongSecret = errors.New("the kid exists and the secret does not match")

// matches compares the token with the present and the previous secret, always
// with both, in constant time.
func (a *Authenticator) matches(token secret.Token, key policy.Key) bool {
	own := token.Hash()
	present := subtle.ConstantTimeCompare(own[:], key.SecretHash[:])
	previous := subtle.ConstantTimeCompare(own[:], key.PreviousHash[:])
	if key.PreviousUntil == nil || !a.now().Before(*key.PreviousUntil) {
		previous = 0
	}
	return present|previous == 1
}

// usable says why a key whose secret matched may still not be used.
func (a *Authenticator) usable(key policy.Key) *fault.Error {
	refusal := key.Refusal(a.now())
	if refusal == nil && key.Status != policy.KeyActive {
		return undetermined(errors.New("key document has an unknown status"))
	}
	return refusal
}

func unauthorized(reason fault.Reason, message string, cause error) *fault.Error {
	return fault.Wrap(cause, fault.Unauthorized, message).Because(reason)
}

func undetermined(cause error) *fault.Error {
	return fault.Wrap(cause, fault.UpstreamUndetermined,
		"The API key cannot be checked at the moment. Try again shortly.").From(fault.Gateway).After(time.Second)
}
