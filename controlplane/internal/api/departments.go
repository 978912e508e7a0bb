package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListDepartments implements the operation.
func (s *Server) ListDepartments(ctx context.Context, r gen.ListDepartmentsRequestObject) (gen.ListDepartmentsResponseObject, error) {
	found, err := s.services.Departments.List(ctx, callerOf(ctx).Workspace,
		paging(ctx, r.Params.Cursor, r.Params.Limit), department.Filter{Name: value(r.Params.Name)})
	if err != nil {
		return nil, err
	}
	return gen.ListDepartments200JSONResponse{Data: each(found.Items, departmentOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateDepartment implements the operation.
func (s *Server) CreateDepartment(ctx context.Context, r gen.CreateDepartmentRequestObject) (gen.CreateDepartmentResponseObject, error) {
	c := callerOf(ctx)
	profile, err := filterID[id.ProfileKind](r.Body.RoutingProfileID, pathProfile)
	if err != nil {
		return nil, err
	}
	d, pub, err := s.services.Departments.Create(ctx, c.Workspace, c.by(), department.Draft{Name: r.Body.Name, Profile: profile})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.DepartmentChange{Data: departmentOf(d), Publication: ref}
	if pending {
		return gen.CreateDepartment202JSONResponse{Body: body, Headers: gen.CreateDepartment202ResponseHeaders{ETag: etag(d.Version)}}, nil
	}
	return gen.CreateDepartment201JSONResponse{Body: body, Headers: gen.CreateDepartment201ResponseHeaders{ETag: etag(d.Version)}}, nil
}

// GetDepartment implements the operation.
func (s *Server) GetDepartment(ctx context.Context, r gen.GetDepartmentRequestObject) (gen.GetDepartmentResponseObject, error) {
	key, err := parseID[id.DepartmentKind](r.DepartmentID, departmentNoun)
	if err != nil {
		return nil, err
	}
	d, err := s.services.Departments.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetDepartment200JSONResponse{
		Body: gen.DepartmentOne{Data: departmentOf(d)}, Headers: gen.GetDepartment200ResponseHeaders{ETag: etag(d.Version)},
	}, nil
}

// UpdateDepartment implements the operation.
func (s *Server) UpdateDepartment(ctx context.Context, r gen.UpdateDepartmentRequestObject) (gen.UpdateDepartmentResponseObject, error) {
	t, err := targetOf[id.DepartmentKind](ctx, r.DepartmentID, departmentNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := department.Patch{Name: r.Body.Name, IfMatch: t.ifMatch}
	if patch.Profile, err = patchID[id.ProfileKind](r.Body.RoutingProfileID, pathProfile); err != nil {
		return nil, err
	}
	d, pub, err := s.services.Departments.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.DepartmentChange{Data: departmentOf(d), Publication: ref}
	if pending {
		return gen.UpdateDepartment202JSONResponse{Body: body, Headers: gen.UpdateDepartment202ResponseHeaders{ETag: etag(d.Version)}}, nil
	}
	return gen.UpdateDepartment200JSONResponse{Body: body, Headers: gen.UpdateDepartment200ResponseHeaders{ETag: etag(d.Version)}}, nil
}

// DeleteDepartment implements the operation.
func (s *Server) DeleteDepartment(ctx context.Context, r gen.DeleteDepartmentRequestObject) (gen.DeleteDepartmentResponseObject, error) {
	t, err := targetOf[id.DepartmentKind](ctx, r.DepartmentID, departmentNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.Departments.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteDepartment202JSONResponse(body), nil
	}
	return gen.DeleteDepartment200JSONResponse(body), nil
}

const departmentNoun = "department"

func departmentOf(d department.Department) gen.Department {
	return gen.Department{
		ID: d.ID.String(), Name: d.Name, RoutingProfileID: some(d.Profile.String()),
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(),
	}
}
