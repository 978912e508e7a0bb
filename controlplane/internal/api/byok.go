package api

import (
	"context"
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// ListByokCredentials implements the operation.
func (s *Server) ListByokCredentials(ctx context.Context, r gen.ListByokCredentialsRequestObject) (gen.ListByokCredentialsResponseObject, error) {
	found, err := s.services.BYOK.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit),
		byok.Filter{Provider: value(r.Params.Provider)})
	if err != nil {
		return nil, err
	}
	return gen.ListByokCredentials200JSONResponse{Data: each(found.Items, byokOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateByokCredential implements the operation.
func (s *Server) CreateByokCredential(ctx context.Context, r gen.CreateByokCredentialRequestObject) (gen.CreateByokCredentialResponseObject, error) {
	keys, err := scopeIDs[id.KeyKind]("api_keys", value(r.Body.APIKeys))
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	made, pub, err := s.services.BYOK.Create(ctx, c.Workspace, c.by(), byok.NewCredential{
		Provider: r.Body.Provider, Name: r.Body.Name, Key: secret.NewString(value(r.Body.Key)), Use: policy.CredentialUse(value(r.Body.Use)),
		Disabled: r.Body.Enabled != nil && !*r.Body.Enabled, Models: value(r.Body.Models), APIKeys: keys,
	})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ByokCredentialChange{Data: byokOf(made), Publication: ref}
	if pending {
		return gen.CreateByokCredential202JSONResponse{Body: body, Headers: gen.CreateByokCredential202ResponseHeaders{ETag: etag(made.Version)}}, nil
	}
	return gen.CreateByokCredential201JSONResponse{Body: body, Headers: gen.CreateByokCredential201ResponseHeaders{ETag: etag(made.Version)}}, nil
}

// GetByokCredential implements the operation.
func (s *Server) GetByokCredential(ctx context.Context, r gen.GetByokCredentialRequestObject) (gen.GetByokCredentialResponseObject, error) {
	credential, err := parseID[id.CredentialKind](r.CredentialID, byokNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.BYOK.Get(ctx, callerOf(ctx).Workspace, credential)
	if err != nil {
		return nil, err
	}
	return gen.GetByokCredential200JSONResponse{
		Body: gen.ByokCredentialOne{Data: byokOf(found)}, Headers: gen.GetByokCredential200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// UpdateByokCredential implements the operation.
func (s *Server) UpdateByokCredential(ctx context.Context, r gen.UpdateByokCredentialRequestObject) (gen.UpdateByokCredentialResponseObject, error) {
	t, err := targetOf[id.CredentialKind](ctx, r.CredentialID, byokNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := byok.Patch{Name: r.Body.Name, Use: (*policy.CredentialUse)(r.Body.Use), Models: r.Body.Models, IfMatch: t.ifMatch}
	if r.Body.Key != nil {
		patch.Key = pointer(secret.NewString(*r.Body.Key))
	}
	if r.Body.APIKeys != nil {
		keys, err := scopeIDs[id.KeyKind]("api_keys", *r.Body.APIKeys)
		if err != nil {
			return nil, err
		}
		patch.APIKeys = &keys
	}
	after, pub, err := s.services.BYOK.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ByokCredentialChange{Data: byokOf(after), Publication: ref}
	if pending {
		return gen.UpdateByokCredential202JSONResponse{Body: body, Headers: gen.UpdateByokCredential202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.UpdateByokCredential200JSONResponse{Body: body, Headers: gen.UpdateByokCredential200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// EnableByokCredential implements the operation.
func (s *Server) EnableByokCredential(ctx context.Context, r gen.EnableByokCredentialRequestObject) (gen.EnableByokCredentialResponseObject, error) {
	t, err := targetOf[id.CredentialKind](ctx, r.CredentialID, byokNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.BYOK.Enable(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ByokCredentialChange{Data: byokOf(after), Publication: ref}
	if pending {
		return gen.EnableByokCredential202JSONResponse{Body: body, Headers: gen.EnableByokCredential202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.EnableByokCredential200JSONResponse{Body: body, Headers: gen.EnableByokCredential200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// DisableByokCredential implements the operation.
func (s *Server) DisableByokCredential(ctx context.Context, r gen.DisableByokCredentialRequestObject) (gen.DisableByokCredentialResponseObject, error) {
	t, err := targetOf[id.CredentialKind](ctx, r.CredentialID, byokNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.BYOK.Disable(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ByokCredentialChange{Data: byokOf(after), Publication: ref}
	if pending {
		return gen.DisableByokCredential202JSONResponse{Body: body, Headers: gen.DisableByokCredential202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.DisableByokCredential200JSONResponse{Body: body, Headers: gen.DisableByokCredential200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// DeleteByokCredential implements the operation.
func (s *Server) DeleteByokCredential(ctx context.Context, r gen.DeleteByokCredentialRequestObject) (gen.DeleteByokCredentialResponseObject, error) {
	t, err := targetOf[id.CredentialKind](ctx, r.CredentialID, byokNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.BYOK.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteByokCredential202JSONResponse(body), nil
	}
	return gen.DeleteByokCredential200JSONResponse(body), nil
}

// GetByokOrder implements the operation.
func (s *Server) GetByokOrder(ctx context.Context, r gen.GetByokOrderRequestObject) (gen.GetByokOrderResponseObject, error) {
	use := policy.UsePriority
	if r.Params.Use != nil {
		use = policy.CredentialUse(*r.Params.Use)
	}
	found, err := s.services.BYOK.InOrder(ctx, callerOf(ctx).Workspace, r.Params.Provider, use)
	if err != nil {
		return nil, err
	}
	return gen.GetByokOrder200JSONResponse{
		Body:    gen.ByokOrdered{Data: each(found.Credentials, byokOf)},
		Headers: gen.GetByokOrder200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// ReorderByokCredentials implements the operation.
func (s *Server) ReorderByokCredentials(ctx context.Context, r gen.ReorderByokCredentialsRequestObject) (gen.ReorderByokCredentialsResponseObject, error) {
	credentials, err := scopeIDs[id.CredentialKind]("credentials", r.Body.Credentials)
	if err != nil {
		return nil, err
	}
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	after, pub, err := s.services.BYOK.Reorder(ctx, c.Workspace, c.by(),
		byok.Order{Provider: r.Body.Provider, Use: policy.CredentialUse(r.Body.Use), Credentials: credentials, IfMatch: match})
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.ByokOrderChange{Data: each(after.Credentials, byokOf), Publication: ref}
	if pending {
		return gen.ReorderByokCredentials202JSONResponse{Body: body, Headers: gen.ReorderByokCredentials202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.ReorderByokCredentials200JSONResponse{Body: body, Headers: gen.ReorderByokCredentials200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// VerifyByokCredential implements the operation.
func (s *Server) VerifyByokCredential(ctx context.Context, r gen.VerifyByokCredentialRequestObject) (gen.VerifyByokCredentialResponseObject, error) {
	credential, err := parseID[id.CredentialKind](r.CredentialID, byokNoun)
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	found, err := s.services.BYOK.Verify(ctx, c.Workspace, credential, c.by())
	if err != nil {
		return nil, err
	}
	return gen.VerifyByokCredential200JSONResponse{
		Body: gen.ByokCredentialOne{Data: byokOf(found)}, Headers: gen.VerifyByokCredential200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

const byokNoun = "provider key"

// scopeIDs reads the ids of a list in a body.
func scopeIDs[K id.Kind](path string, list []string) ([]id.ID[K], error) {
	var k K
	var wrong []fault.Violation
	ids := make([]id.ID[K], 0, len(list))
	for i, text := range list {
		parsed, err := id.Parse[K](text)
		if err != nil {
			wrong = append(wrong, fault.Violation{
				Path: fmt.Sprintf("%s[%d]", path, i), Code: "malformed", Message: "must be an id that begins with " + k.Prefix() + "_",
			})
		}
		ids = append(ids, parsed)
	}
	if len(wrong) > 0 {
		return nil, fault.Invalid(wrong...)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, nil
}

func byokOf(c byok.Credential) gen.ByokCredential {
	return gen.ByokCredential{
		ID: c.ID.String(), Provider: c.Provider, Name: c.Name, Prefix: c.Prefix, Suffix: c.Suffix, Use: gen.ByokUse(c.Use),
		Position: c.Position, Enabled: c.Enabled, Models: list(c.Models), APIKeys: id.Texts(c.APIKeys),
		CreatedBy: some(c.CreatedBy.String()), CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Verification: verificationOf(c.Verification),
	}
}

func verificationOf(v *byok.Verification) *gen.ByokVerification {
	if v == nil {
		return nil
	}
	shown := &gen.ByokVerification{
		Status: gen.ByokVerificationStatus(v.Status), Call: gen.ByokVerificationCall(v.Call), Model: some(v.Model),
		LatencyMs: v.Latency.Milliseconds(), CheckedAt: v.CheckedAt.UTC(),
	}
	if v.HTTPStatus != 0 {
		shown.HTTPStatus = &v.HTTPStatus
	}
	return shown
}
