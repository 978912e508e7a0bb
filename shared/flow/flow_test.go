package flow_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// TestDrawVectors holds the hash that docs/dynamic-routes.md describes: another
// implementation computed these.
func TestDrawVectors(t *testing.T) {
	page := string(read(t, "../../docs/dynamic-routes.md"))
	for _, v := range []struct {
		node, subject string
		slot          int
	}{
		{"split", "", 5680},
		{"split", "session-1", 1136},
		{"split", "Session-1", 9859},
		{"other", "session-1", 2415},
		{"split", "пользователь", 3564},
	} {
		require.Equal(t, v.slot, flow.Slot(aRoute, v.node, v.subject), v)
		require.Contains(t, page, fmt.Sprintf("| `%s` | `%s` | `%q` | %d |", aRoute, v.node, v.subject, v.slot))
	}
	for subject, slot := range map[string]flow.Percent{"session-1": 9841, "session-2": 3052, "session-3": 9223} {
		require.False(t, flow.InRollout(aRollout, subject, slot))
		require.True(t, flow.InRollout(aRollout, subject, slot+1))
		require.Contains(t, page, fmt.Sprintf("| `%s` | | `%q` | %d |", aRollout, subject, slot))
	}
	require.True(t, flow.InRollout(aRollout, "session-1", flow.Whole))
	require.False(t, flow.InRollout(aRollout, "session-1", 0))
}

func TestPercent(t *testing.T) {
	for literal, want := range map[string]flow.Percent{
		"0": 0, "100": 10_000, "100.00": 10_000, "33.33": 3333, "0.01": 1, "12.5": 1250, "12.50": 1250, "7": 700, "12.500": 1250,
	} {
		got, err := flow.ParsePercent(literal)
		require.NoError(t, err, literal)
		require.Equal(t, want, got, literal)
		back, err := flow.ParsePercent(got.String())
		require.NoError(t, err)
		require.Equal(t, want, back)
	}
	for _, literal := range []string{"", "100.01", "-1", "-0", "33.333", "1e1", "1.", ".5", "+1", "1000", "NaN", "0x1", " 1", "1_0", "10.1.1"} {
		_, err := flow.ParsePercent(literal)
		require.ErrorIs(t, err, flow.ErrPercent, literal)
	}
	require.Equal(t, []string{"0", "100", "12.5", "0.01", "-0.05", "130.1"}, []string{
		flow.Percent(0).String(), flow.Whole.String(), flow.Percent(1250).String(), flow.Percent(1).String(), flow.Percent(-5).String(), flow.Percent(13_010).String(),
	})
	// Every percent survives JSON.
	for p := flow.Percent(0); p <= flow.Whole; p++ {
		body, err := json.Marshal(p)
		require.NoError(t, err)
		var back flow.Percent
		require.NoError(t, json.Unmarshal(body, &back))
		require.Equal(t, p, back)
	}
}

// TestSlotsHaveToFit: a program is not made with the slots of another graph.
func TestSlotsHaveToFit(t *testing.T) {
	g := split(t, "90", "10")
	run := func(branch string, slots int) flow.Run { return flow.Run{Branch: branch, Slots: slots} }
	for name, table := range map[string]flow.Table{
		"none":             nil,
		"of others":        {run("x", 10_000)},
		"other shares":     {run("b0", 8000), run("b1", 2000)},
		"too few":          {run("b0", 9000), run("b1", 999)},
		"too many":         {run("b0", 9000), run("b1", 1000), run("b0", 1)},
		"less than none":   {run("b0", 9001), run("b1", 1000), run("b0", -1)},
		"more than all":    {run("b0", 20_000), run("b1", -10_000)},
		"one of its own":   {run("b0", 9000), run("b1", 999), run("x", 1)},
		"an empty stretch": {run("b0", 9000), run("b1", 1000), run("b0", 0)},
	} {
		_, err := flow.Compile(aRoute, g, flow.Slots{"split": table})
		require.ErrorIs(t, err, flow.ErrInvalid, name)
		require.Equal(t, flow.Derive(g, nil), flow.Derive(g, flow.Slots{"split": nil}), name)
	}
	compiled(t, g, flow.Slots{"split": {run("b0", 4500), run("b1", 1000), run("b0", 4500)}})
	require.Nil(t, flow.Derive(graphOf(t, read(t, "testdata/cases/start_end/graph.json")), nil))
}

// TestDerive holds which slots move, example by example.
func TestDerive(t *testing.T) {
	run := func(branch string, slots int) flow.Run { return flow.Run{Branch: branch, Slots: slots} }
	first := flow.Derive(split(t, "90", "10"), nil)
	require.Equal(t, flow.Slots{"split": {run("b0", 9000), run("b1", 1000)}}, first)
	raised := flow.Derive(split(t, "80", "20"), first)
	require.Equal(t, flow.Slots{"split": {run("b0", 8000), run("b1", 2000)}}, raised)
	third := flow.Derive(split(t, "75", "15", "10"), raised)
	require.Equal(t, flow.Slots{"split": {run("b0", 7500), run("b2", 500), run("b1", 1500), run("b2", 500)}}, third)
	require.Equal(t, flow.Slots{"split": {run("b0", 7500), run("b1", 2500)}}, flow.Derive(split(t, "75", "25"), third), "who goes gives up all")

	renamed := split(t, "80", "20")
	renamed.Nodes[0].Next, renamed.Nodes[1].ID = "other", "other"
	require.Equal(t, flow.Slots{"other": {run("b0", 8000), run("b1", 2000)}}, flow.Derive(renamed, third), "another node is laid out afresh")
	broken := flow.Slots{"split": {run("b0", 20_000)}}
	require.Equal(t, first, flow.Derive(split(t, "90", "10"), broken), "and so is one whose table is not whole")
}

func TestUses(t *testing.T) {
	g := graphOf(t, read(t, "testdata/cases/example_paying/graph.json"))
	p := compiled(t, g, flow.Derive(g, nil))
	require.Equal(t, []flow.Input{{Source: condition.Metadata, Path: "customer_plan"}}, p.Reads())
	require.Equal(t, []string{"acme/big", "north/other", "acme/new", "acme/small", "signalbox/free"}, g.Models())
	daily, weekly, monthly := p.NeedsUsage()
	require.Equal(t, []bool{true, false, false}, []bool{daily, weekly, monthly})

	g = graphOf(t, read(t, "testdata/cases/nested/graph.json"))
	require.Equal(t, []flow.Input{
		{Source: condition.Model}, {Source: condition.UserID}, {Source: condition.SessionID}, {Source: condition.Metadata, Path: "beta"},
	}, g.Reads())
	g = graphOf(t, read(t, "testdata/cases/budget_monthly/graph.json"))
	daily, weekly, monthly = compiled(t, g, nil).NeedsUsage()
	require.Equal(t, []bool{false, false, true}, []bool{daily, weekly, monthly})
}

func TestDiff(t *testing.T) {
	a := graphOf(t, read(t, "testdata/cases/example_paying/graph.json"))
	b := graphOf(t, []byte(strings.NewReplacer(
		`"entry": "start"`, `"entry": "begin"`, `"id": "start"`, `"id": "begin"`, `"percent": 90`, `"percent": 80`, `"percent": 10`, `"percent": 20`,
		`"value": "pro"`, `"value": 7`, `"label": "paying?",`, ``, `"session": true`, `"session": false`,
		`"ignore": [
          "south"
        ]`, `"ignore": ["south", "north"], "sort": "price"`,
	).Replace(string(read(t, "testdata/cases/example_paying/graph.json")))))
	require.Equal(t, flow.Difference{
		Added: []string{"begin"}, Removed: []string{"start"},
		Changed: []flow.NodeChange{
			{Node: "plan", Fields: []flow.FieldChange{
				{Path: "label", Before: json.RawMessage(`"paying?"`)},
				{Path: "when.value", Before: json.RawMessage(`"pro"`), After: json.RawMessage(`7`)},
			}},
			{Node: "split", Fields: []flow.FieldChange{
				{Path: "branches[0].percent", Before: json.RawMessage(`90`), After: json.RawMessage(`80`)},
				{Path: "branches[1].percent", Before: json.RawMessage(`10`), After: json.RawMessage(`20`)},
			}},
			{Node: "big", Fields: []flow.FieldChange{
				{Path: "provider.ignore", Before: json.RawMessage(`["south"]`), After: json.RawMessage(`["south","north"]`)},
				{Path: "provider.sort", After: json.RawMessage(`"price"`)},
			}},
		},
		Graph: []flow.FieldChange{
			{Path: "affinity.session", Before: json.RawMessage(`true`), After: json.RawMessage(`false`)},
			{Path: "entry", Before: json.RawMessage(`"start"`), After: json.RawMessage(`"begin"`)},
		},
	}, flow.Diff(a, b))
	require.Zero(t, flow.Diff(a, a))
}

// TestReplayStops holds where a record's way ends in what it does not hold.
func TestReplayStops(t *testing.T) {
	h := condition.NewHider([]byte("a key"))
	one := func(test string) flow.Graph {
		return graphOf(t, []byte(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"if"},
			{"id":"if","type":"condition","when":`+test+`,"true":"m","false":"end"},
			{"id":"m","type":"model","model":"acme/big","next":"end"},{"id":"end","type":"end"}]}`))
	}
	plan := facts{"metadata plan": {h.Hide(condition.Text("PRO"))}}
	for test, want := range map[string][]string{
		`{"source":"metadata","path":"plan","op":"equals","value":"pro"}`:    {"s", "if", "m", "end"},
		`{"source":"metadata","path":"plan","op":"in","value":["a","b"]}`:    {"s", "if", "end"},
		`{"source":"metadata","path":"plan","op":"contains","value":"ro"}`:   {"s", "if"},
		`{"source":"metadata","path":"other","op":"not_exists"}`:             {"s", "if", "m", "end"},
		`{"source":"metadata","path":"plan","op":"greater_than","value":3}`:  {"s", "if", "end"},
		`{"source":"metadata","path":"plan","op":"matches","value":"^pro$"}`: {"s", "if"},
	} {
		_, path, unknownAt := compiled(t, one(test), nil).Replay(&flow.Facts{Request: plan}, h, nil)
		require.Equal(t, want, path, test)
		require.Equal(t, len(want) == 2, unknownAt == "if", test)
	}

	g := split(t, "50", "50")
	p := compiled(t, g, flow.Derive(g, nil))
	_, path, unknownAt := p.Replay(&flow.Facts{}, h, nil)
	require.Equal(t, "split", unknownAt, "without a subject nothing is drawn")
	require.Equal(t, []string{"start", "split"}, path)
	_, want := p.Evaluate(&flow.Facts{Subject: "session-1"}, nil)
	_, path, unknownAt = p.Replay(&flow.Facts{SubjectHash: flow.HashSubject("session-1")}, h, nil)
	require.Empty(t, unknownAt)
	require.Equal(t, want, path)

	g = graphOf(t, read(t, "testdata/cases/rate_unknown/graph.json"))
	_, _, unknownAt = compiled(t, g, nil).Replay(&flow.Facts{}, h, nil)
	require.Equal(t, "limit", unknownAt, "a bucket that was not recorded")
}

// facts are by "source path".
type facts map[string][]condition.Value

func (f facts) Look(s condition.Source, path string) []condition.Value {
	return f[strings.TrimSpace(string(s)+" "+path)]
}

// TestListsAreBounded: what is far beyond every bound is refused soon, and with
// no more problems than anyone reads.
func TestListsAreBounded(t *testing.T) {
	many := func(what string, n int) string { return strings.TrimSuffix(strings.Repeat(what+",", n), ",") }
	for name, raw := range map[string]string{
		"nodes":     `{"schema_version":1,"entry":"a","nodes":[` + many(`{"id":"a","type":"model","next":"b"}`, 3_000) + `]}`,
		"numbers":   `{"schema_version":1,"entry":"a","nodes":[` + many(`1`, 20_000) + `]}`,
		"fallbacks": `{"schema_version":1,"entry":"a","nodes":[{"id":"a","type":"model","next":"a","fallback_models":[` + many(`"a"`, 20_000) + `]}]}`,
		"branches":  `{"schema_version":1,"entry":"a","nodes":[{"id":"a","type":"percentage","branches":[` + many(`{"id":"a","percent":1,"next":"a"}`, 3_000) + `]}]}`,
		"depth":     `{"schema_version":1,"entry":"a","nodes":[{"id":"a","type":"condition","when":` + strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000) + `}]}`,
		"bytes":     `{"schema_version":1,"entry":"` + strings.Repeat("a", 1<<20) + `","nodes":[]}`,
	} {
		_, report := flow.Read([]byte(raw), names{})
		require.NotEmpty(t, report.Problems, name)
		require.LessOrEqual(t, len(report.Problems), 1001, name)
	}
}

// TestExpressionsOfAGraphAreBounded: nodes whose expressions are each within
// bounds are not without bound together.
func TestExpressionsOfAGraphAreBounded(t *testing.T) {
	graph := func(n int) flow.Graph {
		g := flow.Graph{SchemaVersion: 1, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: "n0"}}}
		for i := range n {
			next := fmt.Sprintf("n%d", i+1)
			g.Nodes = append(g.Nodes, flow.Node{ID: fmt.Sprintf("n%d", i), Type: flow.When, True: next, False: next, When: &condition.Condition{
				Source: condition.UserID, Op: condition.Matches, Value: condition.One(condition.Text("x{800}")),
			}})
		}
		g.Nodes = append(g.Nodes, flow.Node{ID: fmt.Sprintf("n%d", n), Type: flow.End})
		return g
	}
	require.True(t, flow.Check(graph(5), nil).OK())
	require.Equal(t, []flow.Problem{{
		Path: "nodes", Code: flow.TooLong, Message: "want simpler regular expressions: written out, they have at most 4000 steps together",
	}}, flow.Check(graph(6), nil).Problems)
}
