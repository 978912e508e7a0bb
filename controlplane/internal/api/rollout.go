package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListPublications implements the operation.
func (s *Server) ListPublications(ctx context.Context, r gen.ListPublicationsRequestObject) (gen.ListPublicationsResponseObject, error) {
	found, err := s.services.Publications.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListPublications200JSONResponse{Data: each(found.Items, publicationOf), NextCursor: nextCursor(found.Next)}, nil
}

// GetPublication implements the operation.
func (s *Server) GetPublication(ctx context.Context, r gen.GetPublicationRequestObject) (gen.GetPublicationResponseObject, error) {
	pub, err := parseID[id.PublicationKind](r.PublicationID, "publication")
	if err != nil {
		return nil, err
	}
	p, err := s.services.Publications.Get(ctx, callerOf(ctx).Workspace, pub)
	if err != nil {
		return nil, err
	}
	return gen.GetPublication200JSONResponse{Data: publicationOf(p)}, nil
}

// ListGateways implements the operation.
func (s *Server) ListGateways(ctx context.Context, _ gen.ListGatewaysRequestObject) (gen.ListGatewaysResponseObject, error) {
	found, err := s.services.Gateways.List(ctx)
	if err != nil {
		return nil, err
	}
	return gen.ListGateways200JSONResponse{Data: each(found, gatewayOf), NextCursor: nextCursor("")}, nil
}

// ListAuditEvents implements the operation.
func (s *Server) ListAuditEvents(ctx context.Context, r gen.ListAuditEventsRequestObject) (gen.ListAuditEventsResponseObject, error) {
	q := r.Params
	found, err := s.services.Audit.List(ctx, callerOf(ctx).Workspace, paging(ctx, q.Cursor, q.Limit), audit.Filter{
		Action: value(q.Action), TargetType: value(q.TargetType), TargetID: value(q.TargetID), Actor: value(q.ActorID),
		Since: value(q.Since), Until: value(q.Until),
	})
	if err != nil {
		return nil, err
	}
	return gen.ListAuditEvents200JSONResponse{Data: each(found.Items, eventOf), NextCursor: nextCursor(found.Next)}, nil
}

func publicationOf(p publication.Publication) gen.Publication {
	return gen.Publication{
		ID: p.ID.String(), Revision: p.Revision, Changes: list(p.Changes),
		CreatedAt: p.CreatedAt.UTC(), PublishedAt: utc(p.PublishedAt),
		Receipts: gen.Receipts{
			Gateways: p.Receipts.Gateways, Applied: p.Receipts.Applied, Pending: p.Receipts.Pending,
			P50Ms: millis(p.Receipts.P50), P99Ms: millis(p.Receipts.P99),
			PendingGateways: id.Texts(p.Receipts.PendingGateways),
		},
	}
}

func gatewayOf(g gateway.Gateway) gen.Gateway {
	return gen.Gateway{
		ID: g.ID.String(), Instance: g.Instance, Version: g.Version, Address: g.Address, State: gen.GatewayState(g.State),
		StartedAt: g.StartedAt.UTC(), LastSeenAt: g.LastSeenAt.UTC(),
		CatalogRevision: g.CatalogRevision, Stale: g.Stale, SpoolPending: g.SpoolPending,
	}
}

func eventOf(e audit.Event) gen.AuditEvent {
	return gen.AuditEvent{
		ID: e.ID.String(), At: e.At.UTC(), Action: e.Action, TargetType: e.TargetType, TargetID: e.TargetID,
		Actor: gen.Actor{
			Kind: gen.ActorKind(e.Actor.Kind), ID: some(e.Actor.ID), UserID: some(e.Actor.User.String()), Name: some(e.Actor.Name),
		},
		Diff: each(e.Diff, func(c audit.Change) gen.FieldChange {
			return gen.FieldChange{Path: c.Path, Before: c.Before, After: c.After}
		}),
		RequestID: e.RequestID, Revision: e.Revision,
	}
}
