package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListDynamicRoutes implements the operation.
func (s *Server) ListDynamicRoutes(ctx context.Context, r gen.ListDynamicRoutesRequestObject) (gen.ListDynamicRoutesResponseObject, error) {
	found, err := s.services.DynamicRoutes.List(ctx, callerOf(ctx).Workspace,
		paging(ctx, r.Params.Cursor, r.Params.Limit), dynamicroute.Filter{Name: value(r.Params.Name)})
	if err != nil {
		return nil, err
	}
	return gen.ListDynamicRoutes200JSONResponse{Data: each(found.Items, listedRouteOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateDynamicRoute implements the operation.
func (s *Server) CreateDynamicRoute(ctx context.Context, r gen.CreateDynamicRouteRequestObject) (gen.CreateDynamicRouteResponseObject, error) {
	c := callerOf(ctx)
	out, err := s.services.DynamicRoutes.Create(ctx, c.Workspace, c.by(), dynamicroute.NewRoute{
		Name: r.Body.Name, Slug: value(r.Body.Slug), Description: value(r.Body.Description),
		Status: dynamicroute.Status(value(r.Body.Status)), Config: value(r.Body.Config), Note: value(r.Body.Note),
	})
	if err != nil {
		return nil, err
	}
	done, err := s.routeChange(ctx, out, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.CreateDynamicRoute202JSONResponse{Body: done.change(), Headers: gen.CreateDynamicRoute202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.CreateDynamicRoute201JSONResponse{Body: done.change(), Headers: gen.CreateDynamicRoute201ResponseHeaders{ETag: done.version}}, nil
}

// GetDynamicRoute implements the operation.
func (s *Server) GetDynamicRoute(ctx context.Context, r gen.GetDynamicRouteRequestObject) (gen.GetDynamicRouteResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	d, err := s.services.DynamicRoutes.Get(ctx, callerOf(ctx).Workspace, route)
	if err != nil {
		return nil, err
	}
	found, err := dynamicRouteOf(d)
	if err != nil {
		return nil, err
	}
	return gen.GetDynamicRoute200JSONResponse{
		Body: gen.DynamicRouteOne{Data: found}, Headers: gen.GetDynamicRoute200ResponseHeaders{ETag: etag(d.Version)},
	}, nil
}

// UpdateDynamicRoute implements the operation.
func (s *Server) UpdateDynamicRoute(ctx context.Context, r gen.UpdateDynamicRouteRequestObject) (gen.UpdateDynamicRouteResponseObject, error) {
	patch := dynamicroute.Patch{
		Name: r.Body.Name, Slug: r.Body.Slug, Description: r.Body.Description, Config: value(r.Body.Config), Note: value(r.Body.Note),
	}
	if r.Body.Status != nil {
		patch.Status = pointer(dynamicroute.Status(*r.Body.Status))
	}
	done, err := s.changeRoute(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, func(t routeTarget) (dynamicroute.Outcome, error) {
		patch.IfMatch = t.ifMatch
		return s.services.DynamicRoutes.Update(ctx, t.Workspace, t.id, t.by(), patch)
	})
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.UpdateDynamicRoute202JSONResponse{Body: done.change(), Headers: gen.UpdateDynamicRoute202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.UpdateDynamicRoute200JSONResponse{Body: done.change(), Headers: gen.UpdateDynamicRoute200ResponseHeaders{ETag: done.version}}, nil
}

// DeleteDynamicRoute implements the operation.
func (s *Server) DeleteDynamicRoute(ctx context.Context, r gen.DeleteDynamicRouteRequestObject) (gen.DeleteDynamicRouteResponseObject, error) {
	t, err := targetOf[id.RouteKind](ctx, r.DynamicRouteID, routeNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.DynamicRoutes.Delete(ctx, t.Workspace, t.id, t.by(), r.Params.ConfirmName, t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteDynamicRoute202JSONResponse(body), nil
	}
	return gen.DeleteDynamicRoute200JSONResponse(body), nil
}

// SetDynamicRouteKeys implements the operation.
func (s *Server) SetDynamicRouteKeys(ctx context.Context, r gen.SetDynamicRouteKeysRequestObject) (gen.SetDynamicRouteKeysResponseObject, error) {
	t, err := targetOf[id.RouteKind](ctx, r.DynamicRouteID, routeNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	keys, err := scopeIDs[id.KeyKind]("key_ids", r.Body.KeyIds)
	if err != nil {
		return nil, err
	}
	out, err := s.services.DynamicRoutes.SetKeys(ctx, t.Workspace, t.id, t.by(), keys, t.ifMatch)
	if err != nil {
		return nil, err
	}
	done, err := s.routeChange(ctx, out, r.Params.Wait)
	if err != nil {
		return nil, err
	}
	body := gen.DynamicRouteKeysChange{Data: done.route, Publication: done.publication, Moved: each(out.Moved, func(a dynamicroute.Attachment) gen.DynamicRouteMove {
		return gen.DynamicRouteMove{KeyID: a.Key.String(), From: a.Route.String()}
	})}
	if done.pending {
		return gen.SetDynamicRouteKeys202JSONResponse{Body: body, Headers: gen.SetDynamicRouteKeys202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.SetDynamicRouteKeys200JSONResponse{Body: body, Headers: gen.SetDynamicRouteKeys200ResponseHeaders{ETag: done.version}}, nil
}

const routeNoun = "dynamic route"

// routeTarget is the route that a change is about.
type routeTarget = target[id.RouteKind]

// changeRoute makes a change of one route, and what its answer is made of.
func (s *Server) changeRoute(
	ctx context.Context, text string, match *gen.IfMatch, wait *gen.Wait, change func(routeTarget) (dynamicroute.Outcome, error),
) (changedRoute, error) {
	t, err := targetOf[id.RouteKind](ctx, text, routeNoun, match)
	if err != nil {
		return changedRoute{}, err
	}
	out, err := change(t)
	if err != nil {
		return changedRoute{}, err
	}
	return s.routeChange(ctx, out, wait)
}

// changedRoute is what an answer to a change is made of.
type changedRoute struct {
	route       gen.DynamicRoute
	warnings    []gen.Violation
	publication *gen.PublicationRef // nil where nothing changed
	version     string              // the ETag
	pending     bool
}

func (s *Server) routeChange(ctx context.Context, out dynamicroute.Outcome, wait *gen.Wait) (c changedRoute, err error) {
	if c.route, err = dynamicRouteOf(out.Detail); err != nil {
		return c, err
	}
	c.warnings, c.version = warningsOf(out.Warnings), etag(out.Detail.Version)
	if out.Unchanged {
		return c, nil
	}
	ref, pending := s.settle(ctx, out.Publication, wait)
	c.publication, c.pending = &ref, pending
	return c, nil
}

// change is the answer to what always has a publication.
func (c changedRoute) change() gen.DynamicRouteChange {
	return gen.DynamicRouteChange{Data: c.route, Warnings: c.warnings, Publication: *c.publication}
}

func warningsOf(warnings []dynamicroute.Warning) []gen.Violation {
	return each(warnings, func(w dynamicroute.Warning) gen.Violation {
		return violationOf(fault.Violation{Path: w.Path, Code: w.Code, Message: w.Message, Node: w.Node})
	})
}
