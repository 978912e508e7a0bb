package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/replay"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ReplayDynamicRouteVersion implements the operation.
func (s *Server) ReplayDynamicRouteVersion(ctx context.Context, r gen.ReplayDynamicRouteVersionRequestObject) (gen.ReplayDynamicRouteVersionResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	var q replay.Query
	if r.Body != nil {
		q = replay.Query{Since: value(r.Body.Since), Limit: value(r.Body.Limit)}
	}
	report, err := s.services.Replays.Replay(ctx, callerOf(ctx).Workspace, route, r.Version, q)
	if err != nil {
		return nil, err
	}
	return gen.ReplayDynamicRouteVersion200JSONResponse{Data: reportOf(report)}, nil
}

func reportOf(r replay.Report) gen.DynamicRouteReplayReport {
	return gen.DynamicRouteReplayReport{
		Version: r.Version, BaselineVersion: orNull(r.Baseline), Since: r.Since.UTC(), Oldest: orNull(r.Oldest.UTC()),
		Limited: r.Limited, Requests: r.Requests, Comparable: r.Comparable, UnknownTotal: r.Requests - r.Comparable,
		Moved: r.Moved, MovedModels: r.Remodeled, RefusalsGained: r.Refused, RefusalsLost: r.Served,
		ByNode: each(r.Nodes, func(n replay.Node) gen.DynamicRouteReplayNode {
			return gen.DynamicRouteReplayNode{
				Node: n.ID, Type: string(n.Type), Requests: n.Requests, Moved: n.Moved, RefusalsGained: n.Refused, RefusalsLost: n.Served,
				Unknown: n.Unknown,
			}
		}),
		Models: each(r.Models, func(m replay.Move) gen.DynamicRouteReplayMove {
			return gen.DynamicRouteReplayMove{From: m.From, To: m.To, Requests: m.Requests}
		}),
		Cost: gen.DynamicRouteReplayCost{
			Requests: r.Cost.Requests, BeforeUsd: r.Cost.Before.String(), AfterUsd: r.Cost.After.String(),
			DeltaUsd: (r.Cost.After - r.Cost.Before).String(), DeltaNanos: int64(r.Cost.After - r.Cost.Before),
		},
		Latency: gen.DynamicRouteReplayLatency{
			Requests: r.Latency.Requests, BeforeMs: millis(r.Latency.Before), AfterMs: millis(r.Latency.After),
			DeltaMs: millis(r.Latency.After - r.Latency.Before),
		},
		Unknown: each(r.Unknown, func(u replay.Unknown) gen.DynamicRouteReplayUnknown {
			return gen.DynamicRouteReplayUnknown{
				Version: some(u.Version), Node: some(u.Node), Reason: gen.DynamicRouteReplayUnknownReason(u.Reason), Requests: u.Requests,
			}
		}),
	}
}
