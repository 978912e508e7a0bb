package policy

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// CompiledRoute is a dynamic route ready to be walked. It is frozen.
type CompiledRoute struct {
	ID   id.Route
	Text string // of the id
	Name string
	CompiledVersion
	Candidate *CompiledCandidate // nil: none is being rolled out
}

// CompiledVersion is one version of a route, ready to be walked.
type CompiledVersion struct {
	Version int
	Program *flow.Program
	Nodes   int // of the graph
	// ReadsModel says that the way through the graph may depend on the model's
	// name, ReadsUsage that it may depend on what the key has used.
	ReadsModel, ReadsUsage bool
	bodyPaths              []string
}

// CompiledCandidate is a version that a share of the subjects is sent through.
type CompiledCandidate struct {
	CompiledVersion
	Rollout id.Rollout
	Percent flow.Percent
}

// NeedsUsage reports whether walking the route may depend on what the key has
// used, whichever version a subject is sent through.
func (r *CompiledRoute) NeedsUsage() bool {
	return r.ReadsUsage || r.Candidate != nil && r.Candidate.ReadsUsage
}

// BodyPaths are the paths in a request's body that walking the route may look at,
// whichever version a subject is sent through.
func (r *CompiledRoute) BodyPaths() []string {
	if r.Candidate == nil {
		return r.bodyPaths
	}
	return append(slices.Clip(r.bodyPaths), r.Candidate.bodyPaths...)
}

// compileRoutes fails for a snapshot with a graph that cannot be walked: to
// leave one out would serve its keys by other rules than their workspace's.
func compileRoutes(routes []Route) (map[id.Route]*CompiledRoute, error) {
	if len(routes) == 0 {
		return nil, nil
	}
	compiled := make(map[id.Route]*CompiledRoute, len(routes))
	for i := range routes {
		r := &routes[i]
		stable, err := compileVersion(r.ID, &r.RouteVersion)
		if err != nil {
			return nil, err
		}
		c := &CompiledRoute{ID: r.ID, Text: r.ID.String(), Name: r.Name, CompiledVersion: stable}
		if r.Candidate != nil {
			version, err := compileVersion(r.ID, &r.Candidate.RouteVersion)
			if err != nil {
				return nil, err
			}
			c.Candidate = &CompiledCandidate{CompiledVersion: version, Rollout: r.Candidate.Rollout, Percent: r.Candidate.Percent}
		}
		compiled[r.ID] = c
	}
	return compiled, nil
}

func compileVersion(route id.Route, v *RouteVersion) (CompiledVersion, error) {
	program, err := flow.Compile(route, v.Graph, v.Slots)
	if err != nil {
		return CompiledVersion{}, fmt.Errorf("compile version %d of route %s: %w", v.Version, route, err)
	}
	daily, weekly, monthly := program.NeedsUsage()
	c := CompiledVersion{Version: v.Version, Program: program, Nodes: len(v.Graph.Nodes), ReadsUsage: daily || weekly || monthly}
	for _, input := range program.Reads() {
		switch input.Source {
		case condition.Model:
			c.ReadsModel = true
		case condition.Body:
			c.bodyPaths = append(c.bodyPaths, input.Path)
		default:
		}
	}
	return c, nil
}

// Route returns a dynamic route that applies: an active one with a deployed
// version.
func (v *View) Route(route id.Route) (*CompiledRoute, bool) {
	r, ok := v.routes[route]
	return r, ok
}
