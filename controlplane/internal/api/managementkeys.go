package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// ListManagementKeys implements the operation.
func (s *Server) ListManagementKeys(ctx context.Context, r gen.ListManagementKeysRequestObject) (gen.ListManagementKeysResponseObject, error) {
	found, err := s.services.ManagementKeys.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListManagementKeys200JSONResponse{
		Data: each(found.Items, s.managementKeyOf), NextCursor: nextCursor(found.Next),
	}, nil
}

// CreateManagementKey implements the operation.
func (s *Server) CreateManagementKey(ctx context.Context, r gen.CreateManagementKeyRequestObject) (gen.CreateManagementKeyResponseObject, error) {
	c := callerOf(ctx)
	k, plaintext, pub, err := s.services.ManagementKeys.Create(ctx, c.Workspace, c.by(), managementkey.NewKey{
		Name:      r.Body.Name,
		Template:  managementkey.Template(value(r.Body.Template)),
		Scopes:    value(r.Body.Scopes),
		ExpiresAt: r.Body.ExpiresAt,
	}, c.Scopes)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedManagementKeyChange{Data: s.issuedManagementKeyOf(k, plaintext), Publication: ref}
	if pending {
		return gen.CreateManagementKey202JSONResponse{
			Body: body, Headers: gen.CreateManagementKey202ResponseHeaders{ETag: etag(k.Version)},
		}, nil
	}
	return gen.CreateManagementKey201JSONResponse{
		Body: body, Headers: gen.CreateManagementKey201ResponseHeaders{ETag: etag(k.Version)},
	}, nil
}

// GetManagementKey implements the operation.
func (s *Server) GetManagementKey(ctx context.Context, r gen.GetManagementKeyRequestObject) (gen.GetManagementKeyResponseObject, error) {
	key, err := parseID[id.ManagementKeyKind](r.ManagementKeyID, managementKeyNoun)
	if err != nil {
		return nil, err
	}
	k, err := s.services.ManagementKeys.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetManagementKey200JSONResponse{
		Body:    gen.ManagementKeyOne{Data: s.managementKeyOf(k)},
		Headers: gen.GetManagementKey200ResponseHeaders{ETag: etag(k.Version)},
	}, nil
}

// RevokeManagementKey implements the operation.
func (s *Server) RevokeManagementKey(ctx context.Context, r gen.RevokeManagementKeyRequestObject) (gen.RevokeManagementKeyResponseObject, error) {
	t, err := targetOf[id.ManagementKeyKind](ctx, r.ManagementKeyID, managementKeyNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, pub, err := s.services.ManagementKeys.Revoke(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ManagementKeyChange{Data: s.managementKeyOf(k), Publication: ref}
	if pending {
		return gen.RevokeManagementKey202JSONResponse{
			Body: body, Headers: gen.RevokeManagementKey202ResponseHeaders{ETag: etag(k.Version)},
		}, nil
	}
	return gen.RevokeManagementKey200JSONResponse{
		Body: body, Headers: gen.RevokeManagementKey200ResponseHeaders{ETag: etag(k.Version)},
	}, nil
}

// RotateManagementKey implements the operation.
func (s *Server) RotateManagementKey(ctx context.Context, r gen.RotateManagementKeyRequestObject) (gen.RotateManagementKeyResponseObject, error) {
	t, err := targetOf[id.ManagementKeyKind](ctx, r.ManagementKeyID, managementKeyNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, plaintext, pub, err := s.services.ManagementKeys.Rotate(ctx, t.Workspace, t.id, t.by(),
		credential.Rotation{Grace: grace(r.Body), IfMatch: t.ifMatch}, t.Scopes)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedManagementKeyChange{Data: s.issuedManagementKeyOf(k, plaintext), Publication: ref}
	if pending {
		return gen.RotateManagementKey202JSONResponse{
			Body: body, Headers: gen.RotateManagementKey202ResponseHeaders{ETag: etag(k.Version)},
		}, nil
	}
	return gen.RotateManagementKey200JSONResponse{
		Body: body, Headers: gen.RotateManagementKey200ResponseHeaders{ETag: etag(k.Version)},
	}, nil
}

const managementKeyNoun = "management key"

func (s *Server) managementKeyOf(k managementkey.Key) gen.ManagementKey {
	return gen.ManagementKey{
		ID: k.ID.String(), Kid: k.KID, Name: k.Name, Suffix: k.Suffix,
		Status: gen.KeyStatus(k.Effective(s.now())), CreatedBy: some(k.CreatedBy.String()),
		Template: some(gen.ManagementKeyTemplate(k.Template)), Scopes: list(k.Scopes),
		ExpiresAt: utc(k.ExpiresAt), PreviousSecretUntil: utc(k.PreviousUntil), LastUsedAt: utc(k.LastUsedAt),
		CreatedAt: k.CreatedAt.UTC(), UpdatedAt: k.UpdatedAt.UTC(),
	}
}

func (s *Server) issuedManagementKeyOf(key managementkey.Key, plaintext secret.String) gen.IssuedManagementKey {
	k := s.managementKeyOf(key)
	return gen.IssuedManagementKey{
		ID: k.ID, Kid: k.Kid, Name: k.Name, Suffix: k.Suffix, Status: k.Status, CreatedBy: k.CreatedBy,
		Template: k.Template, Scopes: k.Scopes,
		ExpiresAt: k.ExpiresAt, PreviousSecretUntil: k.PreviousSecretUntil, LastUsedAt: k.LastUsedAt,
		CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
		Key: pointer(plaintext.Reveal()),
	}
}
