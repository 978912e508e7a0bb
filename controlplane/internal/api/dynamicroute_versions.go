package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListDynamicRouteVersions implements the operation.
func (s *Server) ListDynamicRouteVersions(ctx context.Context, r gen.ListDynamicRouteVersionsRequestObject) (gen.ListDynamicRouteVersionsResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.DynamicRoutes.History(ctx, callerOf(ctx).Workspace, route, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListDynamicRouteVersions200JSONResponse{Data: each(found.Items, routeVersionSummaryOf), NextCursor: nextCursor(found.Next)}, nil
}

// SaveDynamicRouteVersion implements the operation.
func (s *Server) SaveDynamicRouteVersion(ctx context.Context, r gen.SaveDynamicRouteVersionRequestObject) (gen.SaveDynamicRouteVersionResponseObject, error) {
	t, err := targetOf[id.RouteKind](ctx, r.DynamicRouteID, routeNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	out, err := s.services.DynamicRoutes.Save(ctx, t.Workspace, t.id, t.by(), dynamicroute.NewVersion{
		Config: r.Body.Config, Note: value(r.Body.Note), Parent: r.Body.Parent, IfMatch: t.ifMatch,
	})
	if err != nil {
		return nil, err
	}
	v, err := routeVersionOf(out.Version)
	if err != nil {
		return nil, err
	}
	body, version := gen.DynamicRouteVersionChange{Data: v, Warnings: warningsOf(out.Warnings)}, etag(out.Detail.Version)
	if out.Unchanged {
		return gen.SaveDynamicRouteVersion200JSONResponse{Body: body, Headers: gen.SaveDynamicRouteVersion200ResponseHeaders{ETag: version}}, nil
	}
	ref, pending := s.settle(ctx, out.Publication, r.Params.Wait)
	body.Publication = &ref
	if pending {
		return gen.SaveDynamicRouteVersion202JSONResponse{Body: body, Headers: gen.SaveDynamicRouteVersion202ResponseHeaders{ETag: version}}, nil
	}
	return gen.SaveDynamicRouteVersion201JSONResponse{Body: body, Headers: gen.SaveDynamicRouteVersion201ResponseHeaders{ETag: version}}, nil
}

// GetDynamicRouteVersion implements the operation.
func (s *Server) GetDynamicRouteVersion(ctx context.Context, r gen.GetDynamicRouteVersionRequestObject) (gen.GetDynamicRouteVersionResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	v, err := s.services.DynamicRoutes.Version(ctx, callerOf(ctx).Workspace, route, r.Version)
	if err != nil {
		return nil, err
	}
	found, err := routeVersionOf(v)
	if err != nil {
		return nil, err
	}
	return gen.GetDynamicRouteVersion200JSONResponse{Data: found}, nil
}

// DiffDynamicRouteVersions implements the operation.
func (s *Server) DiffDynamicRouteVersions(ctx context.Context, r gen.DiffDynamicRouteVersionsRequestObject) (gen.DiffDynamicRouteVersionsResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	d, err := s.services.DynamicRoutes.Diff(ctx, callerOf(ctx).Workspace, route, r.Version, r.OtherVersion)
	if err != nil {
		return nil, err
	}
	return gen.DiffDynamicRouteVersions200JSONResponse{Data: diffOf(r.Version, r.OtherVersion, d)}, nil
}

// TestDynamicRouteVersion implements the operation.
func (s *Server) TestDynamicRouteVersion(ctx context.Context, r gen.TestDynamicRouteVersionRequestObject) (gen.TestDynamicRouteVersionResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	sample, err := sampleFrom(r.Body.Facts)
	if err != nil {
		return nil, err
	}
	t, err := s.services.DynamicRoutes.Test(ctx, callerOf(ctx).Workspace, route, r.Version, sample)
	if err != nil {
		return nil, err
	}
	return gen.TestDynamicRouteVersion200JSONResponse{
		Data: gen.DynamicRouteTrial{Version: r.Version, Visited: list(t.Visited), Action: actionOf(t.Action)},
	}, nil
}

// DeployDynamicRouteVersion implements the operation.
func (s *Server) DeployDynamicRouteVersion(ctx context.Context, r gen.DeployDynamicRouteVersionRequestObject) (gen.DeployDynamicRouteVersionResponseObject, error) {
	done, err := s.changeRoute(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, func(t routeTarget) (dynamicroute.Outcome, error) {
		return s.services.DynamicRoutes.Deploy(ctx, t.Workspace, t.id, r.Version, t.by(), t.ifMatch)
	})
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.DeployDynamicRouteVersion202JSONResponse{Body: done.deployment(), Headers: gen.DeployDynamicRouteVersion202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.DeployDynamicRouteVersion200JSONResponse{Body: done.deployment(), Headers: gen.DeployDynamicRouteVersion200ResponseHeaders{ETag: done.version}}, nil
}

// RollbackDynamicRoute implements the operation.
func (s *Server) RollbackDynamicRoute(ctx context.Context, r gen.RollbackDynamicRouteRequestObject) (gen.RollbackDynamicRouteResponseObject, error) {
	done, err := s.changeRoute(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, func(t routeTarget) (dynamicroute.Outcome, error) {
		return s.services.DynamicRoutes.Rollback(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	})
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.RollbackDynamicRoute202JSONResponse{Body: done.deployment(), Headers: gen.RollbackDynamicRoute202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.RollbackDynamicRoute200JSONResponse{Body: done.deployment(), Headers: gen.RollbackDynamicRoute200ResponseHeaders{ETag: done.version}}, nil
}

func (c changedRoute) deployment() gen.DynamicRouteDeployment {
	return gen.DynamicRouteDeployment{Data: c.route, Warnings: c.warnings, Publication: c.publication}
}
