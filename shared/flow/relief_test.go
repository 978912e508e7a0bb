package flow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The same request may pass when the shortest of the windows that are used up
// begins anew.
func TestRelief(t *testing.T) {
	limit := func(name string, window flow.Window, most int64, exceeded string) flow.Node {
		return flow.Node{ID: name, Type: flow.RateLimit, Window: window, MaxRequests: &most, Within: "end", Exceeded: exceeded}
	}
	budget := flow.Node{ID: "budget", Type: flow.BudgetLimit, Window: flow.Daily, MaxCostUSD: "1", Within: "end", Exceeded: "no"}
	reject := flow.Node{ID: "no", Type: flow.Reject, Status: 429, Code: "used_up", Message: "Used up."}
	used := flow.Bucket{Known: true, Requests: 5, Cost: 2_000_000_000}
	all := flow.Usage{Daily: used, Weekly: used, Monthly: used}
	const never = ""
	for name, c := range map[string]struct {
		nodes []flow.Node
		usage flow.Usage
		now   string
		want  string
	}{
		"a day":              {[]flow.Node{limit("a", flow.Daily, 5, "no")}, all, "2026-11-30T20:00:00Z", "2026-12-01T00:00:00Z"},
		"another zone":       {[]flow.Node{limit("a", flow.Daily, 5, "no")}, all, "2026-11-30T22:00:00-05:00", "2026-12-02T00:00:00Z"},
		"a cost":             {[]flow.Node{budget}, all, "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"},
		"a week on Monday":   {[]flow.Node{limit("a", flow.Weekly, 5, "no")}, all, "2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"},
		"a week on Sunday":   {[]flow.Node{limit("a", flow.Weekly, 5, "no")}, all, "2026-12-06T23:59:59Z", "2026-12-07T00:00:00Z"},
		"a month":            {[]flow.Node{limit("a", flow.Monthly, 5, "no")}, all, "2026-12-31T10:00:00Z", "2027-01-01T00:00:00Z"},
		"the shortest":       {[]flow.Node{limit("a", flow.Monthly, 1, "b"), limit("b", flow.Weekly, 1, "no")}, all, "2026-11-30T10:00:00Z", "2026-12-07T00:00:00Z"},
		"the shortest first": {[]flow.Node{limit("a", flow.Daily, 1, "b"), limit("b", flow.Weekly, 1, "no")}, all, "2026-11-30T10:00:00Z", "2026-12-01T00:00:00Z"},
		"a limit of nothing": {[]flow.Node{limit("a", flow.Daily, 0, "no")}, all, "2026-11-30T10:00:00Z", never},
		"kept":               {[]flow.Node{limit("a", flow.Daily, 6, "no")}, all, "2026-11-30T10:00:00Z", never},
		"not known":          {[]flow.Node{limit("a", flow.Daily, 5, "no")}, flow.Usage{}, "2026-11-30T10:00:00Z", never},
	} {
		t.Run(name, func(t *testing.T) {
			g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: c.nodes[0].ID}}}
			g.Nodes = append(append(g.Nodes, c.nodes...), reject, flow.Node{ID: "end", Type: flow.End})
			p, err := flow.Compile(id.Route{}, g, nil)
			require.NoError(t, err)
			now, err := time.Parse(time.RFC3339, c.now)
			require.NoError(t, err)
			facts := flow.Facts{Usage: c.usage}
			_, visited := p.Evaluate(&facts, nil)
			var want time.Time
			if c.want != never {
				want, err = time.Parse(time.RFC3339, c.want)
				require.NoError(t, err)
			}
			require.Equal(t, want, p.Relief(&facts, visited, now))
		})
	}
}
