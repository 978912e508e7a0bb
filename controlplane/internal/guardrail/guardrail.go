// Package guardrail owns guardrails: which models and providers the requests
// of a workspace, of members and of API keys may reach, and how those handle
// data. It knows nothing of SQL or HTTP, and not how guardrails act on a
// request.
package guardrail

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Guardrail is one guardrail, without what it is bound to.
type Guardrail struct {
	ID             id.Guardrail
	Workspace      id.Workspace
	Name           string // unique in the workspace, whatever the letter case
	Description    string
	Enabled        bool // else it binds nothing
	WholeWorkspace bool // it binds every request
	Rules          policy.GuardrailRules
	Version        int64 // rises with every change, of bindings too, from 1
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Published is what gateways get of it.
func (g Guardrail) Published(members []id.User, keys []id.Key) policy.Guardrail {
	return policy.Guardrail{ID: g.ID, Name: g.Name, Rules: g.Rules, Workspace: g.WholeWorkspace, Members: members, Keys: keys}
}

// Draft is what a caller gives.
type Draft struct {
	Name           string
	Description    string
	Enabled        bool
	WholeWorkspace bool
	Rules          policy.GuardrailRules
}

// Patch changes a guardrail; nil fields stay.
type Patch struct {
	Name           *string
	Description    *string
	Enabled        *bool
	WholeWorkspace *bool
	Models         *policy.Lists
	Providers      *policy.Lists
	Data           *DataPolicy
	IfMatch        *int64
}

// DataPolicy is the part of the rules about what providers do with data.
type DataPolicy struct{ RequireZDR, DenyTraining bool }

// rules reports whether p changes any.
func (p *Patch) rules() bool { return p.Models != nil || p.Providers != nil || p.Data != nil }

func (p *Patch) apply(g Guardrail) Guardrail {
	set(&g.Name, p.Name)
	set(&g.Description, p.Description)
	set(&g.Enabled, p.Enabled)
	set(&g.WholeWorkspace, p.WholeWorkspace)
	set(&g.Rules.Models, p.Models)
	set(&g.Rules.Providers, p.Providers)
	if p.Data != nil {
		g.Rules.RequireZDR, g.Rules.DenyTraining = p.Data.RequireZDR, p.Data.DenyTraining
	}
	return g
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Filter narrows a list.
type Filter struct {
	Name string // exactly, but for the letter case; "" for all
}

// Binding is one key or member that a guardrail is bound to.
type Binding[K id.Kind] struct {
	ID      id.ID[K]
	AddedAt time.Time
}

// Bindings say what a guardrail is bound to beside the whole workspace.
type Bindings struct {
	Members []id.User // at most MaxNamed, sorted
	Keys    []id.Key  // at most MaxNamed, sorted; revoked ones do not count
	More    int       // members and keys beyond those
}

// MaxNamed is how many members, and how many keys, Bindings names.
const MaxNamed = 20
