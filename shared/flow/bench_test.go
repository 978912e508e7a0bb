package flow_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// long is a graph of n nodes, all on one path: conditions, percentages, limits
// and model nodes in turn.
func long(t testing.TB, n int) *flow.Program {
	t.Helper()
	most := int64(1_000_000)
	g := flow.Graph{SchemaVersion: 1, Entry: "n0", Nodes: []flow.Node{{ID: "n0", Type: flow.Start, Next: "n1"}}}
	for i := 1; i < n-1; i++ {
		node, next := flow.Node{ID: fmt.Sprintf("n%d", i)}, fmt.Sprintf("n%d", i+1)
		switch i % 4 {
		case 0:
			node.Type, node.True, node.False = flow.When, next, next
			node.When = &condition.Condition{All: []condition.Condition{
				{Source: condition.Metadata, Path: "plan", Op: condition.Equals, Value: condition.One(condition.Text("pro"))},
				{Source: condition.UserID, Op: condition.StartsWith, Value: condition.One(condition.Text("user"))},
			}}
		case 1:
			node.Type, node.Branches = flow.Percentage, []flow.Branch{{ID: "a", Percent: 5000, Next: next}, {ID: "b", Percent: 5000, Next: next}}
		case 2:
			node.Type, node.Window, node.MaxRequests, node.Within, node.Exceeded = flow.RateLimit, flow.Daily, &most, next, next
		default:
			node.Type, node.Model, node.Next = flow.Model, "acme/big", next
			node.Provider = &flow.Provider{Only: []string{"north"}, MaxPrice: &flow.MaxPrice{Input: "1"}}
		}
		g.Nodes = append(g.Nodes, node)
	}
	g.Nodes = append(g.Nodes, flow.Node{ID: fmt.Sprintf("n%d", n-1), Type: flow.End})
	return compiled(t, g, flow.Derive(g, nil))
}

func benchFacts() *flow.Facts {
	return &flow.Facts{
		Subject: "0192f3c0-7d1e-7c3a-9f5e-2b8d4c6a1e90",
		Usage:   flow.Usage{Daily: flow.Bucket{Known: true, Requests: 5}},
		Request: facts{"metadata plan": {condition.Text("Pro")}, "user_id": {condition.Text("User-17")}},
	}
}

// TestEvaluateAllocatesNothing: all that an evaluation makes is the list of
// nodes that it was given room for.
func TestEvaluateAllocatesNothing(t *testing.T) {
	p, f := long(t, flow.MaxNodes), &flow.Facts{Request: frozen{}, Subject: "session-1"}
	visited := make([]string, 0, flow.MaxNodes)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, visited = p.Evaluate(f, visited[:0]) }))
	require.Len(t, visited, flow.MaxNodes)
}

// frozen is a request that allocates nothing of its own.
type frozen struct{}

var frozenValue = []condition.Value{condition.Text("Pro")}

func (frozen) Look(condition.Source, string) []condition.Value { return frozenValue }

// BenchmarkEvaluate walks graphs of which every node is on the path.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{4, 16, flow.MaxNodes} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			p, f := long(b, n), benchFacts()
			f.Request = frozen{}
			visited := make([]string, 0, n)
			b.ReportAllocs()
			for b.Loop() {
				_, visited = p.Evaluate(f, visited[:0])
			}
		})
	}
}
