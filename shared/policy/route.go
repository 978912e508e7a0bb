package policy

import (
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Route is a dynamic route as it is deployed. Which keys it is attached to
// stands in their documents.
type Route struct {
	ID   id.Route `json:"id"`
	Name string   `json:"name"`
	RouteVersion
	// Candidate is a version that is being rolled out; nil: there is none.
	Candidate *RouteCandidate `json:"candidate,omitempty"`
}

// RouteVersion is one immutable version of a route.
type RouteVersion struct {
	Version int        `json:"version"` // from 1
	Graph   flow.Graph `json:"graph"`
	Slots   flow.Slots `json:"slots,omitempty"` // of its percentage nodes
}

// RouteCandidate is a version that a share of the route's subjects is sent
// through instead of the deployed one.
type RouteCandidate struct {
	RouteVersion
	Rollout id.Rollout   `json:"rollout"`
	Percent flow.Percent `json:"percent"`
}

// MaxRoutes is how many dynamic routes a workspace may have.
const MaxRoutes = 200
