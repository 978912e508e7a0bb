// Package ratelimit owns rate-limit policies and what they are assigned to: how
// much API keys, members, departments, guardrails and end users may ask in any
// 60 seconds, and at the same time. It knows nothing of SQL or HTTP, and not how
// requests are counted.
package ratelimit

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// The bounds. Assigned policies travel to the gateways with every change of the
// workspace, and a request is counted toward each one of its targets.
const (
	MaxPolicies    = 200   // of a workspace
	MaxAssignments = 5_000 // of a workspace
	MaxOfTarget    = 20    // assignments to one target

	MaxRequests   = 10_000_000
	MaxTokens     = 100_000_000_000
	MaxConcurrent = 1_000_000
)

// Policy is one rate-limit policy, without what it is assigned to. At least one
// of its limits is not 0.
type Policy struct {
	ID          id.RatePolicy
	Workspace   id.Workspace
	Name        string // unique in the workspace, whatever the letter case
	Requests    int64  // a minute; 0: no limit
	Tokens      int64  // a minute; 0: no limit
	Concurrent  int64  // 0: no limit
	FailClosed  bool   // requests are admitted one by one over all gateways
	Unavailable policy.Unavailable
	Version     int64 // rises with every change, from 1; assignments are none
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Published is what gateways get of it, with no target yet.
func (p Policy) Published() policy.RatePolicy {
	return policy.RatePolicy{
		ID: p.ID, Name: p.Name, Requests: p.Requests, Tokens: p.Tokens, Concurrent: p.Concurrent,
		Strict: p.FailClosed, Unavailable: p.Unavailable,
	}
}

// Draft is what a caller gives.
type Draft struct {
	Name                         string
	Requests, Tokens, Concurrent int64 // 0: no limit
	FailClosed                   bool
	Unavailable                  policy.Unavailable // "": deny with FailClosed, else allow
}

// Patch changes a policy; nil fields stay, and a limit of 0 is taken away.
type Patch struct {
	Name                         *string
	Requests, Tokens, Concurrent *int64
	FailClosed                   *bool
	Unavailable                  *policy.Unavailable // nil: as FailClosed has it, where that changes
	IfMatch                      *int64
}

func (p *Patch) apply(to Policy) Policy {
	if p.FailClosed != nil && *p.FailClosed != to.FailClosed {
		to.Unavailable = unavailable(*p.FailClosed)
	}
	patch.Set(&to.Name, p.Name)
	patch.Set(&to.Requests, p.Requests)
	patch.Set(&to.Tokens, p.Tokens)
	patch.Set(&to.Concurrent, p.Concurrent)
	patch.Set(&to.FailClosed, p.FailClosed)
	patch.Set(&to.Unavailable, p.Unavailable)
	return to
}

// unavailable is what failClosed means for it by itself.
func unavailable(failClosed bool) policy.Unavailable {
	if failClosed {
		return policy.DenyUnavailable
	}
	return policy.AllowUnavailable
}

// Filter narrows a list of policies.
type Filter struct {
	Name string // exactly, but for the letter case; "" for all
}
