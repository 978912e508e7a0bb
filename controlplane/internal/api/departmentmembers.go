package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListDepartmentMembers implements the operation.
func (s *Server) ListDepartmentMembers(ctx context.Context, r gen.ListDepartmentMembersRequestObject) (gen.ListDepartmentMembersResponseObject, error) {
	key, err := parseID[id.DepartmentKind](r.DepartmentID, departmentNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Departments.Members(ctx, callerOf(ctx).Workspace, key, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListDepartmentMembers200JSONResponse{Data: each(found.Items, departmentMemberOf), NextCursor: nextCursor(found.Next)}, nil
}

// PutDepartmentMember implements the operation.
func (s *Server) PutDepartmentMember(ctx context.Context, r gen.PutDepartmentMemberRequestObject) (gen.PutDepartmentMemberResponseObject, error) {
	c := callerOf(ctx)
	key, user, err := membershipIDs(r.DepartmentID, r.UserID)
	if err != nil {
		return nil, err
	}
	is := department.Membership{Position: department.Ordinary, Override: value(r.Body.Override)}
	if r.Body.Position != nil {
		is.Position = department.Position(*r.Body.Position)
	}
	m, pub, err := s.services.Departments.PutMember(ctx, c.Workspace, c.by(), key, user, is)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.DepartmentMemberChange{Data: departmentMemberOf(m), Publication: ref}
	if pending {
		return gen.PutDepartmentMember202JSONResponse(body), nil
	}
	return gen.PutDepartmentMember200JSONResponse(body), nil
}

// RemoveDepartmentMember implements the operation.
func (s *Server) RemoveDepartmentMember(ctx context.Context, r gen.RemoveDepartmentMemberRequestObject) (gen.RemoveDepartmentMemberResponseObject, error) {
	c := callerOf(ctx)
	key, user, err := membershipIDs(r.DepartmentID, r.UserID)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.Departments.RemoveMember(ctx, c.Workspace, c.by(), key, user)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, user.String(), pub, r.Params.Wait)
	if pending {
		return gen.RemoveDepartmentMember202JSONResponse(body), nil
	}
	return gen.RemoveDepartmentMember200JSONResponse(body), nil
}

func membershipIDs(ofDepartment, ofUser string) (key id.Department, user id.User, err error) {
	if key, err = parseID[id.DepartmentKind](ofDepartment, departmentNoun); err != nil {
		return key, user, err
	}
	user, err = parseID[id.UserKind](ofUser, "member")
	return key, user, err
}

func departmentMemberOf(m department.Member) gen.DepartmentMember {
	return gen.DepartmentMember{
		UserID: m.User.String(), Position: gen.DepartmentPosition(m.Position), Override: m.Override, AddedAt: m.AddedAt.UTC(),
	}
}
