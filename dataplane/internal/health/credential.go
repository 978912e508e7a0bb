package health

import (
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// maxCredentials bounds how many credentials anything is known of. Those that
// nothing speaks against take no room; beyond the bound the one whose
// cool-down ends first is forgotten.
const maxCredentials = 10_000

// sweepEvery is how often credentials of which nothing is known any more are
// looked for.
const sweepEvery = time.Minute

// credentials is the standing of workspaces' own credentials.
type credentials struct {
	mu    sync.Mutex
	known map[id.Credential]credential
	frame map[id.Credential]decide.CredentialHealth // never written after it was made
	stale bool                                      // frame is older than known
	swept time.Time                                 // when what is idle was forgotten
}

func newCredentials() *credentials {
	return &credentials{known: make(map[id.Credential]credential), stale: true}
}

// credential is what is known of one.
type credential struct {
	coolUntil time.Time
	cooledAt  time.Time
	coolStep  time.Duration // of the last cool-down without a retry-after
	refused   int           // times in a row
	at        time.Time     // of the last refusal, or of the success that ended them
}

// observe counts what a call means for its credential and reports whether its
// standing changed.
func (c *credentials) observe(o *Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.known[o.Credential]
	switch o.Verdict {
	case Succeeded:
		if !known || k.refused == 0 && k.coolStep == 0 {
			return false
		}
		k.refused, k.coolStep, k.at = 0, 0, o.At
	case RateLimited:
		k.limit(o.At, o.RetryAfter)
	case Refused:
		k.refuse(o.At)
	case Neutral, Failed, GeoBlocked:
		return false
	}
	c.put(o.Credential, k)
	return true
}

func (k *credential) limit(at time.Time, retryAfter time.Duration) {
	var wait time.Duration
	k.coolStep, wait = coolDown(at, k.cooledAt, k.coolUntil, k.coolStep, retryAfter)
	k.cooledAt = at
	k.coolUntil = later(k.coolUntil, at.Add(wait))
}

// refuse counts a refusal. Those of calls that were under way together, which
// come while the credential cools down, count once.
func (k *credential) refuse(at time.Time) {
	if k.refused > 0 && at.Before(k.coolUntil) {
		return
	}
	k.refused++
	k.at = at
	k.coolUntil = later(k.coolUntil, at.Add(doubled(refuseFirst, k.refused-1, refuseMost)))
}

// put keeps the standing of a credential. c.mu is held.
func (c *credentials) put(credential id.Credential, k credential) {
	if _, known := c.known[credential]; !known && len(c.known) >= maxCredentials {
		delete(c.known, c.first())
	}
	c.known[credential] = k
	c.stale = true
}

// first is the credential whose cool-down ends before all others.
func (c *credentials) first() (first id.Credential) {
	var ends time.Time
	for credential, k := range c.known {
		if ends.IsZero() || k.coolUntil.Before(ends) {
			first, ends = credential, k.coolUntil
		}
	}
	return first
}

// view returns a frozen copy of what is known at now, and forgets the rest.
func (c *credentials) view(now time.Time) map[id.Credential]decide.CredentialHealth {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := now.Sub(c.swept); !c.stale && age < sweepEvery && age >= 0 {
		return c.frame
	}
	c.stale, c.swept = false, now
	c.frame = make(map[id.Credential]decide.CredentialHealth, len(c.known))
	for credential, k := range c.known {
		if k.idle(now) {
			delete(c.known, credential)
			continue
		}
		c.frame[credential] = decide.CredentialHealth{CoolingUntil: k.coolUntil, Refused: k.refused}
	}
	return c.frame
}

// idle reports that nothing about the credential is worth keeping at now.
func (k *credential) idle(now time.Time) bool {
	return now.Sub(k.coolUntil) > window && now.Sub(k.at) > window
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
