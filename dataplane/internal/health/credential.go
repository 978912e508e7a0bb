package health

import (
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
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
	mu     sync.Mutex
	known  map[id.Credential]credential
	unsaid map[id.Credential]struct{} // of which the others have not heard

	frame map[id.Credential]decide.CredentialHealth // never written after it was made
	stale bool                                      // frame is older than known
	swept time.Time                                 // when what is idle was forgotten
}

func newCredentials() *credentials {
	return &credentials{known: make(map[id.Credential]credential), unsaid: make(map[id.Credential]struct{}), stale: true}
}

// credential is what is known of one.
type credential struct {
	cool    cooldown
	refused int       // times in a row
	at      time.Time // of the last refusal, or of the success that ended them
}

// observe counts what a call means for its credential and reports whether its
// standing changed.
func (c *credentials) observe(o *Observation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.known[o.Credential]
	tell := true
	switch o.Verdict {
	case Succeeded:
		if !known || k.refused == 0 && k.cool.step == 0 {
			return false
		}
		k.cool.step = 0
		if tell = k.refused > 0; tell {
			k.refused, k.at = 0, milli(o.At)
		}
	case RateLimited:
		tell = k.cool.limit(o.At, o.RetryAfter)
	case Refused:
		tell = k.refuse(o.At)
	case Neutral, Failed, Unpaid, GeoBlocked:
		return false
	}
	c.put(o.Credential, k)
	if tell {
		c.unsaid[o.Credential] = struct{}{}
	}
	return tell
}

// refuse counts a refusal. Those of calls that were under way together, which
// come while the credential cools down for it, count once.
func (k *credential) refuse(at time.Time) bool {
	rests := doubled(refuseFirst, k.refused-1, refuseMost)
	if k.refused > 0 && at.Sub(k.at) < rests && !at.Before(k.at.Add(-maxSkew)) {
		return false
	}
	k.refused = min(k.refused+1, 1<<10)
	k.at = milli(at)
	k.cool.extend(at, milli(at.Add(doubled(refuseFirst, k.refused-1, refuseMost))))
	k.cool.told = k.cool.until
	return true
}

// merge takes what another gateway told and reports whether anything changed.
func (c *credentials) merge(now time.Time, told []wire.CredentialStanding) (changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range told {
		s := &told[i]
		k := c.known[s.ID]
		news := k.cool.merge(now, s.CoolUntil, s.CoolStep)
		if s.At.After(k.at) && !s.At.After(now.Add(maxSkew)) || s.At.Equal(k.at) && s.Refused > k.refused {
			news = news || k.refused != s.Refused
			k.refused, k.at = s.Refused, s.At
		}
		if news {
			c.put(s.ID, k)
			changed = true
		}
	}
	return changed
}

// put keeps the standing of a credential. c.mu is held.
func (c *credentials) put(credential id.Credential, k credential) {
	if _, known := c.known[credential]; !known && len(c.known) >= maxCredentials {
		first := c.first()
		delete(c.known, first)
		delete(c.unsaid, first)
	}
	c.known[credential] = k
	c.stale = true
}

// first is the credential whose cool-down ends before all others.
func (c *credentials) first() (first id.Credential) {
	var ends time.Time
	for credential, k := range c.known {
		if ends.IsZero() || k.cool.until.Before(ends) {
			first, ends = credential, k.cool.until
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
			delete(c.unsaid, credential)
			continue
		}
		h := decide.CredentialHealth{Refused: k.refused}
		if runs(k.cool.until, now, coolLongest) {
			h.CoolingUntil = k.cool.until
		}
		c.frame[credential] = h
	}
	return c.frame
}

// idle reports that nothing about the credential is worth keeping at now.
func (k *credential) idle(now time.Time) bool {
	return !runs(k.cool.until, now.Add(-window), coolLongest+window) && now.Sub(k.at) > window
}

// tell takes what the others have not heard, or all that there is.
func (c *credentials) tell(all bool) (told []wire.CredentialStanding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := func(credential id.Credential, k credential) {
		told = append(told, wire.CredentialStanding{
			ID: credential, CoolUntil: k.cool.until, CoolStep: k.cool.step, Refused: k.refused, At: k.at,
		})
	}
	if all {
		for credential, k := range c.known {
			one(credential, k)
		}
		return told
	}
	for credential := range c.unsaid {
		one(credential, c.known[credential])
	}
	clear(c.unsaid)
	return told
}

// repeat has everything told again.
func (c *credentials) repeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for credential := range c.known {
		c.unsaid[credential] = struct{}{}
	}
}
