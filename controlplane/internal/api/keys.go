package api

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/credential"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// ListKeys implements the operation.
func (s *Server) ListKeys(ctx context.Context, r gen.ListKeysRequestObject) (gen.ListKeysResponseObject, error) {
	filter := apikey.Filter{Status: policy.KeyStatus(value(r.Params.Status))}
	found, err := s.services.Keys.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit), filter)
	if err != nil {
		return nil, err
	}
	data, err := s.keysWithUsage(ctx, found.Items...)
	if err != nil {
		return nil, err
	}
	return gen.ListKeys200JSONResponse{Data: data, NextCursor: nextCursor(found.Next)}, nil
}

// CreateKey implements the operation.
func (s *Server) CreateKey(ctx context.Context, r gen.CreateKeyRequestObject) (gen.CreateKeyResponseObject, error) {
	c := callerOf(ctx)
	profile, err := filterID[id.ProfileKind](r.Body.RoutingProfileID, pathProfile)
	if err != nil {
		return nil, err
	}
	department, err := filterID[id.DepartmentKind](r.Body.DepartmentID, pathDepartment)
	if err != nil {
		return nil, err
	}
	limits, err := keyPolicy{r.Body.Limits, r.Body.Enforcement, r.Body.IncludeByokInLimit, r.Body.SoftBlocked}.patch()
	if err != nil {
		return nil, err
	}
	if err := c.mayBind(r.Body.RoutingProfileID != nil || r.Body.DepartmentID != nil); err != nil {
		return nil, err
	}
	if err := c.mayLimit(limits != nil || r.Body.Agent != nil); err != nil {
		return nil, err
	}
	k, plaintext, pub, err := s.services.Keys.Create(ctx, c.Workspace, c.by(), apikey.NewKey{
		Name:       r.Body.Name,
		ExpiresAt:  r.Body.ExpiresAt,
		Models:     value(r.Body.Models),
		Surfaces:   texts[gen.Surface, catalog.Surface](value(r.Body.Surfaces)),
		Profile:    profile,
		Department: department,
		Limits:     value(limits).New(),
		Agent:      value(r.Body.Agent),
	})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedKeyChange{Data: s.issuedKeyOf(k, plaintext), Publication: ref}
	if pending {
		return gen.CreateKey202JSONResponse{Body: body, Headers: gen.CreateKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.CreateKey201JSONResponse{Body: body, Headers: gen.CreateKey201ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// GetKey implements the operation.
func (s *Server) GetKey(ctx context.Context, r gen.GetKeyRequestObject) (gen.GetKeyResponseObject, error) {
	key, err := parseID[id.KeyKind](r.KeyID, "API key")
	if err != nil {
		return nil, err
	}
	k, err := s.services.Keys.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	data, err := s.keysWithUsage(ctx, k)
	if err != nil {
		return nil, err
	}
	return gen.GetKey200JSONResponse{
		Body: gen.KeyOne{Data: data[0]}, Headers: gen.GetKey200ResponseHeaders{ETag: etag(k.Version)},
	}, nil
}

// UpdateKey implements the operation.
func (s *Server) UpdateKey(ctx context.Context, r gen.UpdateKeyRequestObject) (gen.UpdateKeyResponseObject, error) {
	t, err := s.keyTarget(ctx, r.KeyID, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := apikey.Patch{Name: r.Body.Name, Models: r.Body.Models, IfMatch: t.ifMatch}
	if patch.Profile, err = patchID[id.ProfileKind](r.Body.RoutingProfileID, pathProfile); err != nil {
		return nil, err
	}
	if patch.Department, err = patchID[id.DepartmentKind](r.Body.DepartmentID, pathDepartment); err != nil {
		return nil, err
	}
	if err := t.mayBind(patch.Profile != nil || patch.Department != nil); err != nil {
		return nil, err
	}
	if err := setLimits(&patch, r.Body); err != nil {
		return nil, err
	}
	if err := t.mayLimit(patch.Limits != nil || patch.Agent != nil); err != nil {
		return nil, err
	}
	if r.Body.ExpiresAt.IsSpecified() {
		patch.SetExpiry = true
		if at, err := r.Body.ExpiresAt.Get(); err == nil {
			patch.ExpiresAt = &at
		}
	}
	if r.Body.Surfaces != nil {
		patch.Surfaces = pointer(texts[gen.Surface, catalog.Surface](*r.Body.Surfaces))
	}
	k, pub, err := s.services.Keys.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.KeyChange{Data: s.keyOf(k), Publication: ref}
	if pending {
		return gen.UpdateKey202JSONResponse{Body: body, Headers: gen.UpdateKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.UpdateKey200JSONResponse{Body: body, Headers: gen.UpdateKey200ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// RevokeKey implements the operation.
func (s *Server) RevokeKey(ctx context.Context, r gen.RevokeKeyRequestObject) (gen.RevokeKeyResponseObject, error) {
	t, err := s.keyTarget(ctx, r.KeyID, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, pub, err := s.services.Keys.Revoke(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.KeyChange{Data: s.keyOf(k), Publication: ref}
	if pending {
		return gen.RevokeKey202JSONResponse{Body: body, Headers: gen.RevokeKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.RevokeKey200JSONResponse{Body: body, Headers: gen.RevokeKey200ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// PauseKey implements the operation.
func (s *Server) PauseKey(ctx context.Context, r gen.PauseKeyRequestObject) (gen.PauseKeyResponseObject, error) {
	t, err := s.keyTarget(ctx, r.KeyID, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, pub, err := s.services.Keys.Pause(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.KeyChange{Data: s.keyOf(k), Publication: ref}
	if pending {
		return gen.PauseKey202JSONResponse{Body: body, Headers: gen.PauseKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.PauseKey200JSONResponse{Body: body, Headers: gen.PauseKey200ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// ResumeKey implements the operation.
func (s *Server) ResumeKey(ctx context.Context, r gen.ResumeKeyRequestObject) (gen.ResumeKeyResponseObject, error) {
	t, err := s.keyTarget(ctx, r.KeyID, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, pub, err := s.services.Keys.Resume(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.KeyChange{Data: s.keyOf(k), Publication: ref}
	if pending {
		return gen.ResumeKey202JSONResponse{Body: body, Headers: gen.ResumeKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.ResumeKey200JSONResponse{Body: body, Headers: gen.ResumeKey200ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// RotateKey implements the operation.
func (s *Server) RotateKey(ctx context.Context, r gen.RotateKeyRequestObject) (gen.RotateKeyResponseObject, error) {
	t, err := s.keyTarget(ctx, r.KeyID, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	k, plaintext, pub, err := s.services.Keys.Rotate(ctx, t.Workspace, t.id, t.by(),
		credential.Rotation{Grace: grace(r.Body), IfMatch: t.ifMatch})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.IssuedKeyChange{Data: s.issuedKeyOf(k, plaintext), Publication: ref}
	if pending {
		return gen.RotateKey202JSONResponse{Body: body, Headers: gen.RotateKey202ResponseHeaders{ETag: etag(k.Version)}}, nil
	}
	return gen.RotateKey200JSONResponse{Body: body, Headers: gen.RotateKey200ResponseHeaders{ETag: etag(k.Version)}}, nil
}

// The fields of what things are bound to.
const (
	pathProfile    = "routing_profile_id"
	pathDepartment = "department_id"
)

// keyTarget reads what every change of a key has and holds callers who may
// only touch their own keys to that.
func (s *Server) keyTarget(ctx context.Context, text string, match *gen.IfMatch) (target[id.KeyKind], error) {
	t, err := targetOf[id.KeyKind](ctx, text, "API key", match)
	if err != nil || !t.grant.OwnOnly {
		return t, err
	}
	k, err := s.services.Keys.Get(ctx, t.Workspace, t.id)
	if err != nil {
		return t, err
	}
	return t, t.mayTouch(k.CreatedBy)
}

func grace(r *gen.Rotation) time.Duration {
	if r == nil {
		return 0
	}
	return time.Duration(value(r.GraceSeconds)) * time.Second
}

func (s *Server) keyOf(k apikey.Key) gen.Key {
	limits := value(k.Limits)
	return gen.Key{
		ID: k.ID.String(), Kid: k.KID, Name: k.Name, Suffix: k.Suffix,
		Status: gen.KeyStatus(k.Effective(s.now())), CreatedBy: some(k.CreatedBy.String()),
		ExpiresAt: utc(k.ExpiresAt), PreviousSecretUntil: utc(k.PreviousUntil), LastUsedAt: utc(k.LastUsedAt),
		Models: list(k.Models), Surfaces: texts[catalog.Surface, gen.Surface](k.Surfaces),
		RoutingProfileID: some(k.Profile.String()), DepartmentID: some(k.Department.String()), DynamicRouteID: some(k.Route.String()),
		Limits: keyLimitsOf(k.Limits), Enforcement: enforcementOf(limits.Reserve), IncludeByokInLimit: limits.IncludeBYOK,
		SoftBlocked: limits.SoftBlocked, Agent: some(k.Agent),
		CreatedAt: k.CreatedAt.UTC(), UpdatedAt: k.UpdatedAt.UTC(),
	}
}

// keysWithUsage are keys with what they used.
func (s *Server) keysWithUsage(ctx context.Context, keys ...apikey.Key) ([]gen.Key, error) {
	used, err := s.services.Keys.Used(ctx, callerOf(ctx).Workspace, keys...)
	if err != nil {
		return nil, err
	}
	return each(keys, func(k apikey.Key) gen.Key {
		out := s.keyOf(k)
		out.Usage = keyUsageOf(used[k.ID])
		return out
	}), nil
}

func (s *Server) issuedKeyOf(key apikey.Key, plaintext secret.String) gen.IssuedKey {
	k := s.keyOf(key)
	return gen.IssuedKey{
		ID: k.ID, Kid: k.Kid, Name: k.Name, Suffix: k.Suffix, Status: k.Status, CreatedBy: k.CreatedBy,
		ExpiresAt: k.ExpiresAt, PreviousSecretUntil: k.PreviousSecretUntil, LastUsedAt: k.LastUsedAt,
		Models: k.Models, Surfaces: k.Surfaces, RoutingProfileID: k.RoutingProfileID, DepartmentID: k.DepartmentID, DynamicRouteID: k.DynamicRouteID,
		Limits: k.Limits, Enforcement: k.Enforcement, IncludeByokInLimit: k.IncludeByokInLimit, SoftBlocked: k.SoftBlocked, Agent: k.Agent,
		CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
		Key: pointer(plaintext.Reveal()),
	}
}
