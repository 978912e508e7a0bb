package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var routeID = id.MustParse[id.RouteKind]("route_01kb7n0z1v8q5r2m3t4w5x6y7e")

// version has what the nodes between start and end decide.
func version(number int, nodes ...flow.Node) policy.RouteVersion {
	first := "end"
	if len(nodes) > 0 {
		first = nodes[0].ID
	}
	g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: first}}}
	g.Nodes = append(append(g.Nodes, nodes...), flow.Node{ID: "end", Type: flow.End})
	return policy.RouteVersion{Version: number, Graph: g, Slots: flow.Derive(g, nil)}
}

// A view has the routes of its snapshot ready to be walked, and knows what they
// depend on.
func TestCompiledRoutes(t *testing.T) {
	most := int64(5)
	limit := flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Monthly, MaxRequests: &most, Within: "end", Exceeded: "end"}
	reads := flow.Node{ID: "reads", Type: flow.When, True: "end", False: "end", When: &condition.Condition{
		Source: condition.Model, Op: condition.Equals, Value: condition.One(condition.Text("acme/small")),
	}}
	s := snapshot()
	s.Routes = []policy.Route{{ID: routeID, Name: "main", RouteVersion: version(3, reads)}}
	v, err := policy.Compile(s)
	require.NoError(t, err)
	r, ok := v.Route(routeID)
	require.True(t, ok)
	require.Equal(t, []any{routeID, routeID.String(), "main", 3, 3, true, false}, []any{r.ID, r.Text, r.Name, r.Version, r.Nodes, r.ReadsModel, r.NeedsUsage()})
	require.Nil(t, r.Candidate)
	_, ok = v.Route(id.Route{})
	require.False(t, ok)
	require.Empty(t, r.BodyPaths())

	s.Routes[0].Candidate = &policy.RouteCandidate{RouteVersion: version(4, limit), Percent: 100}
	v, err = policy.Compile(s)
	require.NoError(t, err)
	r, _ = v.Route(routeID)
	require.True(t, r.NeedsUsage(), "the candidate reads it")
	require.Equal(t, 4, r.Candidate.Version)
	require.False(t, r.Candidate.ReadsModel)

	tier, plan := reads, reads
	tier.When = &condition.Condition{Source: condition.Body, Path: "tier", Op: condition.Exists}
	plan.When = &condition.Condition{Source: condition.Body, Path: "plan", Op: condition.Exists}
	s.Routes[0] = policy.Route{ID: routeID, RouteVersion: version(3, tier), Candidate: &policy.RouteCandidate{RouteVersion: version(4, plan)}}
	v, err = policy.Compile(s)
	require.NoError(t, err)
	r, _ = v.Route(routeID)
	require.Equal(t, []string{"tier", "plan"}, r.BodyPaths(), "whichever version it is")
}

// A route that cannot be walked fails the whole snapshot: without it its keys
// would be served by other rules.
func TestASnapshotWithABadRouteIsNotCompiled(t *testing.T) {
	bad := version(2)
	bad.Graph.Entry = "nowhere"
	for _, route := range []policy.Route{
		{ID: routeID, RouteVersion: bad},
		{ID: routeID, RouteVersion: version(1), Candidate: &policy.RouteCandidate{RouteVersion: bad}},
	} {
		s := snapshot()
		s.Routes = []policy.Route{route}
		_, err := policy.Compile(s)
		require.ErrorIs(t, err, flow.ErrInvalid)
		require.ErrorContains(t, err, "version 2")
	}
}
