package flow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// anyGraph draws a valid graph: each node leads on to later ones alone, and
// those that nothing leads to are left out.
func anyGraph(t *rapid.T) flow.Graph {
	n := rapid.IntRange(2, flow.MaxNodes).Draw(t, "nodes")
	nodes := make([]flow.Node, n)
	reached := make([]bool, n)
	reached[0] = true
	later := func(i int) string {
		j := rapid.IntRange(i+1, n-1).Draw(t, "to")
		reached[j] = true
		return fmt.Sprintf("n%d", j)
	}
	for i := range nodes {
		nodes[i].ID = fmt.Sprintf("n%d", i)
		switch {
		case i == 0:
			nodes[i].Type, nodes[i].Next = flow.Start, later(0)
		case i == n-1:
			nodes[i].Type = flow.End
		case reached[i]:
			anyNode(t, &nodes[i], func() string { return later(i) })
		}
	}
	g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "n0"}
	for i := range nodes {
		if reached[i] {
			g.Nodes = append(g.Nodes, nodes[i])
		}
	}
	return g
}

func anyNode(t *rapid.T, n *flow.Node, later func() string) {
	windows := []flow.Window{flow.Daily, flow.Weekly, flow.Monthly}
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		when := anyTest(t)
		n.Type, n.When, n.True, n.False = flow.When, &when, later(), later()
	case 1:
		n.Type, n.Branches = flow.Percentage, anyBranches(t, later)
	case 2:
		most := rapid.Int64Range(0, 5).Draw(t, "requests")
		n.Type, n.Window, n.MaxRequests = flow.RateLimit, rapid.SampledFrom(windows).Draw(t, "window"), &most
		n.Within, n.Exceeded = later(), later()
	case 3:
		n.Type, n.Window, n.MaxCostUSD = flow.BudgetLimit, rapid.SampledFrom(windows).Draw(t, "window"), "0.000000003"
		n.Within, n.Exceeded = later(), later()
	default:
		n.Type, n.Next = flow.Model, later()
		n.Model = rapid.SampledFrom([]string{"", "acme/big", "acme/small"}).Draw(t, "model")
		n.RoutingMode = rapid.SampledFrom([]string{"", "price", "latency"}).Draw(t, "mode")
	}
}

func anyTest(t *rapid.T) condition.Condition {
	source := rapid.SampledFrom([]condition.Source{condition.Metadata, condition.UserID, condition.WorkspaceTag}).Draw(t, "source")
	c := condition.Condition{Source: source}
	if source == condition.Metadata {
		c.Path = "plan"
	}
	c.Op = rapid.SampledFrom(condition.Ops()).Draw(t, "op")
	values := []condition.Value{condition.Text("Pro"), condition.Text("12.0"), number("12"), condition.Bool(true)}
	value := rapid.SampledFrom(values).Draw(t, "value")
	switch c.Op {
	case condition.Exists, condition.NotExists:
	case condition.In, condition.NotIn:
		c.Value = condition.List(value, condition.Null())
	case condition.Matches:
		c.Value = condition.One(condition.Text("^p"))
	case condition.GreaterThan, condition.LessThan:
		c.Value = condition.One(rapid.SampledFrom(values[:3]).Draw(t, "number"))
	default:
		c.Value = condition.One(value)
	}
	return c
}

func number(literal string) condition.Value {
	v, _ := condition.Number(literal)
	return v
}

// anyBranches are 2 to 10 branches whose percents sum to 100.
func anyBranches(t *rapid.T, later func() string) []flow.Branch {
	cuts := rapid.SliceOfN(rapid.IntRange(0, int(flow.Whole)), 1, flow.MaxBranches-1).Draw(t, "cuts")
	slices.Sort(cuts)
	branches, before := make([]flow.Branch, 0, len(cuts)+1), 0
	for i, cut := range append(cuts, int(flow.Whole)) {
		branches = append(branches, flow.Branch{ID: fmt.Sprintf("b%d", i), Percent: flow.Percent(cut - before), Next: later()})
		before = cut
	}
	return branches
}

func anyFacts(t *rapid.T) *flow.Facts {
	bucket := func() flow.Bucket {
		return flow.Bucket{
			Known: rapid.Bool().Draw(t, "known"), Requests: rapid.Int64Range(0, 6).Draw(t, "requests"),
			Cost: money.Nanos(rapid.Int64Range(0, 6).Draw(t, "cost")),
		}
	}
	values := []any{"pro", "PRO", "12", "12.0", "1.2e1", "", "free", true, nil, json.Number("12"), json.Number("1e400"), "ⅫPRO"}
	r := &request{
		Metadata:      map[string]any{"plan": rapid.SampledFrom(values).Draw(t, "plan")},
		UserID:        rapid.SampledFrom([]string{"", "pro", "12", "x"}).Draw(t, "user"),
		WorkspaceTags: rapid.SliceOfN(rapid.SampledFrom([]string{"Pro", "12", "eu"}), 0, 3).Draw(t, "tags"),
	}
	return &flow.Facts{
		Request: r, Subject: rapid.String().Draw(t, "subject"),
		Usage: flow.Usage{Daily: bucket(), Weekly: bucket(), Monthly: bucket()},
	}
}

// TestEvaluationEnds: every evaluation follows the graph's edges from the start
// to an end or a refusal, comes to no node twice, and does the same again.
func TestEvaluationEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		require.Empty(t, flow.Check(g, nil).Problems)
		p, err := flow.Compile(aRoute, g, flow.Derive(g, nil))
		require.NoError(t, err)
		facts := anyFacts(t)
		action, visited := p.Evaluate(facts, nil)

		nodes := map[string]*flow.Node{}
		for i := range g.Nodes {
			nodes[g.Nodes[i].ID] = &g.Nodes[i]
		}
		require.Equal(t, g.Entry, visited[0])
		require.Equal(t, flow.End, nodes[visited[len(visited)-1]].Type)
		for i, at := range visited[1:] {
			from := nodes[visited[i]]
			to := []string{from.Next, from.True, from.False, from.Within, from.Exceeded}
			for _, b := range from.Branches {
				if b.Percent > 0 {
					to = append(to, b.Next)
				}
			}
			require.Contains(t, to, at)
			require.NotContains(t, visited[:i+1], at)
		}
		again, path := p.Evaluate(facts, nil)
		require.Equal(t, action, again)
		require.Equal(t, visited, path)
	})
}

// TestShares measures percentages over 100 000 subjects of several kinds.
func TestShares(t *testing.T) {
	const subjects = 100_000
	for name, form := range map[string]string{"numbers": "%d", "sessions": "session-%d", "addresses": "user%06d@example.com"} {
		t.Run(name, func(t *testing.T) {
			all := make([]flow.Facts, subjects)
			for i := range all {
				all[i].Subject = fmt.Sprintf(form, i)
			}
			for _, percents := range [][]string{{"99.99", "0.01"}, {"33.33", "66.67", "0"}, {"10", "10", "10", "10", "10", "10", "10", "10", "10", "10"}} {
				g := split(t, percents...)
				p := compiled(t, g, flow.Derive(g, nil))
				count := map[string]int{}
				visited := make([]string, 0, 4)
				for i := range all {
					_, visited = p.Evaluate(&all[i], visited[:0])
					count[visited[2]]++
				}
				for _, b := range g.Nodes[1].Branches {
					require.InDelta(t, float64(b.Percent)/100, float64(count[b.Next])*100/subjects, 1, b.ID)
					if b.Percent == 0 {
						require.Zero(t, count[b.Next])
					}
				}
			}
		})
	}
}

// TestNodesDrawApart: what one node or one rollout draws says nothing of what
// another does.
func TestNodesDrawApart(t *testing.T) {
	const subjects = 100_000
	rollout := aRollout
	both, with := 0, 0
	for i := range subjects {
		subject := fmt.Sprintf("session-%d", i)
		first := flow.Slot(aRoute, "a", subject) < 5000
		if first && flow.Slot(aRoute, "b", subject) < 5000 {
			both++
		}
		if first && flow.InRollout(rollout, subject, 5000) {
			with++
		}
	}
	require.InDelta(t, 25, float64(both)*100/subjects, 1)
	require.InDelta(t, 25, float64(with)*100/subjects, 1)
}

// split is a graph of one percentage, whose branch bi leads to model mi.
func split(t testing.TB, percents ...string) flow.Graph {
	t.Helper()
	node := flow.Node{ID: "split", Type: flow.Percentage}
	g := flow.Graph{SchemaVersion: 1, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: "split"}, {}, {ID: "end", Type: flow.End}}}
	for i, text := range percents {
		percent, err := flow.ParsePercent(text)
		require.NoError(t, err)
		node.Branches = append(node.Branches, flow.Branch{ID: fmt.Sprintf("b%d", i), Percent: percent, Next: fmt.Sprintf("m%d", i)})
		g.Nodes = append(g.Nodes, flow.Node{ID: fmt.Sprintf("m%d", i), Type: flow.Model, Next: "end"})
	}
	g.Nodes[1] = node
	require.Empty(t, flow.Check(g, nil).Problems)
	return g
}

// owners is which branch each slot of a table belongs to.
func owners(table flow.Table) []string {
	var list []string
	for _, run := range table {
		list = append(list, slices.Repeat([]string{run.Branch}, run.Slots)...)
	}
	return list
}

// TestDeriveMovesWhatMust: through a chain of versions, whose branches come, go
// and change places, each table gives every branch its percent, half the sum of
// the changes moves, and nothing leaves a branch that grows.
func TestDeriveMovesWhatMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var slots flow.Slots
		had := map[string]int{}
		for range rapid.IntRange(1, 6).Draw(t, "versions") {
			node := flow.Node{ID: "split", Type: flow.Percentage, Branches: anyBranches(t, func() string { return "end" })}
			names := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}).Draw(t, "ids")
			has := map[string]int{}
			for i := range node.Branches {
				node.Branches[i].ID = names[i]
				has[names[i]] = int(node.Branches[i].Percent)
			}
			g := flow.Graph{SchemaVersion: 1, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: "split"}, node, {ID: "end", Type: flow.End}}}
			before := owners(slots["split"])
			slots = flow.Derive(g, slots)
			require.Equal(t, slots, flow.Derive(g, slots), "an unchanged graph moves nothing")
			_, err := flow.Compile(aRoute, g, slots)
			require.NoError(t, err, "each branch has its percent")
			for i, run := range slots["split"][1:] {
				require.NotEqual(t, slots["split"][i].Branch, run.Branch, "runs are merged")
			}
			after := owners(slots["split"])
			require.Len(t, after, 10_000)
			if len(before) > 0 {
				changes, moved := 0, 0
				for _, name := range names {
					changes += max(has[name]-had[name], had[name]-has[name])
				}
				for slot := range after {
					from, to := before[slot], after[slot]
					if from == to {
						continue
					}
					moved++
					if has[from] >= had[from] || has[to] <= had[to] {
						t.Fatalf("slot %d goes from %s, which does not shrink, or to %s, which does not grow", slot, from, to)
					}
				}
				require.Equal(t, changes/2, moved)
			}
			had = has
		}
	})
}

// TestRaisingMovesThoseSubjects raises a trial from 10 % to 20 %.
func TestRaisingMovesThoseSubjects(t *testing.T) {
	first, second := split(t, "90", "10"), split(t, "80", "20")
	slots := flow.Derive(first, nil)
	before, after := compiled(t, first, slots), compiled(t, second, flow.Derive(second, slots))
	const subjects = 100_000
	moved := 0
	for i := range subjects {
		facts := &flow.Facts{Subject: fmt.Sprintf("session-%d", i)}
		_, from := before.Evaluate(facts, nil)
		_, to := after.Evaluate(facts, nil)
		if from[2] != to[2] {
			moved++
			require.Equal(t, []string{"m0", "m1"}, []string{from[2], to[2]})
		}
	}
	require.InDelta(t, 10, float64(moved)*100/subjects, 1)
}

// TestReplayKnowsOrSaysSo: on a record whose texts are hidden, whatever Replay
// knows is what Evaluate said of the request.
func TestReplayKnowsOrSaysSo(t *testing.T) {
	h := condition.NewHider([]byte("a key"))
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		p, err := flow.Compile(aRoute, g, flow.Derive(g, nil))
		require.NoError(t, err)
		live := anyFacts(t)
		action, visited := p.Evaluate(live, nil)
		record := *live
		record.Request, record.Subject, record.SubjectHash = recorded{live.Request, h}, "", flow.HashSubject(live.Subject)
		replayed, path, unknownAt := p.Replay(&record, h, nil)
		require.Equal(t, visited[:len(path)], path, "the same way, as far as it is known")
		if unknownAt == "" {
			require.Equal(t, action, replayed)
			require.Equal(t, visited, path)
		} else {
			require.Equal(t, unknownAt, path[len(path)-1])
		}
	})
}

// recorded is a request of which a record keeps what Hide makes of it.
type recorded struct {
	condition.Facts
	h condition.Hider
}

func (r recorded) Look(s condition.Source, path string) []condition.Value {
	values := r.Facts.Look(s, path)
	for i, v := range values {
		values[i] = r.h.Hide(v)
	}
	return values
}

// TestNothingPanics changes bytes of good graphs at random and reads, checks
// and, where that is possible, evaluates what comes of it.
func TestNothingPanics(t *testing.T) {
	var seeds [][]byte
	for _, dir := range cases(t) {
		seeds = append(seeds, read(t, dir+"/graph.json"))
	}
	rapid.Check(t, func(t *rapid.T) {
		raw := slices.Clone(rapid.SampledFrom(seeds).Draw(t, "graph"))
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "at")] = rapid.SampledFrom([]byte(`"{}[],:0x-`)).Draw(t, "byte")
		}
		tryGraph(t, raw, "subject")
	})
}

// tryGraph holds what is so of every input.
func tryGraph(t require.TestingT, raw []byte, subject string) {
	g, report := flow.Read(raw, names{})
	if !report.OK() {
		_, _ = flow.Compile(aRoute, g, flow.Derive(g, nil))
		return
	}
	body, err := flow.Encode(g)
	require.NoError(t, err)
	back, problems := flow.Decode(body)
	require.Empty(t, problems)
	require.Equal(t, flow.Digest(g), flow.Digest(back))
	require.Zero(t, flow.Diff(g, back))
	p, err := flow.Compile(aRoute, g, flow.Derive(g, nil))
	require.NoError(t, err)
	facts := &flow.Facts{Request: &request{}, Subject: subject}
	action, visited := p.Evaluate(facts, nil)
	require.NotEmpty(t, visited)
	require.LessOrEqual(t, len(visited), len(g.Nodes))
	if _, path, unknownAt := p.Replay(facts, condition.Hider{}, nil); unknownAt == "" {
		require.Equal(t, visited, path)
	}
	if action.Reject != nil {
		require.Equal(t, action.Reject.Node, visited[len(visited)-1])
	}
}

// FuzzGraph: whatever is submitted, reading it ends without a panic; what is
// accepted can be written, read, compiled and evaluated.
func FuzzGraph(f *testing.F) {
	for _, dir := range cases(f) {
		f.Add(read(f, dir+"/graph.json"), "session-1")
	}
	f.Fuzz(func(t *testing.T, raw []byte, subject string) { tryGraph(t, raw, subject) })
}

// TestDigest: neither the order of members, nor blanks, nor how a percent is
// spelled counts; the places of nodes do.
func TestDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGraph(t)
		body, err := flow.Encode(g)
		require.NoError(t, err)
		shuffled, err := json.MarshalIndent(shuffle(t, body), " ", "\t")
		require.NoError(t, err)
		back, problems := flow.Decode(shuffled)
		require.Empty(t, problems)
		require.Equal(t, flow.Digest(g), flow.Digest(back))
		require.Len(t, flow.Digest(g), 64)

		i := rapid.IntRange(0, len(back.Nodes)-1).Draw(t, "node")
		back.Nodes[i].Position = &flow.Position{X: 1}
		require.NotEqual(t, flow.Digest(g), flow.Digest(back))
		change := flow.Diff(g, back)
		require.Equal(t, []flow.NodeChange{{Node: g.Nodes[i].ID, Fields: []flow.FieldChange{{Path: "position", After: json.RawMessage(`{"x":1,"y":0}`)}}}}, change.Changed)
		require.Empty(t, append(change.Added, change.Removed...))
		require.Empty(t, change.Graph)
	})
	one, problems := flow.Decode([]byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"percentage","branches":[{"id":"a","percent":50.00,"next":"s"}]}]}`))
	require.Empty(t, problems)
	two, problems := flow.Decode([]byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"percentage","branches":[{"id":"a","percent":50,"next":"s"}]}]}`))
	require.Empty(t, problems)
	require.Equal(t, flow.Digest(one), flow.Digest(two))
}

// shuffle gives the members of a JSON value's objects another order.
func shuffle(t *rapid.T, raw []byte) any {
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch raw[0] {
	case '{':
		require.NoError(t, json.Unmarshal(raw, &object))
		names := slices.Sorted(maps.Keys(object))
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		members := make([]string, len(names))
		for i, name := range names {
			inner, err := json.Marshal(shuffle(t, object[name]))
			require.NoError(t, err)
			members[i] = fmt.Sprintf("%q:%s", name, inner)
		}
		return json.RawMessage("{" + strings.Join(members, ",") + "}")
	case '[':
		require.NoError(t, json.Unmarshal(raw, &list))
		out := make([]any, len(list))
		for i := range list {
			out[i] = shuffle(t, list[i])
		}
		return out
	}
	return json.RawMessage(raw)
}
