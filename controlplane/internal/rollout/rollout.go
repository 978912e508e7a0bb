// Package rollout owns staged rollouts of dynamic routes: a candidate version
// that a rising share of the subjects is sent through beside the stable one,
// compared with it on the records of live requests, and taken back or deployed
// by itself. It knows nothing of SQL or HTTP, and not how a route is deployed.
package rollout

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The bounds of a rollout.
const (
	MaxSteps    = 20
	MinHold     = time.Second
	MaxHold     = 30 * 24 * time.Hour
	MaxRatio    = 1000
	MaxRequests = 1_000_000 // of Guard.MinRequests
)

// Rollout is one staged rollout.
type Rollout struct {
	ID        id.Rollout
	Workspace id.Workspace
	Route     id.Route
	Candidate int // the version that is rolled out
	Stable    int // the version that was deployed when it began
	Steps     []Step
	Guard     Guard
	State     State
	Step      int       // the present one, from 0; the last one that was reached when it has ended
	StepBegan time.Time // or when it was resumed in that step
	Evidence  *Evidence // what it ended on; nil while it is open
	CreatedBy id.User   // zero for what no user made
	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   *time.Time
	Version   int64 // rises with every change, from 1
}

// Step is a share of the subjects and how long at least it is held.
type Step struct {
	Percent flow.Percent
	Hold    time.Duration
}

// Guard is what the candidate is held against. Limits that are nil hold nothing.
type Guard struct {
	MaxErrorRate    *float64 // share of failures among the candidate's judged requests
	MaxLatencyRatio *float64 // p95 of the candidate's successes by that of the stable version's
	MaxCostRatio    *float64 // mean cost of the candidate's successes by that of the stable version's
	MinRequests     int64    // that an arm must have before anything is made of it
}

// Compares reports whether g holds the candidate against the stable version.
func (g Guard) Compares() bool { return g.MaxLatencyRatio != nil || g.MaxCostRatio != nil }

// State says where a rollout stands.
type State string

// The states. The first two are open: the candidate has its share.
const (
	Running    State = "running"
	Paused     State = "paused" // it does not advance; the guard holds on
	Completed  State = "completed"
	RolledBack State = "rolled_back"
	Aborted    State = "aborted"
)

// Open reports whether a rollout in state s is under way.
func (s State) Open() bool { return s == Running || s == Paused }

// Share is what the candidate has at the present step.
func (r Rollout) Share() flow.Percent { return r.Steps[r.Step].Percent }

// Last reports whether the present step is the last one.
func (r Rollout) Last() bool { return r.Step == len(r.Steps)-1 }

// Arms are what the two versions came to.
type Arms struct {
	Candidate tally.Arm // at the present step
	// Stable is at the present step too, unless the stable version has had too
	// few requests there: then it is since the rollout began.
	Stable tally.Arm
}

// Evidence is what a rollout was ended on.
type Evidence struct {
	Broken   Limit // "" unless it was rolled back
	Measured float64
	Allowed  float64
	Arms     Arms
}

// Limit is one of a guard.
type Limit string

// The limits, by their names in the API.
const (
	ErrorRate    Limit = "max_error_rate"
	LatencyRatio Limit = "max_p95_latency_ratio"
	CostRatio    Limit = "max_cost_ratio"
)

// Detail is a rollout with the numbers that it is judged by now, or was last.
type Detail struct {
	Rollout
	Arms    Arms
	Waiting Waiting // "" when it has ended
}
