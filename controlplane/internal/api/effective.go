package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// GetEffectiveRouting implements the operation.
func (s *Server) GetEffectiveRouting(ctx context.Context, r gen.GetEffectiveRoutingRequestObject) (gen.GetEffectiveRoutingResponseObject, error) {
	var key id.Key
	if r.Params.Key != nil {
		var err error
		if key, err = parseID[id.KeyKind](*r.Params.Key, "API key"); err != nil {
			return nil, err
		}
	}
	found, err := s.services.Effective.Resolve(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetEffectiveRouting200JSONResponse{Data: effectiveOf(found, key)}, nil
}

func effectiveOf(r effective.Resolved, key id.Key) gen.EffectiveRouting {
	out := gen.EffectiveRouting{
		KeyID: some(key.String()), Revision: r.Revision, Routing: routingOf(r.Routing),
		RequiredRegions: list(r.Regions), NoProvider: r.Nothing,
		Fields: each(r.Fields, func(f decide.ResolvedField) gen.ResolvedField {
			return gen.ResolvedField{
				Field: f.Field, Value: f.Value, Rung: f.Rung, RoutingProfileID: some(r.Profiles[f.Rung].String()), GuardrailID: some(f.Guardrail),
			}
		}),
		Guardrails: each(r.Guardrails, func(b policy.BoundGuardrail) gen.BoundGuardrail {
			return gen.BoundGuardrail{ID: b.ID.String(), Name: b.Name, Scope: gen.BoundGuardrailScope(b.Scope)}
		}),
	}
	if a := r.Route; a != nil {
		out.DynamicRoute = &gen.AttachedRoute{
			ID: a.ID.String(), Name: a.Name, Status: gen.DynamicRouteStatus(a.Status), Applies: a.Applies(), DeployedVersion: some(a.Deployed),
		}
	}
	if r.Refusal != nil {
		out.Refusal = &gen.RoutingRefusal{
			Code: string(r.Refusal.Code), Reason: some(string(r.Refusal.Reason)), Detail: r.Refusal.Message,
		}
	}
	return out
}
