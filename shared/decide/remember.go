package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// SessionLifetime is how long a session's pin is kept from its last use.
const SessionLifetime = 24 * time.Hour

// CacheBreak says why a conversation leaves the endpoint that it is pinned to.
type CacheBreak string

// The reasons.
const (
	BreakOpen    CacheBreak = "breaker_open"  // the endpoint's breaker is open
	BreakCooling CacheBreak = "cooling"       // it cools down after a 429
	BreakErrors  CacheBreak = "errors"        // many of its recent calls failed
	BreakQuota   CacheBreak = "quota"         // this turn found the managed quota there used up: 402 or 429
	BreakPolicy  CacheBreak = "policy"        // a restriction of some rung excludes it
	BreakUnable  CacheBreak = "cannot_serve"  // it cannot take what the turn holds, or so much of it
	BreakGone    CacheBreak = "endpoint_gone" // the catalog does not have it any more
	BreakFailed  CacheBreak = "model_failed"  // of a pinned model: another one of the chain had to answer
	BreakAuto    CacheBreak = "auto_config"   // of a pinned model: signalbox/auto may not choose it any more
)

// CacheBreaks are the reasons for which a conversation leaves an endpoint.
func CacheBreaks() []CacheBreak {
	return []CacheBreak{BreakOpen, BreakCooling, BreakErrors, BreakQuota, BreakPolicy, BreakUnable, BreakGone}
}

// Why a pin had no part in a turn, and stays as it is.
const (
	PinIgnoredSuffix    = "suffix"         // of the model's name: a fixed order
	PinIgnoredSort      = "provider.sort"  // a fixed order
	PinIgnoredOrder     = "provider.order" // lists another one before it
	PinIgnoredQualifier = "qualifier"      // the model's name has another provider
)

// Turn is how a planned request was answered.
type Turn struct {
	Conversation Conversation   // as it was decided with
	Named        bool           // the caller named a model
	Model        *catalog.Model // that answered
	Candidate    Candidate
	Usage        meter.Usage
	Attempts     []AttemptRecord
	CacheAsked   time.Duration // the longest retention that the caller asked for; 0: none
}

// Memory is what a turn leaves behind.
type Memory struct {
	// Pin is where the conversation's next turn with this model goes, for
	// Lifetime from now; the zero value leaves all as it is. Was is the endpoint
	// that it takes the place of, "" for none.
	Pin      Pin
	Was      string
	Lifetime time.Duration
	// Model is the model of later turns that name none, in place of ModelWas;
	// "" leaves it.
	Model    string
	ModelWas string
}

// Remember judges what an answered turn means for its conversation's pins, and
// gives the account of affinity as the record is to show it. trace is that of
// the plan, and is not changed.
func Remember(trace *AffinityTrace, t Turn) (Memory, *AffinityTrace) {
	if trace == nil || t.Conversation.Source == "" {
		return Memory{}, trace
	}
	after := *trace
	var m Memory
	m.pin(&after, &t)
	m.model(&after, &t)
	return m, &after
}

func (m *Memory) pin(after *AffinityTrace, t *Turn) {
	served := t.Candidate.Endpoint.ID
	was := ""
	if at := t.Conversation.pin(t.Model.ID); at >= 0 {
		was = t.Conversation.Pins[at].Endpoint
	}
	switch {
	case was == served:
		after.Break = "" // the others failed, or there was none
	case was == "":
		if !t.Conversation.Sure && !cacheSeen(t) {
			return
		}
	case was != after.Endpoint || after.Break == "":
		// A failure that was got round once is no reason to move, unless it was
		// of a kind that lasts.
		if !outOfQuota(t.Attempts, was) {
			return
		}
		if was == after.Endpoint {
			after.Break = BreakQuota
		}
	}
	if was != served {
		m.Was = was
		// The account is of the decided model. The pin of one that had to stand in
		// moves without a word.
		if was != "" && was == after.Endpoint {
			after.MovedTo = served
		}
	}
	m.Pin = Pin{Model: t.Model.ID, Provider: t.Candidate.Provider.Slug, Endpoint: served}
	m.Lifetime = lifetime(t)
}

// outOfQuota reports that a turn found nothing left to spend at an endpoint. A
// key of the workspace's own has a quota of its own.
func outOfQuota(attempts []AttemptRecord, endpoint string) bool {
	for i := range attempts {
		a := &attempts[i]
		if a.Endpoint == endpoint && a.Failure != "" && (a.Status == 402 || a.Status == 429) && a.Credential != CredentialBYOK {
			return true
		}
	}
	return false
}

// cacheSeen reports that the provider read or wrote its cache for a turn, and
// that going back there is worth something.
func cacheSeen(t *Turn) bool {
	u := &t.Usage
	if u.Estimated || u.CachedRead+u.CacheWrite5m+u.CacheWrite1h <= 0 {
		return false
	}
	price := t.Candidate.Endpoint.Price
	if price == nil {
		return false
	}
	rates := meter.Rates(price, u.InputTotal())
	return rates.Input != nil && rates.CachedInput != nil && *rates.CachedInput < *rates.Input
}

// lifetime is how long the endpoint is worth going back to: while the provider
// keeps its cache, a session for as long as it is in use.
func lifetime(t *Turn) time.Duration {
	if t.Conversation.Source == FromSession {
		return SessionLifetime
	}
	kept := max(t.Candidate.Provider.CacheLifetime(), t.CacheAsked)
	if t.Usage.CacheWrite1h > 0 {
		kept = max(kept, time.Hour)
	}
	return min(kept, catalog.MaxCacheRetention)
}

// model pins the model of a session whose turn named none.
func (m *Memory) model(after *AffinityTrace, t *Turn) {
	if t.Conversation.Source != FromSession || t.Named {
		return
	}
	m.Model, m.ModelWas = t.Model.ID, t.Conversation.Model
	if after.Model != "" && after.Model != m.Model {
		after.ModelBreak = BreakFailed
	}
}
