package pipeline_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// routed is a gateway whose caller's key has a dynamic route.
type routed struct {
	fakes
	nodes    []flow.Node // between start and end; none: the key has no route
	draft    []flow.Node // of a version that is not deployed
	settings policy.Settings
	presets  map[string]string // by name: the model that each stands for
	lost     error             // of looking one up
	slow     time.Duration     // that looking one up takes

	found  []string // that were looked up
	usages int
	reads  int
	paths  []string // that may be looked at
	spent  time.Duration
}

var routeID = id.MustParse[id.RouteKind]("route_00000000000000000000000001")

func (r *routed) Authenticate(context.Context, *call.Call) (call.Principal, error) {
	k := key
	k.Models, k.Route = nil, routeID
	return call.Principal{Key: k}, nil
}

func (r *routed) Pin(_ context.Context, ws id.Workspace, _ int64) (*policy.View, error) {
	s := policy.Snapshot{Workspace: ws, Revision: 9, Status: policy.WorkspaceActive, Settings: r.settings}
	if r.nodes != nil {
		g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: r.nodes[0].ID}}}
		g.Nodes = append(append(g.Nodes, r.nodes...), flow.Node{ID: "end", Type: flow.End})
		s.Routes = []policy.Route{{ID: routeID, RouteVersion: policy.RouteVersion{Version: 1, Graph: g}}}
	}
	if r.draft != nil {
		s.Recordings = []policy.Recording{policy.RecordingOf(routeID, flow.Graph{Nodes: r.draft})}
		s.ReplayKey = make([]byte, policy.ReplayKeyLen)
	}
	return policy.Compile(s)
}

func (r *routed) Catalog() *catalog.View {
	c := catalog.Catalog{Schema: catalog.Schema, Revision: 3, Providers: []catalog.Provider{
		{Slug: "north", Type: catalog.OpenAICompatible, BaseURL: "https://north.example/v1", Credential: secret.Sealed("sealed")},
	}}
	for _, name := range []string{"acme/small", "acme/big", "acme/judge"} {
		c.Models = append(c.Models, catalog.Model{ID: name, Author: "acme", Endpoints: []catalog.Endpoint{
			{ID: "north:" + name, Provider: "north", UpstreamModel: name},
		}})
	}
	v, err := catalog.Compile(c)
	require.NoError(r.t, err)
	return v
}

func (r *routed) Look(s condition.Source, path string) []condition.Value {
	r.reads++
	if s == condition.Body && path == "tier" {
		return []condition.Value{condition.Text("gold")}
	}
	return nil
}

func (r *routed) Usage(_ context.Context, ws id.Workspace, k id.Key, now time.Time) flow.Usage {
	require.Equal(r.t, key.Workspace, ws)
	require.Equal(r.t, key.ID, k)
	require.Equal(r.t, start, now)
	r.usages++
	return flow.Usage{Daily: flow.Bucket{Known: true, Requests: 5}}
}

// shelf is what looks presets up.
type shelf struct{ *routed }

func (s shelf) Find(_ context.Context, view *policy.View, owner id.User, name string) (*policy.PresetVersion, error) {
	require.EqualValues(s.t, 9, view.Revision())
	require.Equal(s.t, key.CreatedBy, owner)
	s.found = append(s.found, name)
	s.spent += s.slow
	if s.lost != nil {
		return nil, s.lost
	}
	model, there := s.presets[name]
	if !there {
		return nil, fault.New(fault.ModelNotFound, "There is no preset with this name.").Because(fault.PresetNotFound)
	}
	return &policy.PresetVersion{Slug: name, Version: 1, Config: policy.PresetConfig{Model: model}}, nil
}

// adds says that a preset makes the request as much longer as its slug is.
func (r *routed) adds(c *call.Call, with *policy.PresetVersion) decide.Added {
	require.Equal(r.t, catalog.Chat, c.Surface)
	return decide.Added{InputTokens: int64(len(with.Slug)), OutputTokens: 7}
}

func (r *routed) preview(t *testing.T, q call.Request) (decide.Plan, error) {
	t.Helper()
	r.t = t
	if r.settings.MaxModels == 0 {
		r.settings = policy.DefaultSettings()
	}
	p := pipeline.New(pipeline.Steps{
		Auth: r, Policies: r, Catalogs: r, Objects: r, Affinity: &memory{}, Health: r, Decide: (*decide.Input).Decide,
		Content: func(_ *call.Call, paths []string) condition.Facts { r.paths = paths; return r }, Usage: r, Presets: shelf{r}, Adds: r.adds,
	}, func() time.Time { return start.Add(r.spent) }, func() uint64 { return 42 }, nil)
	_, plan, err := p.Preview(t.Context(), &call.Call{Surface: catalog.Chat, Received: start, Request: q})
	return plan, err
}

func to(nodeID, model string) flow.Node {
	return flow.Node{ID: nodeID, Type: flow.Model, Model: model, Next: "end"}
}

var gold = flow.Node{
	ID: "gold", Type: flow.When, True: "big", False: "end",
	When: &condition.Condition{Source: condition.Body, Path: "tier", Op: condition.Equals, Value: condition.One(condition.Text("gold"))},
}

// What a key's route looks at is looked up for it, and nothing for a key without
// one.
func TestARouteSeesTheRequest(t *testing.T) {
	r := &routed{nodes: []flow.Node{gold, to("big", "acme/big")}}
	plan, err := r.preview(t, call.Request{Model: "acme/small"})
	require.NoError(t, err)
	require.Equal(t, "acme/big", plan.Record.DecidedModel)
	require.Equal(t, []string{"start", "gold", "big", "end"}, plan.Record.Route.Nodes)
	require.Equal(t, []int{1, 0}, []int{r.reads, r.usages}, "walked once, and no node reads the usage")

	r = &routed{}
	plan, err = r.preview(t, call.Request{Model: "acme/small"})
	require.NoError(t, err)
	require.Nil(t, plan.Record.Route)
	require.Equal(t, []int{0, 0}, []int{r.reads, r.usages})
}

func TestUsageIsLookedUpForRoutesThatReadIt(t *testing.T) {
	limit := func(most int64) flow.Node {
		return flow.Node{ID: "limit", Type: flow.RateLimit, Window: flow.Daily, MaxRequests: &most, Within: "end", Exceeded: "big"}
	}
	for most, want := range map[int64]string{5: "acme/big", 6: "acme/small"} {
		r := &routed{nodes: []flow.Node{limit(most), to("big", "acme/big")}}
		plan, err := r.preview(t, call.Request{Model: "acme/small"})
		require.NoError(t, err)
		require.Equal(t, want, plan.Record.DecidedModel)
		require.Equal(t, 1, r.usages)
	}
}

// TestADraftIsRecordedFor: what a version that is not deployed would look at is
// looked up for the record alone.
func TestADraftIsRecordedFor(t *testing.T) {
	limit := int64(5)
	r := &routed{draft: []flow.Node{gold, {ID: "limit", Type: flow.RateLimit, Window: flow.Daily, MaxRequests: &limit, Within: "end", Exceeded: "end"}}}
	plan, err := r.preview(t, call.Request{Model: "acme/small"})
	require.NoError(t, err)
	require.Nil(t, plan.Record.Route)
	require.Equal(t, "acme/small", plan.Chain[0].Model.ID)
	kept, err := decide.DecodeRecollection(plan.Record.Recollection)
	require.NoError(t, err)
	require.True(t, kept.Inputs[0].Values[0].Hidden())
	require.EqualValues(t, 5, kept.Usage.Daily.Requests)
	require.Nil(t, kept.Usage.Weekly)
}

// Presets are looked up once each, wherever their names come from.
func TestPresetsAreLookedUp(t *testing.T) {
	presets := map[string]string{"a": "acme/small", "b": "acme/big"}
	for name, c := range map[string]struct {
		nodes    []flow.Node
		settings func(*policy.Settings)
		request  call.Request
		found    []string
		chain    []string
	}{
		"none":           {request: call.Request{Model: "acme/small"}, chain: []string{"acme/small"}},
		"the request's":  {request: call.Request{Model: "@A", Models: []string{"@b", "@a", "@gone"}}, found: []string{"a", "b", "gone"}, chain: []string{"acme/small", "acme/big"}},
		"the ladder's":   {settings: func(s *policy.Settings) { s.DefaultModel, s.FallbackModels = "@a", []string{"@b"} }, found: []string{"a", "b"}, chain: []string{"acme/small", "acme/big"}},
		"the route's":    {nodes: []flow.Node{gold, to("big", "@b")}, request: call.Request{Model: "acme/small"}, found: []string{"b"}, chain: []string{"acme/big"}},
		"one replaced":   {nodes: []flow.Node{gold, to("big", "acme/big")}, request: call.Request{Model: "@a"}, chain: []string{"acme/big"}},
		"of an owner's ": {request: call.Request{Model: "@team/x"}, found: []string{"team/x"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &routed{nodes: c.nodes, presets: presets, settings: policy.DefaultSettings()}
			if c.settings != nil {
				c.settings(&r.settings)
			}
			plan, err := r.preview(t, c.request)
			require.NoError(t, err)
			require.Equal(t, c.found, r.found)
			require.Equal(t, c.chain, plan.Record.Chain)
			require.Equal(t, c.chain == nil, plan.Refusal != nil)
		})
	}
}

// The decision counts what the presets of its entries add.
func TestWhatPresetsAddIsCounted(t *testing.T) {
	r := &routed{presets: map[string]string{"abc": "acme/small"}}
	plan, err := r.preview(t, call.Request{Model: "@abc", InputTokens: 10})
	require.NoError(t, err)
	require.Equal(t, []int64{13, 7}, []int64{plan.Record.Rankings[0].InputTokens, plan.Record.Rankings[0].OutputTokens})
	plan, err = r.preview(t, call.Request{Model: "acme/small", InputTokens: 10})
	require.NoError(t, err)
	require.EqualValues(t, 10, plan.Record.Rankings[0].InputTokens)
}

// Not to know a preset is no answer about it, and takes nothing from those that
// can serve.
func TestAPresetThatCannotBeRead(t *testing.T) {
	lost := fault.New(fault.UpstreamUndetermined, "away").After(time.Second)
	standing := policy.DefaultSettings()
	standing.FallbackModels = []string{"@a"}
	for name, c := range map[string]struct {
		nodes    []flow.Node
		settings policy.Settings
		request  call.Request
		chain    []string // none: the request ends
	}{
		"of the first entry":      {request: call.Request{Model: "@a", Models: []string{"acme/big"}}},
		"of a further one":        {request: call.Request{Model: "acme/small", Models: []string{"@a", "acme/big"}}, chain: []string{"acme/small", "acme/big"}},
		"of the ladder's":         {settings: standing, request: call.Request{Model: "acme/small"}, chain: []string{"acme/small"}},
		"of one that is replaced": {nodes: []flow.Node{to("big", "acme/big")}, request: call.Request{Model: "@a"}, chain: []string{"acme/big"}},
		"of what alone may serve": {
			nodes: []flow.Node{{ID: "free", Type: flow.Model, Model: "signalbox/free", FallbackModels: []string{"@a"}, Next: "end"}}, request: call.Request{Model: "acme/small"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &routed{lost: lost, nodes: c.nodes, settings: c.settings}
			plan, err := r.preview(t, c.request)
			if c.chain != nil {
				require.NoError(t, err)
				require.Nil(t, plan.Refusal)
			} else if plan.Refusal != nil {
				err = plan.Refusal
			}
			require.Equal(t, c.chain, plan.Record.Chain)
			require.Equal(t, c.chain == nil, fault.Is(err, fault.UpstreamUndetermined))
			require.LessOrEqual(t, len(r.found), 1, "it is asked for once")
		})
	}
}

// Slow look-ups do not add up.
func TestFurtherPresetsAreAskedForOnlySoLong(t *testing.T) {
	r := &routed{presets: map[string]string{"a": "acme/big", "b": "acme/judge", "c": "acme/judge"}, slow: time.Second}
	plan, err := r.preview(t, call.Request{Model: "acme/small", Models: []string{"@a", "@b", "@c"}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, r.found)
	require.Equal(t, []string{"acme/small", "acme/big", "acme/judge"}, plan.Record.Chain)
	require.Contains(t, plan.Record.Exclusions, decide.Exclusion{Model: "@c", Stage: "model", Reason: "preset_not_readable"})
}
