// Package decide is the routing kernel: one pure function from a pinned
// policy, a pinned catalog and what was looked up about the request to a plan
// of upstream calls, with the account of why. It has no clock, randomness,
// I/O or logging; live traffic, preview, explanation and replay call it alike.
package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Input is everything that a decision depends on.
type Input struct {
	Policy  *policy.View
	Catalog *catalog.View
	Health  Health
	Facts   Facts
	// Content is what conditions of the key's dynamic route may look at in the
	// request's body and headers, never a header that may hold a secret; nil:
	// there is nothing.
	Content condition.Facts
	// Usage is what the key has used; looked up where its route asks.
	Usage flow.Usage
	// Presets are those that were looked up, by PresetKey of their names; nil is
	// for one that is not there. What is missing is asked for by Plan.NeedsPresets.
	Presets map[string]*policy.PresetVersion
	// Unread are the keys of presets that may be there and cannot be read now.
	Unread []string
	// Adds tells what a preset adds to the request as it is written in its surface's
	// format. It is pure; nil: the prompt, where the surface takes one, is all that
	// is known.
	Adds func(*policy.PresetVersion) Added
	// Ladder is Climb's of the other members, and Opening Open's, where more than
	// one question is asked about a request; nil: it is worked out.
	Ladder  *Ladder
	Opening *Opening
	// Within is the opening of the request within which the gateway makes this
	// one, a child: what restricts that restricts this.
	Within *Opening
	// Conversation is what was remembered of the request's, looked up before.
	Conversation Conversation
	Seed         uint64 // of the draws; the record keeps it
	// Replayed is what is recorded of a request of the past; nil for one of now.
	Replayed *Replayed
	// Classification is what signalbox/auto goes by; nil until it asks for it.
	Classification *Classification
}

// Facts is what is known of the request.
type Facts struct {
	Now     time.Time
	Request id.Request
	Surface catalog.Surface
	Key     KeyFacts
	// Owner is the id of the endpoint that keeps the job or file which the call
	// is about; "" for most. Model and routing preferences do not count then.
	Owner string
	// Costless says that a call with an Owner makes nothing: it reads, cancels or
	// deletes what is kept.
	Costless  bool
	Model     string   // as the caller wrote it; "" when none
	Models    []string // the caller's fallback models
	Provider  Preferences
	Routing   RoutingFields
	Timeouts  policy.Timeouts // that the caller set; 0: none
	SessionID string
	CacheKey  string         // the caller's prompt_cache_key; "" when none
	EndUser   string         // the caller's id of who asks; "" when none
	Metadata  map[string]any // primitives; only ever compared against
	Stream    bool
	// Child is set for a request that the gateway itself makes within another
	// one: it has the model that it names and no other.
	Child bool

	// OAuth says that the caller came with a token of an application, not with
	// a key: the workspace's settings and profiles then restrict and nothing more.
	OAuth bool
	// Parameters are the body's parameters that an endpoint may or may not
	// support, sorted; Needs are capabilities that the content requires.
	Parameters []string
	Needs      []catalog.Modality

	InputTokens  int64 // estimate
	OutputTokens int64 // requested cap; 0 when none was given
}

// Added is what a preset adds to a request.
type Added struct {
	Parameters   []string // as Facts has them; some may be the request's too
	InputTokens  int64    // estimate
	OutputTokens int64    // cap, where the request has none; 0: none
}

// KeyFacts is what routing reads of the caller's key.
type KeyFacts struct {
	ID         id.Key
	Owner      id.User       // who created it; zero: an operator
	Profile    id.Profile    // of its own; zero: none
	Department id.Department // zero: none
	Route      id.Route      // the dynamic route attached to it; zero: none
	Models     []string      // patterns; empty allows all
	Scopes     []string
}

// KeyFactsOf reads them off the key's document.
func KeyFactsOf(k *policy.Key) KeyFacts {
	return KeyFacts{
		ID: k.ID, Owner: k.CreatedBy, Profile: k.Profile, Department: k.Department, Route: k.Route, Models: k.Models, Scopes: k.Scopes,
	}
}

// Preferences is the body's "provider" object.
type Preferences = policy.Preferences

// RoutingFields is the body's "routing" object.
type RoutingFields struct {
	Mode            policy.Mode
	SessionAffinity *bool
	MaxAttempts     int // 0: the setting's
}
