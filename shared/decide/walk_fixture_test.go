package decide_test

import (
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var (
	routeID   = id.MustParse[id.RouteKind]("route_01kb7n0z1v8q5r2m3t4w5x6y7e")
	rolloutID = id.MustParse[id.RolloutKind]("rollout_01kb7n0z1v8q5r2m3t4w5x6y7f")
	presetID  = id.MustParse[id.PresetKind]("preset_01kb7n0z1v8q5r2m3t4w5x6y7g")
)

// preset is version 3 of a preset.
func preset(slug string, config policy.PresetConfig) *policy.PresetVersion {
	return &policy.PresetVersion{Schema: policy.Schema, Preset: presetID, Slug: slug, Version: 3, Config: config}
}

// routeOf is a route whose version 5 has these nodes between start and end, the
// first of them first.
func routeOf(nodes ...flow.Node) policy.Route {
	g := flow.Graph{SchemaVersion: flow.SchemaVersion, Entry: "start", Nodes: []flow.Node{{ID: "start", Type: flow.Start, Next: nodes[0].ID}}}
	g.Nodes = append(append(g.Nodes, nodes...), flow.Node{ID: "end", Type: flow.End})
	return policy.Route{ID: routeID, Name: "main", RouteVersion: policy.RouteVersion{Version: 5, Graph: g, Slots: flow.Derive(g, nil)}}
}

// fixes is a model node that fixes a model, with fallbacks of its own.
func fixes(nodeID, model string, fallbacks ...string) flow.Node {
	return flow.Node{ID: nodeID, Type: flow.Model, Model: model, FallbackModels: fallbacks, Next: "end"}
}

// whenIs is a condition node on what a source has.
func whenIs(nodeID string, source condition.Source, path, value, yes, no string) flow.Node {
	test := &condition.Condition{Source: source, Path: path, Op: condition.Equals, Value: condition.One(condition.Text(value))}
	return flow.Node{ID: nodeID, Type: flow.When, When: test, True: yes, False: no}
}

func rejects(nodeID string, status int) flow.Node {
	return flow.Node{ID: nodeID, Type: flow.Reject, Status: status, Code: "not_today", Message: "Ask again tomorrow."}
}

// setting are model nodes that set what a rung sets. One node may not exclude
// what it asks for, so that each list has a node of its own.
func setting(set policy.Routing) []flow.Node {
	p := set.Provider
	n := flow.Node{ID: "set", Type: flow.Model, Next: "only"}
	yes := func(v bool) *bool {
		if !v {
			return nil
		}
		return &v
	}
	n.Model, n.RoutingMode, n.FallbackModels = set.DefaultModel, string(set.Mode), set.FallbackModels
	if set.Auto {
		n.Model = "signalbox/auto"
	}
	n.AllowFallbacks = p.AllowFallbacks
	n.Affinity = &flow.Affinity{Cache: p.CacheAware, Session: set.Affinity}
	n.Provider = &flow.Provider{
		Order: each(p.Order), Sort: string(p.Sort), Region: p.Region,
		RequireParameters: yes(p.RequireParameters), RequireZDR: yes(p.RequireZDR), DenyTraining: yes(p.DenyTraining),
	}
	if p.MaxInputPrice != nil || p.MaxOutputPrice != nil {
		n.Provider.MaxPrice = &flow.MaxPrice{Input: decimal(p.MaxInputPrice), Output: decimal(p.MaxOutputPrice)}
	}
	if p.PreferredMaxLatency > 0 {
		n.Provider.PreferredMaxLatency = ptr(float64(p.PreferredMaxLatency) / float64(time.Second))
	}
	if p.PreferredMinThroughput > 0 {
		n.Provider.PreferredMinThroughput = ptr(p.PreferredMinThroughput)
	}
	return []flow.Node{
		n,
		{ID: "only", Type: flow.Model, Next: "ignore", Provider: &flow.Provider{Only: each(p.Only)}},
		{ID: "ignore", Type: flow.Model, Next: "end", Provider: &flow.Provider{Ignore: each(p.Ignore)}},
	}
}

// each has every entry of a list once; nil for none.
func each(list []string) (out []string) {
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

func decimal(p *money.PerMillion) string {
	if p == nil {
		return ""
	}
	return p.String()
}

// excluded is the reason why an entry of the chain is not in it, "" when it is
// not told of.
func excluded(plan decide.Plan, name string) string {
	for _, x := range plan.Record.Exclusions {
		if x.Model == name && x.Endpoint == "" {
			return x.Reason
		}
	}
	return ""
}
