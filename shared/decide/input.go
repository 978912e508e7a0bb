// Package decide is the routing kernel: one pure function from a pinned
// policy, a pinned catalog and what was looked up about the request to a plan
// of upstream calls, with the account of why. It has no clock, randomness,
// I/O or logging; live traffic, preview, explanation and replay call it alike.
package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Input is everything that a decision depends on.
type Input struct {
	Policy  *policy.View
	Catalog *catalog.View
	Health  Health
	Facts   Facts
	// Ladder is Climb's of the other members, where more than one question is
	// asked about a request; nil: it is worked out.
	Ladder *Ladder
	// Conversation is what was remembered of the request's, looked up before.
	Conversation Conversation
	Seed         uint64 // of the draws; the record keeps it
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
	Owner     string
	Model     string   // as the caller wrote it; "" when none
	Models    []string // the caller's fallback models
	Provider  Preferences
	Routing   RoutingFields
	Timeouts  policy.Timeouts // that the caller set; 0: none
	SessionID string
	Metadata  map[string]any // primitives; only ever compared against
	Stream    bool
	// Child is set for a request that the gateway itself makes within another
	// one: it has the model that it names and no other.
	Child bool

	// OAuth says that the caller came with a token of an application, not with
	// a key: the workspace's settings and profiles then restrict and nothing more.
	OAuth bool
	// Preset and Route are what the call's preset and the model node of the
	// key's dynamic route set; nil: there is none.
	Preset *policy.Routing
	Route  *policy.Routing

	// Parameters are the body's parameters that an endpoint may or may not
	// support, sorted; Needs are capabilities that the content requires.
	Parameters []string
	Needs      []catalog.Modality

	InputTokens  int64 // estimate
	OutputTokens int64 // requested cap; 0 when none was given
}

// KeyFacts is what routing reads of the caller's key.
type KeyFacts struct {
	ID         id.Key
	Profile    id.Profile    // of its own; zero: none
	Department id.Department // zero: none
	Models     []string      // patterns; empty allows all
	Scopes     []string
}

// Preferences is the body's "provider" object.
type Preferences = policy.Preferences

// RoutingFields is the body's "routing" object.
type RoutingFields struct {
	Mode            policy.Mode
	SessionAffinity *bool
	MaxAttempts     int // 0: the setting's
}
