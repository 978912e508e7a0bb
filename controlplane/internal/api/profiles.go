package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListRoutingProfiles implements the operation.
func (s *Server) ListRoutingProfiles(ctx context.Context, r gen.ListRoutingProfilesRequestObject) (gen.ListRoutingProfilesResponseObject, error) {
	found, err := s.services.Profiles.List(ctx, callerOf(ctx).Workspace,
		paging(ctx, r.Params.Cursor, r.Params.Limit), profile.Filter{Name: value(r.Params.Name)})
	if err != nil {
		return nil, err
	}
	return gen.ListRoutingProfiles200JSONResponse{Data: each(found.Items, profileOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateRoutingProfile implements the operation.
func (s *Server) CreateRoutingProfile(ctx context.Context, r gen.CreateRoutingProfileRequestObject) (gen.CreateRoutingProfileResponseObject, error) {
	c := callerOf(ctx)
	draft := profile.Draft{Name: r.Body.Name, Routing: routingFrom(value(r.Body.Routing))}
	p, pub, err := s.services.Profiles.Create(ctx, c.Workspace, c.by(), draft)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.RoutingProfileChange{Data: profileOf(p), Publication: ref}
	if pending {
		return gen.CreateRoutingProfile202JSONResponse{
			Body: body, Headers: gen.CreateRoutingProfile202ResponseHeaders{ETag: etag(p.Version)},
		}, nil
	}
	return gen.CreateRoutingProfile201JSONResponse{
		Body: body, Headers: gen.CreateRoutingProfile201ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// GetRoutingProfile implements the operation.
func (s *Server) GetRoutingProfile(ctx context.Context, r gen.GetRoutingProfileRequestObject) (gen.GetRoutingProfileResponseObject, error) {
	key, err := parseID[id.ProfileKind](r.RoutingProfileID, profileNoun)
	if err != nil {
		return nil, err
	}
	p, b, err := s.services.Profiles.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	found := profileOf(p)
	return gen.GetRoutingProfile200JSONResponse{
		Body: gen.RoutingProfileOne{Data: gen.RoutingProfileDetail{
			ID: found.ID, Name: found.Name, Routing: found.Routing, CreatedAt: found.CreatedAt, UpdatedAt: found.UpdatedAt,
			Bindings: bindingsOf(b),
		}},
		Headers: gen.GetRoutingProfile200ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// UpdateRoutingProfile implements the operation.
func (s *Server) UpdateRoutingProfile(ctx context.Context, r gen.UpdateRoutingProfileRequestObject) (gen.UpdateRoutingProfileResponseObject, error) {
	t, err := targetOf[id.ProfileKind](ctx, r.RoutingProfileID, profileNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := profile.Patch{Name: r.Body.Name, IfMatch: t.ifMatch}
	if r.Body.Routing != nil {
		patch.Routing = pointer(routingFrom(*r.Body.Routing))
	}
	p, pub, err := s.services.Profiles.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.RoutingProfileChange{Data: profileOf(p), Publication: ref}
	if pending {
		return gen.UpdateRoutingProfile202JSONResponse{
			Body: body, Headers: gen.UpdateRoutingProfile202ResponseHeaders{ETag: etag(p.Version)},
		}, nil
	}
	return gen.UpdateRoutingProfile200JSONResponse{
		Body: body, Headers: gen.UpdateRoutingProfile200ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// DeleteRoutingProfile implements the operation.
func (s *Server) DeleteRoutingProfile(ctx context.Context, r gen.DeleteRoutingProfileRequestObject) (gen.DeleteRoutingProfileResponseObject, error) {
	t, err := targetOf[id.ProfileKind](ctx, r.RoutingProfileID, profileNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.Profiles.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteRoutingProfile202JSONResponse(body), nil
	}
	return gen.DeleteRoutingProfile200JSONResponse(body), nil
}

const profileNoun = "routing profile"

func profileOf(p profile.Profile) gen.RoutingProfile {
	return gen.RoutingProfile{
		ID: p.ID.String(), Name: p.Name, Routing: routingOf(p.Routing), CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}

func bindingsOf(b profile.Bindings) gen.RoutingBindings {
	return gen.RoutingBindings{
		Workspace: b.Workspace, Departments: id.Texts(b.Departments), Keys: id.Texts(b.Keys), More: b.More,
	}
}
