package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

const (
	workspaceNoun = "workspace"
	// firstKeyName is the name of the management key that comes with a workspace.
	firstKeyName = "first key"
)

// ListPlatformWorkspaces implements the operation.
func (s *Server) ListPlatformWorkspaces(ctx context.Context, r gen.ListPlatformWorkspacesRequestObject) (gen.ListPlatformWorkspacesResponseObject, error) {
	found, err := s.services.Workspaces.ListAll(ctx, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListPlatformWorkspaces200JSONResponse{Data: each(found.Items, workspaceOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreatePlatformWorkspace implements the operation. The management key is made
// in the workspace's own transaction: a workspace that nobody could manage
// would be of no use.
func (s *Server) CreatePlatformWorkspace(ctx context.Context, r gen.CreatePlatformWorkspaceRequestObject) (gen.CreatePlatformWorkspaceResponseObject, error) {
	by := callerOf(ctx).by()
	var key managementkey.Key
	var plaintext secret.String
	var pub publication.Publication
	created, _, err := s.services.Workspaces.Create(ctx, by, workspace.NewWorkspace{
		Name:  r.Body.Name,
		Slug:  value(r.Body.Slug),
		Owner: workspace.NewOwner{Email: r.Body.Owner.Email, Name: value(r.Body.Owner.Name)},
	}, func(ctx context.Context, c workspace.Created) (err error) {
		key, plaintext, pub, err = s.services.ManagementKeys.Create(ctx, c.Workspace.ID, by, managementkey.NewKey{
			Name: firstKeyName, Template: managementkey.FullControl, Owner: c.Owner.User,
		}, managementkey.Scopes())
		return err
	})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.CreatedWorkspaceChange{
		Data: gen.CreatedWorkspace{
			Workspace: workspaceOf(created.Workspace), Owner: memberOf(created.Owner),
			ManagementKey: s.issuedManagementKeyOf(key, plaintext),
		},
		Publication: ref,
	}
	tag := etag(created.Workspace.Version)
	if pending {
		return gen.CreatePlatformWorkspace202JSONResponse{Body: body, Headers: gen.CreatePlatformWorkspace202ResponseHeaders{ETag: tag}}, nil
	}
	return gen.CreatePlatformWorkspace201JSONResponse{Body: body, Headers: gen.CreatePlatformWorkspace201ResponseHeaders{ETag: tag}}, nil
}
