package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
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
	done, err := rebind(ctx, s, s.services.Guardrails.AddKeys, bindings{r.GuardrailID, "key_ids", r.Body.KeyIds}, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.AddGuardrailKeys202JSONResponse{Body: done.body, Headers: gen.AddGuardrailKeys202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.AddGuardrailKeys200JSONResponse{Body: done.body, Headers: gen.AddGuardrailKeys200ResponseHeaders{ETag: done.version}}, nil
}

// RemoveGuardrailKeys implements the operation.
func (s *Server) RemoveGuardrailKeys(ctx context.Context, r gen.RemoveGuardrailKeysRequestObject) (gen.RemoveGuardrailKeysResponseObject, error) {
	done, err := rebind(ctx, s, s.services.Guardrails.RemoveKeys, bindings{r.GuardrailID, "key_ids", r.Body.KeyIds}, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.RemoveGuardrailKeys202JSONResponse{Body: done.body, Headers: gen.RemoveGuardrailKeys202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.RemoveGuardrailKeys200JSONResponse{Body: done.body, Headers: gen.RemoveGuardrailKeys200ResponseHeaders{ETag: done.version}}, nil
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
	done, err := rebind(ctx, s, s.services.Guardrails.AddMembers, bindings{r.GuardrailID, "user_ids", r.Body.UserIds}, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.AddGuardrailMembers202JSONResponse{Body: done.body, Headers: gen.AddGuardrailMembers202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.AddGuardrailMembers200JSONResponse{Body: done.body, Headers: gen.AddGuardrailMembers200ResponseHeaders{ETag: done.version}}, nil
}

// RemoveGuardrailMembers implements the operation.
func (s *Server) RemoveGuardrailMembers(ctx context.Context, r gen.RemoveGuardrailMembersRequestObject) (gen.RemoveGuardrailMembersResponseObject, error) {
	done, err := rebind(ctx, s, s.services.Guardrails.RemoveMembers, bindings{r.GuardrailID, "user_ids", r.Body.UserIds}, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case done.pending:
		return gen.RemoveGuardrailMembers202JSONResponse{Body: done.body, Headers: gen.RemoveGuardrailMembers202ResponseHeaders{ETag: done.version}}, nil
	}
	return gen.RemoveGuardrailMembers200JSONResponse{Body: done.body, Headers: gen.RemoveGuardrailMembers200ResponseHeaders{ETag: done.version}}, nil
}

// bindings are what a change of them names: ids of the field at path.
type bindings struct {
	guardrail, path string
	ids             []string
}

// rebound is a guardrail after such a change.
type rebound struct {
	body    gen.GuardrailChange
	version string
	pending bool
}

// rebind reads a change of bindings and has it made.
func rebind[K id.Kind](
	ctx context.Context, s *Server,
	change func(context.Context, id.Workspace, audit.By, guardrail.Rebinding[K]) (guardrail.Guardrail, publication.Publication, error),
	b bindings, match *gen.IfMatch, wait *gen.Wait,
) (done rebound, err error) {
	var wanted guardrail.Rebinding[K]
	if wanted.Guardrail, err = parseID[id.GuardrailKind](b.guardrail, guardrailNoun); err != nil {
		return done, err
	}
	if wanted.IDs, err = scopeIDs[K](b.path, b.ids); err != nil {
		return done, err
	}
	if wanted.IfMatch, err = ifMatch(match); err != nil {
		return done, err
	}
	c := callerOf(ctx)
	g, pub, err := change(ctx, c.Workspace, c.by(), wanted)
	if err != nil {
		return done, err
	}
	done.body, done.version, done.pending = s.guardrailChange(ctx, g, pub, wait)
	return done, nil
}
