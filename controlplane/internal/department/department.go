// Package department owns departments: the parts of a workspace that API keys
// and members belong to, each with the routing profile that is bound to it. It
// knows nothing of SQL or HTTP.
package department

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Most is how many departments a workspace may have: they travel to the
// gateways with every change of the workspace.
const Most = 1000

// Department is one part of a workspace.
type Department struct {
	ID        id.Department
	Workspace id.Workspace
	Name      string     // unique in the workspace, whatever the letter case
	Profile   id.Profile // the routing profile bound to it; zero for none
	Version   int64      // rises with every change, from 1
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Published is what gateways get of it.
func (d Department) Published() policy.Department {
	return policy.Department{ID: d.ID, Name: d.Name, Profile: d.Profile}
}

// Draft is what a caller gives.
type Draft struct {
	Name    string
	Profile id.Profile // zero for none
}

// Patch changes a department; nil fields stay.
type Patch struct {
	Name    *string
	Profile *id.Profile // the zero id unbinds
	IfMatch *int64
}

// Filter narrows a list.
type Filter struct {
	Name string // exactly, but for the letter case; "" for all
}

// Uses are what keeps a department from being deleted.
type Uses struct {
	Keys     []id.Key        // at most MaxNamed, sorted; revoked ones do not count
	Members  []id.User       // at most MaxNamed, sorted
	Policies []id.RatePolicy // at most MaxNamed, sorted: those that are assigned to it
	More     int             // keys, members and policies beyond those
}

// MaxNamed is how many keys, how many members and how many policies Uses names.
const MaxNamed = 20
