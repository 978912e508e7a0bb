package pipeline_test

import (
	"context"
	"slices"
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
	settings policy.Settings
	presets  map[string]string // by name: the model that each stands for
	lost     error             // of looking one up

	found  []string // that were looked up
	usages int
	reads  int
	paths  []string // that may be looked at
}

var routeID = id.MustParse[id.RouteKind]("route_00000000000000000000000001")

func (r *routed) Authenticate(context.Context, call.Call) (call.Principal, error) {
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
	if s.lost != nil {
		return nil, s.lost
	}
	model, there := s.presets[name]
	if !there {
		return nil, fault.New(fault.ModelNotFound, "There is no preset with this name.").Because(fault.PresetNotFound)
	}
	return &policy.PresetVersion{Slug: name, Version: 1, Config: policy.PresetConfig{Model: model}}, nil
}

func (r *routed) preview(t *testing.T, q call.Request) (decide.Plan, error) {
	t.Helper()
	r.t = t
	if r.settings.MaxModels == 0 {
		r.settings = policy.DefaultSettings()
	}
	p := pipeline.New(pipeline.Steps{
		Auth: r, Policies: r, Catalogs: r, Objects: r, Affinity: &memory{}, Health: r, Decide: decide.Decide,
		Content: func(_ *call.Call, paths []string) condition.Facts { r.paths = paths; return r }, Usage: r, Presets: shelf{r},
	}, func() time.Time { return start }, func() uint64 { return 42 }, nil)
	_, plan, err := p.Preview(t.Context(), call.Call{Surface: catalog.Chat, Received: start, Request: q})
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
		"one replaced":   {nodes: []flow.Node{gold, to("big", "acme/big")}, request: call.Request{Model: "@a"}, found: []string{"a"}, chain: []string{"acme/big"}},
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

// Not to know a preset is no answer about it.
func TestAPresetThatCannotBeReadEndsTheRequest(t *testing.T) {
	r := &routed{lost: fault.New(fault.UpstreamUndetermined, "away").After(time.Second)}
	_, err := r.preview(t, call.Request{Model: "acme/small", Models: []string{"@a"}})
	require.True(t, fault.Is(err, fault.UpstreamUndetermined))
	r = &routed{lost: r.lost, settings: policy.DefaultSettings()}
	r.settings.FallbackModels = []string{"@a"}
	_, err = r.preview(t, call.Request{Model: "acme/small"})
	require.True(t, fault.Is(err, fault.UpstreamUndetermined), "of a name that the decision came upon, too")
	require.True(t, slices.Equal([]string{"a"}, r.found))
}
