// Package budget owns budgets: what a workspace, or what counts toward one of
// its departments, guardrails or agents, may spend in a window, and where each
// stands. It knows nothing of SQL or HTTP, and not how budgets are enforced.
package budget

import (
	"math"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Most is how many budgets a workspace may have, those of departments too: they
// travel to the gateways with every change of the workspace.
const Most = 1000

// Budget is one budget.
type Budget struct {
	ID          id.Budget
	Workspace   id.Workspace
	Target      Target
	Interval    policy.Interval // unique for each target
	Limit       money.Nanos     // above 0
	Reserve     bool            // see policy.Budget
	IncludeBYOK bool            // see policy.Budget
	CreatedBy   id.User         // zero when an operator created it
	Version     int64           // rises with every change, from 1
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Target is who a budget is about: one of these, or with none of them the whole
// workspace.
type Target struct {
	Department id.Department
	Guardrail  id.Guardrail
	Agent      string // as callers name it
}

// Account is where what the target spends is counted.
func (t Target) Account() wire.Account {
	switch {
	case !t.Department.IsZero():
		return wire.DepartmentAccount(t.Department)
	case !t.Guardrail.IsZero():
		return wire.GuardrailAccount(t.Guardrail)
	case t.Agent != "":
		return wire.AgentAccount(t.Agent)
	}
	return wire.AccountWorkspace
}

// Published is what gateways get of it.
func (b Budget) Published() policy.Budget {
	return policy.Budget{
		ID: b.ID, Interval: b.Interval, Limit: b.Limit, Reserve: b.Reserve, IncludeBYOK: b.IncludeBYOK,
		Department: b.Target.Department, Guardrail: b.Target.Guardrail, Agent: b.Target.Agent,
	}
}

// Draft is what a caller gives.
type Draft struct {
	Target      Target
	Interval    policy.Interval
	Limit       money.Nanos
	Reserve     bool
	IncludeBYOK bool
}

// Patch changes a budget; nil fields stay.
type Patch struct {
	Limit       *money.Nanos
	Reserve     *bool
	IncludeBYOK *bool
	IfMatch     *int64
}

func (p *Patch) apply(b Budget) Budget {
	patch.Set(&b.Limit, p.Limit)
	patch.Set(&b.Reserve, p.Reserve)
	patch.Set(&b.IncludeBYOK, p.IncludeBYOK)
	return b
}

// Filter narrows a list; zero fields do not.
type Filter struct {
	Target   Target
	Interval policy.Interval
}

// Standing is a budget with what was spent of it.
type Standing struct {
	Budget
	Spent      money.Nanos
	Window     spending.Window
	Projection spending.Projection
}

// standing is where b stands at now.
func standing(b Budget, h spending.History, now time.Time) Standing {
	w := spending.WindowOf(b.Interval, now)
	return Standing{Budget: b, Spent: h.In(w).Counted(b.IncludeBYOK), Window: w, Projection: h.Project(w, now, b.IncludeBYOK)}
}

// Remaining is what is left, never below 0.
func (s Standing) Remaining() money.Nanos { return max(0, s.Limit.Add(-s.Spent)) }

// Exceeded reports that the limit is reached.
func (s Standing) Exceeded() bool { return s.Spent >= s.Limit }

// Share is the part of the limit that was spent, rounded down to four decimals;
// 1 and more only where the limit is reached.
func (s Standing) Share() float64 {
	const parts = 10_000
	share := math.Floor(float64(s.Spent)/float64(s.Limit)*parts) / parts
	if s.Exceeded() {
		return max(share, 1)
	}
	return max(0, min(share, 1-1.0/parts))
}
