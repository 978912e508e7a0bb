package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/lifecycle"
)

// ListLifecycleAlerts implements the operation.
func (s *Server) ListLifecycleAlerts(ctx context.Context, _ gen.ListLifecycleAlertsRequestObject) (gen.ListLifecycleAlertsResponseObject, error) {
	found, err := s.services.Lifecycle.Alerts(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.ListLifecycleAlerts200JSONResponse{Data: each(found, lifecycleAlertOf), NextCursor: nextCursor("")}, nil
}

func lifecycleAlertOf(a lifecycle.Alert) gen.LifecycleAlert {
	return gen.LifecycleAlert{
		Model: a.Model, State: gen.LifecycleAlertState(a.State), DeprecatedAt: utc(a.DeprecatedAt), RetiresAt: utc(a.RetiresAt),
		Replacement: some(a.Replacement), MoreReferences: a.More, Requests: a.Requests, LastUsedAt: utc(a.LastUsedAt),
		References: each(a.References, func(r lifecycle.Reference) gen.LifecycleReference {
			return gen.LifecycleReference{Kind: gen.LifecycleReferenceKind(r.Kind), ID: some(r.ID), Name: some(r.Name), Field: r.Field}
		}),
	}
}
