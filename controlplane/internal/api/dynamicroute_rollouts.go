package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// StartDynamicRouteRollout implements the operation.
func (s *Server) StartDynamicRouteRollout(ctx context.Context, r gen.StartDynamicRouteRolloutRequestObject) (gen.StartDynamicRouteRolloutResponseObject, error) {
	t, err := targetOf[id.RouteKind](ctx, r.DynamicRouteID, routeNoun, nil)
	if err != nil {
		return nil, err
	}
	out, err := s.services.Rollouts.Start(ctx, t.Workspace, t.id, r.Version, t.by(), planFrom(*r.Body))
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, out.Publication, r.Params.Wait)
	body := gen.DynamicRouteRolloutStarted{Data: rolloutOf(out.Detail), Warnings: warningsOf(out.Warnings), Publication: ref}
	version := etag(out.Detail.Version)
	if pending {
		return gen.StartDynamicRouteRollout202JSONResponse{Body: body, Headers: gen.StartDynamicRouteRollout202ResponseHeaders{ETag: version}}, nil
	}
	return gen.StartDynamicRouteRollout201JSONResponse{Body: body, Headers: gen.StartDynamicRouteRollout201ResponseHeaders{ETag: version}}, nil
}

// GetDynamicRouteRollout implements the operation.
func (s *Server) GetDynamicRouteRollout(ctx context.Context, r gen.GetDynamicRouteRolloutRequestObject) (gen.GetDynamicRouteRolloutResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	d, err := s.services.Rollouts.Current(ctx, callerOf(ctx).Workspace, route)
	if err != nil {
		return nil, err
	}
	return gen.GetDynamicRouteRollout200JSONResponse{
		Body: gen.DynamicRouteRolloutOne{Data: rolloutOf(d)}, Headers: gen.GetDynamicRouteRollout200ResponseHeaders{ETag: etag(d.Version)},
	}, nil
}

// ListDynamicRouteRollouts implements the operation.
func (s *Server) ListDynamicRouteRollouts(ctx context.Context, r gen.ListDynamicRouteRolloutsRequestObject) (gen.ListDynamicRouteRolloutsResponseObject, error) {
	route, err := parseID[id.RouteKind](r.DynamicRouteID, routeNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Rollouts.History(ctx, callerOf(ctx).Workspace, route, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListDynamicRouteRollouts200JSONResponse{Data: each(found.Items, rolloutSummaryOf), NextCursor: nextCursor(found.Next)}, nil
}

// PauseDynamicRouteRollout implements the operation.
func (s *Server) PauseDynamicRouteRollout(ctx context.Context, r gen.PauseDynamicRouteRolloutRequestObject) (gen.PauseDynamicRouteRolloutResponseObject, error) {
	done, err := s.steer(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, s.services.Rollouts.Pause)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.PauseDynamicRouteRollout202JSONResponse{Body: done.body, Headers: gen.PauseDynamicRouteRollout202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.PauseDynamicRouteRollout200JSONResponse{Body: done.body, Headers: gen.PauseDynamicRouteRollout200ResponseHeaders{ETag: done.version}}, nil
}

// ResumeDynamicRouteRollout implements the operation.
func (s *Server) ResumeDynamicRouteRollout(ctx context.Context, r gen.ResumeDynamicRouteRolloutRequestObject) (gen.ResumeDynamicRouteRolloutResponseObject, error) {
	done, err := s.steer(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, s.services.Rollouts.Resume)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.ResumeDynamicRouteRollout202JSONResponse{Body: done.body, Headers: gen.ResumeDynamicRouteRollout202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.ResumeDynamicRouteRollout200JSONResponse{Body: done.body, Headers: gen.ResumeDynamicRouteRollout200ResponseHeaders{ETag: done.version}}, nil
}

// AdvanceDynamicRouteRollout implements the operation.
func (s *Server) AdvanceDynamicRouteRollout(ctx context.Context, r gen.AdvanceDynamicRouteRolloutRequestObject) (gen.AdvanceDynamicRouteRolloutResponseObject, error) {
	done, err := s.steer(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, s.services.Rollouts.Advance)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.AdvanceDynamicRouteRollout202JSONResponse{Body: done.body, Headers: gen.AdvanceDynamicRouteRollout202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.AdvanceDynamicRouteRollout200JSONResponse{Body: done.body, Headers: gen.AdvanceDynamicRouteRollout200ResponseHeaders{ETag: done.version}}, nil
}

// AbortDynamicRouteRollout implements the operation.
func (s *Server) AbortDynamicRouteRollout(ctx context.Context, r gen.AbortDynamicRouteRolloutRequestObject) (gen.AbortDynamicRouteRolloutResponseObject, error) {
	done, err := s.steer(ctx, r.DynamicRouteID, r.Params.IfMatch, r.Params.Wait, s.services.Rollouts.Abort)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.AbortDynamicRouteRollout202JSONResponse{Body: done.body, Headers: gen.AbortDynamicRouteRollout202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.AbortDynamicRouteRollout200JSONResponse{Body: done.body, Headers: gen.AbortDynamicRouteRollout200ResponseHeaders{ETag: done.version}}, nil
}

// steered is what an answer to a change of a rollout is made of.
type steered struct {
	body    gen.DynamicRouteRolloutSteered
	version string // the ETag
	pending bool
}

func (s *Server) steer(ctx context.Context, text string, match *gen.IfMatch, wait *gen.Wait, change rollout.Steering) (steered, error) {
	t, err := targetOf[id.RouteKind](ctx, text, routeNoun, match)
	if err != nil {
		return steered{}, err
	}
	out, err := change(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return steered{}, err
	}
	done := steered{body: gen.DynamicRouteRolloutSteered{Data: rolloutOf(out.Detail)}, version: etag(out.Detail.Version)}
	if out.Unchanged {
		return done, nil
	}
	ref, pending := s.settle(ctx, out.Publication, wait)
	done.body.Publication, done.pending = &ref, pending
	return done, nil
}
