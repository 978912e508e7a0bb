package replay

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// side is the workspace under one version of the route.
type side struct {
	view    *policy.View
	version int                   // 0: the keys have no route
	graph   []flow.Node           // in its order
	nodes   map[string]*flow.Node // by id
}

// sideOf puts the keys of a route under one of its versions, and under no other
// route; the zero version puts them under none. Nothing is recorded there.
func sideOf(s policy.Snapshot, r dynamicroute.Route, v dynamicroute.Version) (*side, error) {
	s.Routes, s.Recordings = nil, nil
	if v.Number != 0 {
		s.Routes = []policy.Route{{ID: r.ID, Name: r.Name, RouteVersion: v.Published()}}
	}
	view, err := policy.Compile(s)
	if errors.Is(err, flow.ErrInvalid) {
		return nil, fault.Newf(fault.Conflict, "This version of Signalbox cannot evaluate version %d any more. Save it again to see what is wrong.", v.Number)
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	on := &side{view: view, version: v.Number, graph: v.Graph.Nodes, nodes: make(map[string]*flow.Node, len(v.Graph.Nodes))}
	for i := range on.graph {
		on.nodes[on.graph[i].ID] = &on.graph[i]
	}
	return on, nil
}

// way is where a request goes on one side.
type way struct {
	decide.Plan
	nodes  []string // visited
	reason Reason   // "": it is known
	node   string   // at which it is not known
}

// first is the candidate that is tried first; nil where the request is refused.
func (w *way) first() *decide.Candidate {
	if len(w.Chain) == 0 {
		return nil
	}
	return &w.Chain[0].Candidates[0]
}

// decide is where a request goes.
func (on *side) decide(in decide.Input) way {
	in.Policy = on.view
	w := way{Plan: decide.Decide(in)}
	if route := w.Record.Route; route != nil {
		w.nodes = route.Nodes
	}
	switch {
	case w.UnknownAt != "":
		w.node, w.reason = w.UnknownAt, on.reasonAt(w.UnknownAt, in.Replayed)
	case len(w.NeedsPresets) > 0:
		w.reason = NeedsPreset
	case w.NeedsClassification:
		w.reason = Unclassified
	}
	return w
}

// reasonAt is why the way on from a node cannot be known.
func (on *side) reasonAt(node string, r *decide.Replayed) Reason {
	n := on.nodes[node]
	if n == nil {
		return NotRecorded
	}
	switch n.Type {
	case flow.Percentage:
		return NoSubject
	case flow.RateLimit, flow.BudgetLimit:
		return UnknownUsage
	default:
	}
	for _, read := range (flow.Graph{Nodes: []flow.Node{*n}}).Reads() {
		if read.Source != condition.Model && read.Source != condition.Endpoint && !r.Has(read) {
			return NotRecorded
		}
	}
	return Hidden
}

// chooses reports whether a node has more than one way out.
func chooses(n *flow.Node) bool {
	switch n.Type {
	case flow.When, flow.Percentage, flow.RateLimit, flow.BudgetLimit:
		return true
	default:
		return false
	}
}

// cause is the node of on to which a change is put down: the one at which the way
// leaves that of the other side, or, where both go the same way, the last one on
// it that says something else there.
func (on *side) cause(other *side, before, after []string) string {
	same := 0
	for same < len(before) && same < len(after) && before[same] == after[same] {
		same++
	}
	if same < len(after) && same > 0 {
		if last := on.nodes[after[same-1]]; chooses(last) {
			return last.ID
		}
		return after[same]
	}
	said := ""
	for _, node := range slices.Backward(after) {
		n := on.nodes[node]
		if n.Type != flow.Model && n.Type != flow.Reject {
			continue
		}
		if was := other.nodes[node]; was == nil || !reflect.DeepEqual(was, n) {
			return node
		}
		if said == "" {
			said = node
		}
	}
	if said == "" && len(after) > 0 {
		said = after[len(after)-1]
	}
	return said
}

// unmeasured is what a replay takes the endpoints' health to be: that of the past
// is not recorded, and that of now has nothing to do with it.
type unmeasured struct{}

// Endpoint implements decide.Health.
func (unmeasured) Endpoint(string) decide.EndpointHealth { return decide.EndpointHealth{} }

// Credential implements decide.Health.
func (unmeasured) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }
