package flow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/flow"
)

// A branch that takes everything to a refusal is warned of, also where model
// nodes come before that.
func TestABranchThatAlwaysRejects(t *testing.T) {
	model := func(id, next string) flow.Node {
		return flow.Node{ID: id, Type: flow.Model, Model: "acme/small", Next: next}
	}
	for name, c := range map[string]struct {
		to    string
		whole flow.Percent
		nodes []flow.Node
		want  bool
	}{
		"a reject":                  {"no", flow.Whole, nil, true},
		"a model before it":         {"a", flow.Whole, []flow.Node{model("a", "no")}, true},
		"two models before it":      {"a", flow.Whole, []flow.Node{model("a", "b"), model("b", "no")}, true},
		"a model and the end":       {"a", flow.Whole, []flow.Node{model("a", "end")}, false},
		"a choice before it":        {"a", flow.Whole, []flow.Node{{ID: "a", Type: flow.BudgetLimit, Within: "end", Exceeded: "no"}}, false},
		"models in a circle":        {"a", flow.Whole, []flow.Node{model("a", "b"), model("b", "a")}, false},
		"a model that leads astray": {"a", flow.Whole, []flow.Node{model("a", "nowhere")}, false},
		"a part of the requests":    {"a", flow.Whole - 1, []flow.Node{model("a", "no")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: append([]flow.Node{
				{ID: "start", Type: flow.Start, Next: "split"},
				{ID: "split", Type: flow.Percentage, Branches: []flow.Branch{
					{ID: "x", Percent: c.whole, Next: c.to}, {ID: "y", Percent: flow.Whole - c.whole, Next: "end"},
				}},
				{ID: "no", Type: flow.Reject, Status: 403, Code: "no", Message: "No."},
				{ID: "end", Type: flow.End},
			}, c.nodes...)}
			warned := slices.ContainsFunc(flow.Check(g, nil).Warnings, func(p flow.Problem) bool {
				return p.Code == flow.AlwaysRejects && p.Node == "split" && p.Path == "nodes[1].branches[0].percent"
			})
			require.Equal(t, c.want, warned)
		})
	}
}
