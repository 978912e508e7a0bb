package api

import (
	"encoding/json"
	"fmt"

	"github.com/oapi-codegen/nullable"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

func listedRouteOf(l dynamicroute.Listed) gen.DynamicRouteListed {
	return gen.DynamicRouteListed{
		ID: l.ID.String(), Name: l.Name, Slug: l.Slug, Description: l.Description, Status: gen.DynamicRouteStatus(l.Status),
		LatestVersion: orNull(l.Latest), DeployedVersion: orNull(l.Deployed), KeyCount: l.Keys,
		Rollout:   underwayOf(l.Rollout),
		CreatedAt: l.CreatedAt.UTC(), UpdatedAt: l.UpdatedAt.UTC(),
	}
}

func dynamicRouteOf(d dynamicroute.Detail) (gen.DynamicRoute, error) {
	out := gen.DynamicRoute{
		ID: d.ID.String(), Name: d.Name, Slug: d.Slug, Description: d.Description, Status: gen.DynamicRouteStatus(d.Status),
		LatestVersion: orNull(d.Latest), DeployedVersion: orNull(d.Deployed), KeyIds: list(id.Texts(d.Keys)),
		Rollout:   underwayOf(d.Rollout),
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
	if d.Newest.Number == 0 {
		return out, nil
	}
	graph, err := graphOf(d.Newest.Graph)
	out.Config, out.ConfigVersion = &graph, &d.Newest.Number
	return out, err
}

// underwayOf is null where no rollout is open.
func underwayOf(u dynamicroute.Underway) nullable.Nullable[gen.DynamicRouteUnderway] {
	if u.ID.IsZero() {
		return nullable.NewNullNullable[gen.DynamicRouteUnderway]()
	}
	state := gen.DynamicRouteRolloutStateRunning
	if u.Paused {
		state = gen.DynamicRouteRolloutStatePaused
	}
	return nullable.NewNullableWithValue(gen.DynamicRouteUnderway{
		ID: u.ID.String(), Version: u.Version, Percent: json.Number(u.Percent.String()), State: state,
	})
}

func routeVersionOf(v dynamicroute.Version) (gen.DynamicRouteVersion, error) {
	summary := routeVersionSummaryOf(v)
	graph, err := graphOf(v.Graph)
	return gen.DynamicRouteVersion{
		Version: summary.Version, Status: summary.Status, Digest: summary.Digest, Parent: summary.Parent, Note: summary.Note,
		CreatedBy: summary.CreatedBy, CreatedAt: summary.CreatedAt, Config: graph,
	}, err
}

func routeVersionSummaryOf(v dynamicroute.Version) gen.DynamicRouteVersionSummary {
	return gen.DynamicRouteVersionSummary{
		Version: v.Number, Status: gen.DynamicRouteVersionStatus(v.Status), Digest: v.Digest, Parent: orNull(v.Parent),
		Note: v.Note, CreatedBy: some(v.CreatedBy.String()), CreatedAt: v.CreatedAt.UTC(),
	}
}

// graphOf writes a graph in its canonical form.
func graphOf(g flow.Graph) (gen.DynamicRouteGraph, error) {
	raw, err := json.Marshal(g)
	if err != nil {
		return nil, fmt.Errorf("encode a graph: %w", err)
	}
	return raw, nil
}

func diffOf(a, b int, d flow.Difference) gen.DynamicRouteDiff {
	fields := func(changes []flow.FieldChange) []gen.DynamicRouteFieldChange {
		return each(changes, func(c flow.FieldChange) gen.DynamicRouteFieldChange {
			return gen.DynamicRouteFieldChange{Path: c.Path, Before: c.Before, After: c.After}
		})
	}
	return gen.DynamicRouteDiff{
		From: a, To: b, Added: list(d.Added), Removed: list(d.Removed), Graph: fields(d.Graph),
		Changed: each(d.Changed, func(c flow.NodeChange) gen.DynamicRouteNodeChange {
			return gen.DynamicRouteNodeChange{Node: c.Node, Fields: fields(c.Fields)}
		}),
	}
}

func sampleFrom(f gen.DynamicRouteFacts) (dynamicroute.Sample, error) {
	s := dynamicroute.Sample{
		Body: value(f.Body), Headers: value(f.Headers), Metadata: value(f.Metadata), WorkspaceTags: value(f.WorkspaceTags),
		KeyScopes: value(f.KeyScopes), Endpoint: string(value(f.Endpoint)), Model: value(f.Model), SessionID: value(f.SessionID),
		UserID: value(f.UserID), Subject: value(f.Subject),
	}
	if f.Usage == nil {
		return s, nil
	}
	var v rule.Violations
	bucket := func(window string, b *gen.DynamicRouteBucket) flow.Bucket {
		if b == nil {
			return flow.Bucket{}
		}
		cost := amount(&v, "facts.usage."+window+".cost_usd", valueOr(b.CostUsd, "0"))
		return flow.Bucket{Known: true, Requests: value(b.Requests), Cost: cost}
	}
	s.Usage = flow.Usage{Daily: bucket("daily", f.Usage.Daily), Weekly: bucket("weekly", f.Usage.Weekly), Monthly: bucket("monthly", f.Usage.Monthly)}
	return s, v.Err()
}

func valueOr[T any](p *T, none T) T {
	if p == nil {
		return none
	}
	return *p
}

func actionOf(a flow.Action) gen.DynamicRouteAction {
	out := gen.DynamicRouteAction{Model: some(a.Model), FallbackModels: filled(a.FallbackModels), RoutingMode: some(a.Mode)}
	if p := preferencesOf(a); p != (gen.ProviderFields{}) {
		out.Provider = &p
	}
	if a.Cache != nil || a.Session != nil {
		out.Affinity = &gen.DynamicRouteAffinity{Cache: a.Cache, Session: a.Session}
	}
	if r := a.Reject; r != nil {
		out.Reject = &gen.DynamicRouteRejection{Node: r.Node, Status: r.Status, Code: r.Code, Message: r.Message}
	}
	return out
}

func preferencesOf(a flow.Action) gen.ProviderFields {
	p := gen.ProviderFields{
		Order: filled(a.Order), Only: filled(a.Only), Ignore: filled(a.Ignore), AllowFallbacks: a.AllowFallbacks,
		Sort: some(gen.ProviderFieldsSort(a.Sort)), RequireParameters: a.RequireParameters, RequireZeroDataRetention: a.RequireZDR,
		DenyTraining: a.DenyTraining, RequiredRegion: some(a.Region),
		PreferredMaxLatency: some(a.PreferredMaxLatency.Seconds()), PreferredMinThroughput: some(a.PreferredMinThroughput),
	}
	if a.MaxInputPrice != nil || a.MaxOutputPrice != nil {
		p.MaxPrice = &gen.PriceLimits{Input: limitOf(a.MaxInputPrice), Output: limitOf(a.MaxOutputPrice)}
	}
	return p
}
