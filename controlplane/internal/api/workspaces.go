package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListWorkspaces implements the operation. A management key sees its own.
func (s *Server) ListWorkspaces(ctx context.Context, r gen.ListWorkspacesRequestObject) (gen.ListWorkspacesResponseObject, error) {
	if _, err := paging(ctx, r.Params.Cursor, r.Params.Limit).After(); err != nil {
		return nil, err
	}
	w, err := s.services.Workspaces.Get(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.ListWorkspaces200JSONResponse{Data: []gen.Workspace{workspaceOf(w)}, NextCursor: nextCursor("")}, nil
}

// GetWorkspace implements the operation.
func (s *Server) GetWorkspace(ctx context.Context, r gen.GetWorkspaceRequestObject) (gen.GetWorkspaceResponseObject, error) {
	ws, err := ownWorkspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	w, err := s.services.Workspaces.Get(ctx, ws)
	if err != nil {
		return nil, err
	}
	return gen.GetWorkspace200JSONResponse{
		Body: gen.WorkspaceOne{Data: workspaceOf(w)}, Headers: gen.GetWorkspace200ResponseHeaders{ETag: etag(w.Version)},
	}, nil
}

// UpdateWorkspace implements the operation.
func (s *Server) UpdateWorkspace(ctx context.Context, r gen.UpdateWorkspaceRequestObject) (gen.UpdateWorkspaceResponseObject, error) {
	ws, err := ownWorkspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	w, pub, err := s.services.Workspaces.Update(ctx, ws, callerOf(ctx).by(), workspace.Patch{Name: r.Body.Name}, match)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.WorkspaceChange{Data: workspaceOf(w), Publication: ref}
	if pending {
		return gen.UpdateWorkspace202JSONResponse{Body: body, Headers: gen.UpdateWorkspace202ResponseHeaders{ETag: etag(w.Version)}}, nil
	}
	return gen.UpdateWorkspace200JSONResponse{Body: body, Headers: gen.UpdateWorkspace200ResponseHeaders{ETag: etag(w.Version)}}, nil
}

// DeleteWorkspace implements the operation.
func (s *Server) DeleteWorkspace(ctx context.Context, r gen.DeleteWorkspaceRequestObject) (gen.DeleteWorkspaceResponseObject, error) {
	ws, err := ownWorkspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	w, pub, err := s.services.Workspaces.Delete(ctx, ws, callerOf(ctx).by(),
		workspace.Deletion{ConfirmName: r.Params.ConfirmName, IfMatch: match})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	data := gen.Deleted{ID: w.ID.String(), Deleted: true}
	if pending {
		return gen.DeleteWorkspace202JSONResponse{Data: data, Publication: ref}, nil
	}
	return gen.DeleteWorkspace200JSONResponse{Data: data, Publication: ref}, nil
}

// ListMembers implements the operation.
func (s *Server) ListMembers(ctx context.Context, r gen.ListMembersRequestObject) (gen.ListMembersResponseObject, error) {
	ws, err := ownWorkspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Workspaces.Members(ctx, ws, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListMembers200JSONResponse{Data: each(found.Items, memberOf), NextCursor: nextCursor(found.Next)}, nil
}

// GetMember implements the operation.
func (s *Server) GetMember(ctx context.Context, r gen.GetMemberRequestObject) (gen.GetMemberResponseObject, error) {
	ws, err := ownWorkspace(ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	user, err := parseID[id.UserKind](r.UserID, "member")
	if err != nil {
		return nil, err
	}
	m, err := s.services.Workspaces.Member(ctx, ws, user)
	if err != nil {
		return nil, err
	}
	return gen.GetMember200JSONResponse{Data: memberOf(m)}, nil
}

// ownWorkspace reads a workspace of a path; any but the caller's own does not
// exist for them.
func ownWorkspace(ctx context.Context, text string) (id.Workspace, error) {
	ws, err := id.Parse[id.WorkspaceKind](text)
	if err != nil || ws != callerOf(ctx).Workspace {
		return id.Workspace{}, fault.New(fault.NotFound, "There is no such workspace.")
	}
	return ws, nil
}

func workspaceOf(w workspace.Workspace) gen.Workspace {
	return gen.Workspace{
		ID: w.ID.String(), Name: w.Name, Slug: w.Slug, Status: gen.WorkspaceStatus(w.Status), Tags: list(w.Tags),
		CreatedAt: w.CreatedAt.UTC(), UpdatedAt: w.UpdatedAt.UTC(),
	}
}

func memberOf(m workspace.Member) gen.Member {
	return gen.Member{
		UserID: m.User.String(), Email: m.Email, Name: m.Name, Role: gen.Role(m.Role), CreatedAt: m.CreatedAt.UTC(),
	}
}
