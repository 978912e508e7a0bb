package api

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/endpointhealth"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// ListEndpointHealth implements the operation.
func (s *Server) ListEndpointHealth(ctx context.Context, r gen.ListEndpointHealthRequestObject) (gen.ListEndpointHealthResponseObject, error) {
	found, err := s.services.EndpointHealth.List(ctx, callerOf(ctx).Workspace,
		endpointhealth.Filter{Model: value(r.Params.Model), Provider: value(r.Params.Provider)})
	if err != nil {
		return nil, err
	}
	return gen.ListEndpointHealth200JSONResponse{
		Data: each(found.Endpoints, endpointHealthOf), NextCursor: nextCursor(""), MadeAt: found.MadeAt.UTC(),
	}, nil
}

func endpointHealthOf(e endpointhealth.Endpoint) gen.EndpointHealth {
	out := gen.EndpointHealth{Model: e.Model.ID, Provider: e.Provider.Slug, Region: some(e.Endpoint.Region), Endpoint: e.Endpoint.ID}
	if e.Health != nil {
		out.Health = pointer(figuresOfHealth(e.Health))
	}
	return out
}

func figuresOfHealth(h *wire.ReportedHealth) gen.EndpointHealthFigures {
	return gen.EndpointHealthFigures{
		State: gen.EndpointHealthFiguresState(h.State), Until: later(h.Until), RequestsAtLeast: magnitude(h.Requests),
		Uptime: h.Uptime, SuccessShare: max(0, 1-h.Errors-h.RateLimited-h.GeoBlocked),
		ErrorShare: h.Errors, RateLimitedShare: h.RateLimited, GeoBlockedShare: h.GeoBlocked,
		FirstByteMs: duration(h.FirstByte), TokensPerSecond: some(h.Throughput),
	}
}

// magnitude is the power of ten below n: exact counts would tell how much other
// workspaces send.
func magnitude(n int64) int64 {
	power := int64(1)
	for power <= n/10 {
		power *= 10
	}
	return power
}

func later(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return utc(&t)
}
