package decide_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// replayKey is what the texts of the tests' workspace are hidden under.
var replayKey = []byte(strings.Repeat("k", policy.ReplayKeyLen))

// recorded is an input of a key whose route records what versions read.
func recorded(t require.TestingT, w *world, facts decide.Facts, clear bool, versions ...flow.Graph) decide.Input {
	facts.Key.Route = routeID
	in := w.input(t, facts)
	s := w.snapshot(&in.Facts.Key)
	s.Recordings, s.ReplayKey, s.Settings.ReplayValues = []policy.Recording{policy.RecordingOf(routeID, versions...)}, replayKey, clear
	in.Facts.Key.Route = routeID
	var err error
	in.Policy, err = policy.Compile(s)
	require.NoError(t, err)
	return in
}

func recollectionOf(t require.TestingT, plan decide.Plan) decide.Recollection {
	r, err := decide.DecodeRecollection(plan.Record.Recollection)
	require.NoError(t, err)
	return r
}

// reading is a graph that reads inputs, and what the key has used.
func reading(inputs ...flow.Input) flow.Graph {
	g := flow.Graph{Nodes: []flow.Node{{ID: "limit", Type: flow.RateLimit}}}
	for _, in := range inputs {
		g.Nodes = append(g.Nodes, flow.Node{Type: flow.When, When: &condition.Condition{Source: in.Source, Path: in.Path, Op: condition.Exists}})
	}
	return g
}

func metadata(path string) flow.Input { return flow.Input{Source: condition.Metadata, Path: path} }

// TestRecollectionIsWhatReplayNeeds: a route without a deployed version records
// what its draft reads, hidden unless the workspace wants it in clear.
func TestRecollectionIsWhatReplayNeeds(t *testing.T) {
	facts := decide.Facts{
		Model: "acme/small", Models: []string{"acme/big"}, SessionID: "canary-session", EndUser: "canary-user",
		Provider: policy.Preferences{Ignore: []string{"south"}}, Parameters: []string{"temperature"}, InputTokens: 12, OutputTokens: 34,
		Metadata: map[string]any{"plan": "Canary-Plan", "seats": json.Number("12"), "unread": "x"},
	}
	g := reading(metadata("plan"), metadata("seats"), metadata("absent"), flow.Input{Source: condition.SessionID}, flow.Input{Source: condition.Model})
	in := recorded(t, newWorld(), facts, false, g)
	in.Usage.Daily = flow.Bucket{Known: true, Requests: 7, Cost: 9}
	plan := decide.Decide(in)
	require.NotContains(t, strings.ToLower(string(plan.Record.Recollection)), "canary")
	r := recollectionOf(t, plan)
	require.Equal(t, flow.HashSubject("canary-session"), r.Subject)
	require.Equal(t, &decide.RecordedUsage{Daily: &decide.RecordedBucket{Requests: 7, Cost: 9}}, r.Usage)
	require.Equal(t, &decide.RecordedRequest{
		Models: facts.Models, Provider: facts.Provider, Parameters: facts.Parameters, InputTokens: 12, OutputTokens: 34,
	}, r.Request)
	require.Len(t, r.Inputs, 4, "the model is in every record")
	hider := condition.NewHider(replayKey)
	require.Equal(t, hider.Hide(condition.Text("canary-plan")), r.Inputs[0].Values[0].Value)
	seats, _ := condition.Number("12")
	require.Equal(t, seats, r.Inputs[1].Values[0].Value)
	require.Equal(t, decide.RecordedInput{Input: metadata("absent")}, r.Inputs[2], "missing is recorded as missing")

	r = recollectionOf(t, decide.Decide(recorded(t, newWorld(), facts, true, g)))
	require.Equal(t, condition.Text("Canary-Plan"), r.Inputs[0].Values[0].Value)
}

// TestRecollectionIsOfRoutedRequests: nothing is kept of others, nor of what the
// gateway asks within a request, nor in later turns.
func TestRecollectionIsOfRoutedRequests(t *testing.T) {
	w := newWorld()
	require.Nil(t, w.decide(t, decide.Facts{Model: "acme/small"}).Record.Recollection)
	in := recorded(t, w, decide.Facts{Model: "acme/small", Child: true}, false, reading())
	require.Nil(t, decide.Decide(in).Record.Recollection)
	plan := decide.Decide(recorded(t, w, decide.Facts{Model: "acme/small", Models: []string{"acme/big"}}, false, reading()))
	first, second := plan.RecordOf(0), plan.RecordOf(1)
	require.NotNil(t, first.Recollection)
	require.Nil(t, second.Recollection)
	refused := decide.Decide(recorded(t, w, decide.Facts{Model: "no/such"}, false, reading()))
	require.NotNil(t, refused.Refusal)
	require.NotNil(t, refused.Record.Recollection, "a draft may serve what is refused today")

	s := w.snapshot(&in.Facts.Key)
	s.Recordings = []policy.Recording{policy.RecordingOf(routeID, reading())}
	in = recorded(t, w, decide.Facts{Model: "acme/small"}, false)
	var err error
	in.Policy, err = policy.Compile(s)
	require.NoError(t, err)
	require.Nil(t, decide.Decide(in).Record.Recollection, "nothing is hidden under no key")
}

// TestRecollectionIsBounded: the longest inputs are left out first, and a
// request that cannot be kept as it is not kept at all.
func TestRecollectionIsBounded(t *testing.T) {
	var inputs []flow.Input
	values := map[string]any{"long": strings.Repeat("x", 3<<10), "longer": strings.Repeat("x", 4<<10)}
	for i := range 200 {
		path := fmt.Sprintf("m%03d", i)
		inputs, values[path] = append(inputs, metadata(path)), "v"
	}
	facts := decide.Facts{Model: "acme/small", Metadata: values}
	for range 40 {
		facts.Models = append(facts.Models, strings.Repeat("m", 100))
	}
	all := append([]flow.Input{metadata("long"), metadata("longer")}, inputs...)
	plan := decide.Decide(recorded(t, newWorld(), facts, true, reading(all...)))
	require.LessOrEqual(t, len(plan.Record.Recollection), 4<<10)
	r := recollectionOf(t, plan)
	require.Nil(t, r.Request)
	require.NotEmpty(t, r.Inputs)
	require.Equal(t, len(all), len(r.Inputs)+r.Omitted)
	require.Equal(t, "m000", r.Inputs[0].Path)
	body, err := plan.Record.Encode()
	require.NoError(t, err)
	require.LessOrEqual(t, len(body), decide.MaxRecordBytes)

	r = recollectionOf(t, decide.Decide(recorded(t, newWorld(), decide.Facts{Model: "acme/small", Metadata: values}, true, reading(all[:1]...))))
	require.Len(t, r.Inputs, 1, "there is room for one")
	for _, name := range []string{"a name with blanks", strings.Repeat("p", 129)} {
		facts := decide.Facts{Model: "acme/small", Provider: policy.Preferences{Order: []string{name}}}
		require.Nil(t, recollectionOf(t, decide.Decide(recorded(t, newWorld(), facts, true, reading()))).Request)
	}
}

// TestReplayIsWhatWasDecided: a request that is replayed through the version
// that it went through goes the same way, where that can be known at all; in
// clear it always is.
func TestReplayIsWhatWasDecided(t *testing.T) {
	plans := rapid.SampledFrom([]string{"pro", "PRO", "free", "12", "12.0", ""})
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		op := rapid.SampledFrom([]condition.Op{condition.Equals, condition.NotEquals, condition.Contains, condition.LessThan}).Draw(t, "op")
		source := rapid.SampledFrom([]flow.Input{metadata("plan"), {Source: condition.SessionID}, {Source: condition.UserID}, {Source: condition.Endpoint}, {Source: condition.Model}}).Draw(t, "source")
		test := &condition.Condition{Source: source.Source, Path: source.Path, Op: op, Value: condition.One(condition.Text(plans.Draw(t, "operand") + "1"))}
		one := int64(5)
		route := routeOf(
			flow.Node{ID: "test", Type: flow.When, When: test, True: "draw", False: "limit"},
			flow.Node{ID: "draw", Type: flow.Percentage, Branches: []flow.Branch{{ID: "a", Percent: 5000, Next: "big"}, {ID: "b", Percent: 5000, Next: "no"}}},
			flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Daily, MaxRequests: &one, Within: "small", Exceeded: "big"},
			fixes("big", "acme/big", "acme/small"), fixes("small", "", "zeta/small"), rejects("no", 403),
		)
		w.route = &route
		facts := decide.Facts{Model: rapid.SampledFrom([]string{"acme/small", "acme/tiny"}).Draw(t, "model"), SessionID: plans.Draw(t, "session"), EndUser: plans.Draw(t, "user")}
		if rapid.Bool().Draw(t, "there") {
			facts.Metadata = map[string]any{"plan": plans.Draw(t, "plan")}
		}
		clear := rapid.Bool().Draw(t, "clear")
		in := recorded(t, w, facts, clear, route.Graph)
		in.Usage.Daily = flow.Bucket{Known: true, Requests: rapid.Int64Range(3, 7).Draw(t, "used")}
		live := decide.Decide(in)
		r := recollectionOf(t, live)

		again := decide.Input{Policy: in.Policy, Catalog: in.Catalog, Health: in.Health, Seed: in.Seed}
		again.Facts = decide.Facts{Now: now, Surface: catalog.Chat, Key: in.Facts.Key, Model: live.Record.RequestedModel}
		again.Replay(&r, condition.NewHider(replayKey))
		replayed := decide.Decide(again)
		if replayed.UnknownAt != "" {
			require.False(t, clear)
			require.Equal(t, "test", replayed.UnknownAt)
			require.NotContains(t, []condition.Op{condition.Equals, condition.NotEquals}, op)
			require.Empty(t, replayed.Chain)
			require.Nil(t, replayed.Refusal)
			return
		}
		require.Equal(t, live.Record.Route, replayed.Record.Route)
		require.Equal(t, order(live), order(replayed))
		require.Equal(t, live.Record.Refusal, replayed.Record.Refusal)
		require.Nil(t, replayed.Record.Recollection)
	})
}

// TestReplayOfWhatIsNotRecorded: what is not there in a record is unknown, not
// missing.
func TestReplayOfWhatIsNotRecorded(t *testing.T) {
	w := newWorld()
	limit := int64(1)
	route := routeOf(
		whenIs("plan", condition.Metadata, "plan", "pro", "big", "draw"),
		flow.Node{ID: "draw", Type: flow.Percentage, Branches: []flow.Branch{{ID: "a", Percent: 5000, Next: "limit"}, {ID: "b", Percent: 5000, Next: "limit"}}},
		flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Weekly, MaxRequests: &limit, Within: "big", Exceeded: "big"},
		fixes("big", "acme/big"),
	)
	w.route = &route
	missing := []decide.RecordedInput{{Input: metadata("plan")}}
	for want, r := range map[string]decide.Recollection{
		"plan":  {},
		"draw":  {Inputs: missing},
		"limit": {Inputs: missing, Subject: 1},
		"":      {Inputs: missing, Subject: 1, Usage: &decide.RecordedUsage{Weekly: &decide.RecordedBucket{}}},
	} {
		in := w.input(t, decide.Facts{Model: "acme/small"})
		in.Replay(&r, condition.NewHider(replayKey))
		plan := decide.Decide(in)
		require.Equal(t, want, plan.UnknownAt)
		require.Equal(t, want == "", len(plan.Chain) > 0)
	}
	// A further entry of the chain may not be known either.
	route = routeOf(
		whenIs("first", condition.Model, "", "acme/small", "end", "plan"), whenIs("plan", condition.Metadata, "plan", "pro", "big", "end"),
		fixes("big", "acme/big"),
	)
	in := w.input(t, decide.Facts{Model: "acme/small", Models: []string{"acme/tiny"}})
	r := decide.Recollection{Request: &decide.RecordedRequest{Models: []string{"acme/tiny"}}}
	in.Replay(&r, condition.NewHider(replayKey))
	require.Equal(t, "plan", decide.Decide(in).UnknownAt)
}
