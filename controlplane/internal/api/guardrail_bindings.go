package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListGuardrailKeys implements the operation.
func (s *Server) ListGuardrailKeys(ctx context.Context, r gen.ListGuardrailKeysRequestObject) (gen.ListGuardrailKeysResponseObject, error) {
	key, err := parseID[id.GuardrailKind](r.GuardrailID, guardrailNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Guardrails.Keys(ctx, callerOf(ctx).Workspace, key, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListGuardrailKeys200JSONResponse{
		Data: each(found.Items, func(b guardrail.Binding[id.KeyKind]) gen.GuardrailKey {
			return gen.GuardrailKey{KeyID: b.ID.String(), AddedAt: b.AddedAt}
		}),
		NextCursor: nextCursor(found.Next),
	}, nil
}

// AddGuardrailKeys implements the operation.
func (s *Server) AddGuardrailKeys(ctx context.Context, r gen.AddGuardrailKeysRequestObject) (gen.AddGuardrailKeysResponseObject, error) {
	c := callerOf(ctx)
	wanted, err := rebindingOf[id.KeyKind](r.GuardrailID, "key_ids", r.Body.KeyIds, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	g, pub, err := s.services.Guardrails.AddKeys(ctx, c.Workspace, c.by(), wanted)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.AddGuardrailKeys202JSONResponse{Body: body, Headers: gen.AddGuardrailKeys202ResponseHeaders{ETag: version}}, nil
	}
	return gen.AddGuardrailKeys200JSONResponse{Body: body, Headers: gen.AddGuardrailKeys200ResponseHeaders{ETag: version}}, nil
}

// RemoveGuardrailKeys implements the operation.
func (s *Server) RemoveGuardrailKeys(ctx context.Context, r gen.RemoveGuardrailKeysRequestObject) (gen.RemoveGuardrailKeysResponseObject, error) {
	c := callerOf(ctx)
	wanted, err := rebindingOf[id.KeyKind](r.GuardrailID, "key_ids", r.Body.KeyIds, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	g, pub, err := s.services.Guardrails.RemoveKeys(ctx, c.Workspace, c.by(), wanted)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.RemoveGuardrailKeys202JSONResponse{Body: body, Headers: gen.RemoveGuardrailKeys202ResponseHeaders{ETag: version}}, nil
	}
	return gen.RemoveGuardrailKeys200JSONResponse{Body: body, Headers: gen.RemoveGuardrailKeys200ResponseHeaders{ETag: version}}, nil
}

// ListGuardrailMembers implements the operation.
func (s *Server) ListGuardrailMembers(ctx context.Context, r gen.ListGuardrailMembersRequestObject) (gen.ListGuardrailMembersResponseObject, error) {
	key, err := parseID[id.GuardrailKind](r.GuardrailID, guardrailNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Guardrails.Members(ctx, callerOf(ctx).Workspace, key, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListGuardrailMembers200JSONResponse{
		Data: each(found.Items, func(b guardrail.Binding[id.UserKind]) gen.GuardrailMember {
			return gen.GuardrailMember{UserID: b.ID.String(), AddedAt: b.AddedAt}
		}),
		NextCursor: nextCursor(found.Next),
	}, nil
}

// AddGuardrailMembers implements the operation.
func (s *Server) AddGuardrailMembers(ctx context.Context, r gen.AddGuardrailMembersRequestObject) (gen.AddGuardrailMembersResponseObject, error) {
	c := callerOf(ctx)
	wanted, err := rebindingOf[id.UserKind](r.GuardrailID, "user_ids", r.Body.UserIds, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	g, pub, err := s.services.Guardrails.AddMembers(ctx, c.Workspace, c.by(), wanted)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.AddGuardrailMembers202JSONResponse{Body: body, Headers: gen.AddGuardrailMembers202ResponseHeaders{ETag: version}}, nil
	}
	return gen.AddGuardrailMembers200JSONResponse{Body: body, Headers: gen.AddGuardrailMembers200ResponseHeaders{ETag: version}}, nil
}

// RemoveGuardrailMembers implements the operation.
func (s *Server) RemoveGuardrailMembers(ctx context.Context, r gen.RemoveGuardrailMembersRequestObject) (gen.RemoveGuardrailMembersResponseObject, error) {
	c := callerOf(ctx)
	wanted, err := rebindingOf[id.UserKind](r.GuardrailID, "user_ids", r.Body.UserIds, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	g, pub, err := s.services.Guardrails.RemoveMembers(ctx, c.Workspace, c.by(), wanted)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.RemoveGuardrailMembers202JSONResponse{Body: body, Headers: gen.RemoveGuardrailMembers202ResponseHeaders{ETag: version}}, nil
	}
	return gen.RemoveGuardrailMembers200JSONResponse{Body: body, Headers: gen.RemoveGuardrailMembers200ResponseHeaders{ETag: version}}, nil
}

// rebindingOf reads what a change of bindings names.
func rebindingOf[K id.Kind](key, path string, ids []string, match *gen.IfMatch) (r guardrail.Rebinding[K], err error) {
	if r.Guardrail, err = parseID[id.GuardrailKind](key, guardrailNoun); err != nil {
		return r, err
	}
	if r.IDs, err = scopeIDs[K](path, ids); err != nil {
		return r, err
	}
	r.IfMatch, err = ifMatch(match)
	return r, err
}
