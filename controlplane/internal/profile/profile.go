// Package profile owns routing profiles: named sets of routing fields that are
// bound to the workspace, to departments and to API keys. It knows nothing of
// SQL or HTTP, and not how the fields are resolved.
package profile

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Most is how many profiles a workspace may have: they travel to the gateways
// with every change of the workspace.
const Most = 200

// Profile is one routing profile.
type Profile struct {
	ID        id.Profile
	Workspace id.Workspace
	Name      string // unique in the workspace, whatever the letter case
	Routing   policy.Routing
	Version   int64 // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Published is what gateways get of it.
func (p Profile) Published() policy.Profile {
	return policy.Profile{ID: p.ID, Name: p.Name, Routing: p.Routing}
}

// Draft is what a caller gives.
type Draft struct {
	Name    string
	Routing policy.Routing
}

// Patch changes a profile; nil fields stay. Routing replaces all routing
// fields at once.
type Patch struct {
	Name    *string
	Routing *policy.Routing
	IfMatch *int64
}

// Filter narrows a list.
type Filter struct {
	Name string // exactly, but for the letter case; "" for all
}

// Bindings say what a profile is bound to.
type Bindings struct {
	Workspace   bool
	Departments []id.Department // at most MaxBindings, sorted
	Keys        []id.Key        // at most MaxBindings, sorted; revoked ones do not count
	More        int             // departments and keys beyond those
}

// MaxBindings is how many departments, and how many keys, Bindings names.
const MaxBindings = 20

// Any reports whether there is a binding.
func (b Bindings) Any() bool { return b.Workspace || len(b.Departments) > 0 || len(b.Keys) > 0 }
