// Package dynamicroute owns dynamic routes: their names, the immutable versions
// of their graphs, the log of what was deployed, and the API keys that they are
// attached to. It knows nothing of SQL or HTTP, and not how a graph is checked
// and evaluated.
package dynamicroute

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// The bounds of a route, in characters where it is text.
const (
	MaxName        = 80
	MaxDescription = 500
	MaxNote        = 500
	MaxKeys        = 5000 // attached to one route
)

// Route is one dynamic route without its versions.
type Route struct {
	ID          id.Route
	Workspace   id.Workspace
	Name        string // unique among what is not deleted, whatever the letter case
	Slug        string // unique among what is not deleted
	Description string
	Status      Status
	Latest      int // number of the newest version; 0 while there is none
	Deployed    int // number of the deployed version; 0 while none is
	Deployment  int // number of the last deployment; 0 before the first
	Turn        id.Route
	Version     int64 // rises with every change, from 1
	CreatedAt   time.Time
	UpdatedAt   time.Time
	DeletedAt   *time.Time // its versions stay readable
}

// Applies reports whether it decides over the requests of its keys.
func (r Route) Applies() bool { return r.Status == Active && r.Deployed != 0 && r.DeletedAt == nil }

// Status says whether a route applies to its keys.
type Status string

// The states.
const (
	Active Status = "active"
	Paused Status = "paused"
)

// Detail is a route with what it is attached to and its newest version.
type Detail struct {
	Route
	Keys    []id.Key // sorted; revoked ones do not count
	Newest  Version  // zero while there is none
	Rollout Underway // zero where none is open
}

// Version is one saved graph. Nothing of it changes but its status.
type Version struct {
	Workspace id.Workspace
	Route     id.Route
	Number    int // from 1
	Graph     flow.Graph
	Slots     flow.Slots // of its percentage nodes
	Digest    string     // of the graph
	Parent    int        // the version whose slots its own were derived from; 0 for none
	Note      string
	CreatedBy id.User // zero for what no user made
	CreatedAt time.Time
	Status    VersionStatus
}

// VersionStatus says whether a version is or was deployed.
type VersionStatus string

// The states of a version.
const (
	Draft      VersionStatus = "draft" // never deployed
	Deployed   VersionStatus = "deployed"
	Superseded VersionStatus = "superseded"
)

// Published is what gateways get of it as a part of its route.
func (v Version) Published() policy.RouteVersion {
	return policy.RouteVersion{Version: v.Number, Graph: v.Graph, Slots: v.Slots}
}

// Deployment is one entry of the log of what was deployed.
type Deployment struct {
	Workspace  id.Workspace
	Route      id.Route
	Number     int // from 1
	Version    int
	Rollback   bool
	Replaced   int // the deployment that it took the place of; 0 for the first
	Beneath    int // the one that rolling it back restores; 0 for none
	RolledBack bool
	DeployedBy id.User // zero for what no user did
	DeployedAt time.Time
}

// NewRoute is what a caller gives to create a route.
type NewRoute struct {
	Name        string
	Slug        string // "" has one made of the name
	Description string
	Status      Status // "" is active
	Config      []byte // the graph as JSON, which becomes version 1; nil for none
	Note        string // of that version
}

// Patch changes a route; nil fields stay.
type Patch struct {
	Name        *string
	Slug        *string
	Description *string
	Status      *Status
	Config      []byte // a graph as JSON, saved as a version where it differs from the newest
	Note        string // of that version
	IfMatch     *int64
}

// NewVersion is what a caller gives to save a version.
type NewVersion struct {
	Config  []byte // the graph as JSON
	Note    string
	Parent  *int // the version to derive the slots from; nil for the newest
	IfMatch *int64
}

// Filter narrows a list.
type Filter struct {
	Name string // a name, but for the letter case, or a slug; "" for all
}
