package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var (
	now       = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	workspace = id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	route     = id.MustParse[id.RouteKind]("route_01kb7n0z1v8q5r2m3t4w5x6y7e")
	key       = policy.Key{ID: id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y7z"), Workspace: workspace, Route: route}
)

// world is a workspace with a route, and what its key's requests left behind.
type world struct {
	t         *testing.T
	versions  map[int]dynamicroute.Version
	deployed  int
	gone      bool
	clear     bool
	log       []replay.Request // newest first
	durations map[string]time.Duration
	during    func() // called while the log is read
	catalog   catalog.Catalog
	said      *decide.Classification
	seed      uint64
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, versions: map[int]dynamicroute.Version{}, durations: map[string]time.Duration{}}
	w.catalog = catalog.Catalog{Schema: catalog.Schema, Revision: 1, Providers: []catalog.Provider{
		{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "https://north.example/v1", Keyless: true},
	}}
	for name, usd := range map[string]string{"acme/small": "0.1", "acme/big": "1", "acme/new": "0.4"} {
		price, err := money.ParsePerMillion(usd)
		require.NoError(t, err)
		w.catalog.Models = append(w.catalog.Models, catalog.Model{ID: name, Author: "acme", Endpoints: []catalog.Endpoint{{
			ID: "north:" + name, Provider: "north", UpstreamModel: name, Price: &catalog.Price{Input: &price, Output: &price},
		}}})
	}
	slices.SortFunc(w.catalog.Models, func(a, b catalog.Model) int { return strings.Compare(a.ID, b.ID) })
	return w
}

// version adds a version of these nodes between start and end.
func (w *world) version(number int, nodes ...flow.Node) {
	g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: nodes[0].ID}}}
	g.Nodes = append(append(g.Nodes, nodes...), flow.Node{ID: "end", Type: flow.End})
	require.True(w.t, flow.Check(g, nil).OK(), flow.Check(g, nil).Problems)
	w.versions[number] = dynamicroute.Version{Workspace: workspace, Route: route, Number: number, Graph: g, Slots: flow.Derive(g, nil)}
}

func to(node, model string) flow.Node {
	return flow.Node{ID: node, Type: flow.Model, Model: model, Next: "end"}
}

func plan(op condition.Op, value, yes, no string) flow.Node {
	test := &condition.Condition{Source: condition.Metadata, Path: "plan", Op: op, Value: condition.One(condition.Text(value))}
	return flow.Node{ID: "plan", Type: flow.When, When: test, True: yes, False: no}
}

// snapshot is the workspace as it is published.
func (w *world) snapshot() policy.Snapshot {
	s := policy.Snapshot{
		Workspace: workspace, Revision: 3, Status: policy.WorkspaceActive, Settings: policy.DefaultSettings(),
		ReplayKey: []byte(strings.Repeat("k", policy.ReplayKeyLen)),
	}
	s.Settings.ReplayValues = w.clear
	recording := policy.RecordingOf(route)
	for _, v := range w.versions {
		recording = recording.With(v.Graph)
	}
	s.Recordings = []policy.Recording{recording}
	if v, ok := w.versions[w.deployed]; ok {
		s.Routes = []policy.Route{{ID: route, RouteVersion: v.Published()}}
	}
	return s
}

func (w *world) View(context.Context) (*catalog.View, error) { return catalog.Compile(w.catalog) }

// ask makes a request as a gateway does, and logs it.
func (w *world) ask(facts decide.Facts) {
	w.t.Helper()
	view, err := policy.Compile(w.snapshot())
	require.NoError(w.t, err)
	offered, err := w.View(w.t.Context())
	require.NoError(w.t, err)
	facts.Now, facts.Surface, facts.Key = now, catalog.Chat, decide.KeyFactsOf(&key)
	in := decide.Input{Policy: view, Catalog: offered, Facts: facts, Health: nobody{}, Seed: w.seed, Classification: w.said}
	in.Usage.Daily = flow.Bucket{Known: true, Requests: int64(len(w.log))}
	decided := decide.Decide(in)
	raw, err := json.Marshal(decided.Record)
	require.NoError(w.t, err)
	r := replay.Request{Started: now, Key: key.ID, Surface: catalog.Chat, Decision: raw}
	if decided.Refusal == nil {
		r.Usage = meter.Usage{Input: 1_000_000}
	}
	w.log = slices.Insert(w.log, 0, r)
}

type nobody struct{}

func (nobody) Endpoint(string) decide.EndpointHealth            { return decide.EndpointHealth{} }
func (nobody) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

func pays(plan any) decide.Facts {
	return decide.Facts{Model: "acme/small", SessionID: fmt.Sprint(plan), Metadata: map[string]any{"plan": plan}}
}

// The parts of the service's dependencies.
type (
	routes   struct{ *world }
	versions struct{ *world }
)

func (r routes) Get(context.Context, id.Workspace, id.Route) (dynamicroute.Route, error) {
	found := dynamicroute.Route{ID: route, Workspace: workspace, Deployed: r.deployed}
	if r.gone {
		found.DeletedAt = &now
	}
	return found, nil
}

func (v versions) Get(_ context.Context, _ id.Workspace, _ id.Route, number int) (dynamicroute.Version, error) {
	found, ok := v.versions[number]
	if !ok {
		return found, fault.New(fault.NotFound, "There is none.")
	}
	return found, nil
}

func (w *world) Documents(context.Context, id.Workspace, id.Route) ([]policy.Key, error) {
	return []policy.Key{key}, nil
}

func (w *world) Policy(context.Context, id.Workspace) (policy.Snapshot, error) {
	return w.snapshot(), nil
}

func (w *world) Requests(ctx context.Context, _ id.Workspace, keys []id.Key, _ time.Time, limit int, each func(*replay.Request) error) error {
	require.Equal(w.t, []id.Key{key.ID}, keys)
	if w.during != nil {
		w.during()
	}
	for i := range w.log[:min(limit, len(w.log))] {
		if err := each(&w.log[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) Durations(context.Context, id.Workspace, time.Time) (map[string]time.Duration, error) {
	return w.durations, nil
}

func (*world) InTx(ctx context.Context, _ id.Workspace, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

func (*world) Read(ctx context.Context, _ id.Workspace, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

func (w *world) service() *replay.Service {
	return replay.NewService(replay.Deps{
		Runner: w, Routes: routes{w}, Versions: versions{w}, Keys: w, Policies: w, Log: w, Source: w, Now: func() time.Time { return now },
	})
}

func (w *world) replay(number int) replay.Report {
	w.t.Helper()
	r, err := w.service().Replay(w.t.Context(), workspace, route, number, replay.Query{})
	require.NoError(w.t, err)
	return r
}

func node(r replay.Report, name string) replay.Node {
	return r.Nodes[slices.IndexFunc(r.Nodes, func(n replay.Node) bool { return n.ID == name })]
}

// TestReplay: of eight requests the three that pay move, and what that costs and
// takes is told.
func TestReplay(t *testing.T) {
	w := newWorld(t)
	w.version(1, to("all", "acme/small"))
	w.version(2, plan(condition.Equals, "pro", "new", "all"), to("new", "acme/new"), to("all", "acme/small"))
	w.deployed = 1
	for _, one := range []any{"pro", "PRO", "free", "Pro", "", 12, true, nil} {
		w.ask(pays(one))
	}
	w.durations = map[string]time.Duration{"north:acme/small": time.Second, "north:acme/new": 3 * time.Second}
	r := w.replay(2)
	require.Equal(t, []int{2, 1, 8, 8, 3, 3, 0, 0}, []int{r.Version, r.Baseline, r.Requests, r.Comparable, r.Moved, r.Remodeled, r.Refused, r.Served})
	require.Equal(t, []replay.Move{{From: "acme/small", To: "acme/new", Requests: 3}}, r.Models)
	require.Equal(t, replay.Node{ID: "plan", Type: flow.When, Requests: 8, Moved: 3}, node(r, "plan"))
	require.Equal(t, replay.Node{ID: "new", Type: flow.Model, Requests: 3}, node(r, "new"))
	require.Equal(t, replay.Cost{Requests: 8, Before: 8 * money.USD / 10, After: 17 * money.USD / 10}, r.Cost)
	require.Equal(t, replay.Latency{Requests: 3, Before: time.Second, After: 3 * time.Second}, r.Latency)
	require.Empty(t, r.Unknown)
	require.Equal(t, now.Add(-24*time.Hour), r.Since)
	require.Equal(t, now, r.Oldest)
	require.False(t, r.Limited)

	same := w.replay(1)
	require.Equal(t, []int{8, 8, 0, 0, 0}, []int{same.Requests, same.Comparable, same.Moved, same.Refused, same.Served})
	delete(w.durations, "north:acme/new")
	require.Zero(t, w.replay(2).Latency, "nothing is guessed")
}

// TestReplayWithoutABaseline: where nothing is deployed the keys have no route,
// and the whole change is the model node's.
func TestReplayWithoutABaseline(t *testing.T) {
	w := newWorld(t)
	w.version(1, to("all", "acme/big"))
	w.ask(pays("pro"))
	r := w.replay(1)
	require.Equal(t, []int{0, 1, 1}, []int{r.Baseline, r.Comparable, r.Moved})
	require.Equal(t, 1, node(r, "all").Moved)
}

// TestReplayOfANodeThatSaysSomethingElse: on the same way the change is put down
// to the node that changed.
func TestReplayOfANodeThatSaysSomethingElse(t *testing.T) {
	w := newWorld(t)
	chained := func(model string) []flow.Node {
		first, last := to("first", model), flow.Node{ID: "last", Type: flow.Model, RoutingMode: "price", Next: "end"}
		first.Next = "last"
		return []flow.Node{first, last}
	}
	w.version(1, chained("acme/small")...)
	w.version(2, chained("acme/big")...)
	w.deployed = 1
	w.ask(pays("pro"))
	require.Equal(t, 1, node(w.replay(2), "first").Moved)

	put := to("put", "acme/big")
	put.Next = "last"
	first := to("first", "acme/small")
	first.Next = "put"
	w.version(3, first, put, flow.Node{ID: "last", Type: flow.Model, RoutingMode: "price", Next: "end"})
	require.Equal(t, 1, node(w.replay(3), "put").Moved, "one that was put in between")
}

// TestReplayOfRefusals: those that are gained and lost are counted, and moved is
// neither.
func TestReplayOfRefusals(t *testing.T) {
	w := newWorld(t)
	no := flow.Node{ID: "no", Type: flow.Reject, Status: 403, Code: "no", Message: "No."}
	w.version(1, plan(condition.Equals, "free", "no", "all"), no, to("all", "acme/small"))
	w.version(2, plan(condition.Equals, "pro", "no", "all"), no, to("all", "acme/small"))
	w.deployed = 1
	for _, one := range []any{"free", "free", "pro", "other"} {
		w.ask(pays(one))
	}
	r := w.replay(2)
	require.Equal(t, []int{4, 0, 1, 2}, []int{r.Comparable, r.Moved, r.Refused, r.Served})
	require.Equal(t, replay.Node{ID: "plan", Type: flow.When, Requests: 4, Refused: 1, Served: 2}, node(r, "plan"))
	require.Equal(t, 1, r.Cost.Requests)
}

// TestReplayOfWhatIsUnknown: it is counted for each node and reason, and nothing
// is guessed.
func TestReplayOfWhatIsUnknown(t *testing.T) {
	w := newWorld(t)
	w.version(1, to("all", "acme/small"))
	w.deployed = 1
	w.ask(pays("pro")) // before any version reads the plan
	limit := int64(2)
	w.version(2, plan(condition.Matches, "^pro", "new", "all"), to("new", "acme/new"), to("all", "acme/small"))
	w.version(3, flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Daily, MaxRequests: &limit, Within: "all", Exceeded: "auto"}, to("auto", "signalbox/auto"), to("all", "acme/small"))
	w.version(4, to("preset", "@mine"))
	w.ask(pays("pro"))
	w.ask(pays(12)) // no text
	w.ask(decide.Facts{Model: "acme/small", Provider: policy.Preferences{Order: []string{"not a name"}}})
	w.log = append(w.log, replay.Request{Key: key.ID}, replay.Request{Key: key.ID, Decision: []byte(`{"requested_model":"acme/small"}`)})

	r := w.replay(2)
	require.Equal(t, []replay.Unknown{
		{Reason: replay.NotRecorded, Requests: 3}, {Version: 2, Node: "plan", Reason: replay.Hidden, Requests: 1}, {Version: 2, Node: "plan", Reason: replay.NotRecorded, Requests: 1},
	}, r.Unknown)
	require.Equal(t, []int{6, 1, 2}, []int{r.Requests, r.Comparable, node(r, "plan").Unknown})
	r = w.replay(3)
	require.Equal(t, []replay.Unknown{
		{Reason: replay.NotRecorded, Requests: 3}, {Version: 3, Reason: replay.Unclassified, Requests: 1}, {Version: 3, Node: "limit", Reason: replay.UnknownUsage, Requests: 1},
	}, r.Unknown)
	require.Equal(t, 1, r.Comparable)
	require.Contains(t, w.replay(4).Unknown, replay.Unknown{Version: 4, Reason: replay.NeedsPreset, Requests: 3})

	w.deployed = 2
	require.Contains(t, w.replay(1).Unknown, replay.Unknown{Version: 2, Node: "plan", Reason: replay.Hidden, Requests: 1}, "the baseline is not guessed either")

	w.deployed, w.clear, w.log = 1, true, nil
	w.ask(pays("pro"))
	r = w.replay(2)
	require.Empty(t, r.Unknown, "in clear all is known")
	require.Equal(t, 1, node(r, "plan").Moved)
}

// TestReplayOfWhatWasClassified: what a request was taken for is in its record,
// which is enough for signalbox/auto to choose again.
func TestReplayOfWhatWasClassified(t *testing.T) {
	w := newWorld(t)
	w.version(1, to("auto", "signalbox/auto"))
	w.version(2, plan(condition.Equals, "pro", "big", "auto"), to("big", "acme/big"), to("auto", "signalbox/auto"))
	w.deployed = 1
	said := decide.Classification{Source: decide.ByRules, Why: decide.LocalConfigured}
	said.Mix[2], said.Mix[0], said.Complexity, said.Confidence = 0.75, 0.25, 0.5, 1
	w.said = &said
	w.ask(pays("pro"))
	w.ask(pays("free"))
	r := w.replay(2)
	require.Empty(t, r.Unknown)
	require.Equal(t, []int{2, 1}, []int{r.Comparable, r.Moved})
	var kept struct{ Auto *decide.AutoTrace }
	require.NoError(t, json.Unmarshal(w.log[0].Decision, &kept))
	require.Equal(t, &said, kept.Auto.Classification())
}

// TestReplayDrawsAsTheRequestDid: of endpoints that a draw decides between, a
// version that does not touch them moves nobody, and one that takes one away moves
// those that drew it.
func TestReplayDrawsAsTheRequestDid(t *testing.T) {
	w := newWorld(t)
	south := w.catalog.Providers[0]
	south.Slug, south.BaseURL = "south", "https://south.example/v1"
	w.catalog.Providers = append(w.catalog.Providers, south)
	for i := range w.catalog.Models {
		m := &w.catalog.Models[i]
		more := m.Endpoints[0]
		more.ID, more.Provider = "south:"+m.ID, "south"
		m.Endpoints = append(m.Endpoints, more)
	}
	without := to("all", "acme/small")
	without.Provider = &flow.Provider{Ignore: []string{"south"}}
	w.version(1, to("all", "acme/small"))
	w.version(2, without)
	w.deployed = 1
	drew := 0
	for seed := range uint64(50) {
		w.seed = seed
		w.ask(pays("pro"))
		var kept struct {
			Provider string `json:"decided_provider"`
		}
		require.NoError(t, json.Unmarshal(w.log[0].Decision, &kept))
		if kept.Provider == "south" {
			drew++
		}
	}
	require.Zero(t, w.replay(1).Moved)
	r := w.replay(2)
	require.True(t, 5 < drew && drew < 45, drew)
	require.Equal(t, []int{drew, 0, drew}, []int{r.Moved, r.Remodeled, node(r, "all").Moved})
}

// TestReplayOfPercentages: the same subjects move that would.
func TestReplayOfPercentages(t *testing.T) {
	w := newWorld(t)
	split := func(percent flow.Percent) []flow.Node {
		return []flow.Node{
			{ID: "split", Type: flow.Percentage, Branches: []flow.Branch{{ID: "a", Percent: flow.Whole - percent, Next: "all"}, {ID: "b", Percent: percent, Next: "new"}}},
			to("all", "acme/small"), to("new", "acme/new"),
		}
	}
	w.version(1, split(1000)...)
	w.version(2, split(2500)...)
	next := w.versions[2]
	next.Slots = flow.Derive(next.Graph, w.versions[1].Slots)
	w.versions[2], w.deployed = next, 1
	want := 0
	for i := range 200 {
		subject := fmt.Sprint("session ", i)
		w.ask(decide.Facts{Model: "acme/small", SessionID: subject})
		slot := flow.Slot(route, "split", subject)
		if slot >= 7500 && slot < 9000 { // what the growing branch takes
			want++
		}
	}
	r := w.replay(2)
	require.Positive(t, want)
	require.Equal(t, []int{200, want, want}, []int{r.Comparable, r.Moved, node(r, "split").Moved})
}

func TestReplayRefuses(t *testing.T) {
	w := newWorld(t)
	w.version(1, to("all", "acme/small"))
	w.ask(pays("pro"))
	s := w.service()
	for _, q := range []replay.Query{
		{Limit: -1}, {Limit: replay.MaxLimit + 1}, {Since: now.Add(time.Second)}, {Since: now.AddDate(0, 0, -31)},
	} {
		_, err := s.Replay(t.Context(), workspace, route, 1, q)
		require.True(t, fault.Is(err, fault.ValidationError), q)
	}
	_, err := s.Replay(t.Context(), workspace, route, 2, replay.Query{})
	require.True(t, fault.Is(err, fault.NotFound))
	w.gone = true
	_, err = s.Replay(t.Context(), workspace, route, 1, replay.Query{})
	require.True(t, fault.Is(err, fault.NotFound))
	w.gone = false

	w.during = func() {
		_, err := s.Replay(t.Context(), workspace, route, 1, replay.Query{})
		require.True(t, fault.Is(err, fault.Conflict), "one at a time")
	}
	r, err := s.Replay(t.Context(), workspace, route, 1, replay.Query{Limit: 1})
	require.NoError(t, err)
	require.True(t, r.Limited)
	w.during = nil
	_, err = s.Replay(t.Context(), workspace, route, 1, replay.Query{})
	require.NoError(t, err, "and then the next")

	ctx, cancel := context.WithCancel(t.Context())
	w.during = cancel
	_, err = s.Replay(ctx, workspace, route, 1, replay.Query{})
	require.ErrorIs(t, err, context.Canceled)
}
