package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// GetPlatformWorkspaceTags implements the operation.
func (s *Server) GetPlatformWorkspaceTags(ctx context.Context, r gen.GetPlatformWorkspaceTagsRequestObject) (gen.GetPlatformWorkspaceTagsResponseObject, error) {
	ws, err := parseID[id.WorkspaceKind](r.WorkspaceID, workspaceNoun)
	if err != nil {
		return nil, err
	}
	w, err := s.services.Workspaces.Get(ctx, ws)
	if err != nil {
		return nil, err
	}
	return gen.GetPlatformWorkspaceTags200JSONResponse{
		Body:    gen.WorkspaceTagsOne{Data: tagsOf(w)},
		Headers: gen.GetPlatformWorkspaceTags200ResponseHeaders{ETag: etag(w.Version)},
	}, nil
}

// SetPlatformWorkspaceTags implements the operation.
func (s *Server) SetPlatformWorkspaceTags(ctx context.Context, r gen.SetPlatformWorkspaceTagsRequestObject) (gen.SetPlatformWorkspaceTagsResponseObject, error) {
	t, err := targetOf[id.WorkspaceKind](ctx, r.WorkspaceID, workspaceNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.Workspaces.Update(ctx, t.id, t.by(), workspace.Patch{Tags: &r.Body.Tags}, t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.WorkspaceTagsChange{Data: tagsOf(after), Publication: ref}
	if pending {
		return gen.SetPlatformWorkspaceTags202JSONResponse{Body: body, Headers: gen.SetPlatformWorkspaceTags202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.SetPlatformWorkspaceTags200JSONResponse{Body: body, Headers: gen.SetPlatformWorkspaceTags200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

func tagsOf(w workspace.Workspace) gen.WorkspaceTags {
	return gen.WorkspaceTags{WorkspaceID: w.ID.String(), Name: w.Name, Tags: list(w.Tags)}
}
