package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ListGuardrails implements the operation.
func (s *Server) ListGuardrails(ctx context.Context, r gen.ListGuardrailsRequestObject) (gen.ListGuardrailsResponseObject, error) {
	found, err := s.services.Guardrails.List(ctx, callerOf(ctx).Workspace,
		paging(ctx, r.Params.Cursor, r.Params.Limit), guardrail.Filter{Name: value(r.Params.Name)})
	if err != nil {
		return nil, err
	}
	return gen.ListGuardrails200JSONResponse{Data: each(found.Items, guardrailOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateGuardrail implements the operation.
func (s *Server) CreateGuardrail(ctx context.Context, r gen.CreateGuardrailRequestObject) (gen.CreateGuardrailResponseObject, error) {
	c := callerOf(ctx)
	data := value(dataPolicyFrom(r.Body.DataPolicy))
	g, pub, err := s.services.Guardrails.Create(ctx, c.Workspace, c.by(), guardrail.Draft{
		Name: r.Body.Name, Description: value(r.Body.Description), Enabled: r.Body.Enabled == nil || *r.Body.Enabled,
		WholeWorkspace: value(r.Body.WholeWorkspace),
		Rules: policy.GuardrailRules{
			Models: value(modelListsFrom(r.Body.Models)), Providers: value(providerListsFrom(r.Body.Providers)),
			RequireZDR: data.RequireZDR, DenyTraining: data.DenyTraining,
		},
	})
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.CreateGuardrail202JSONResponse{Body: body, Headers: gen.CreateGuardrail202ResponseHeaders{ETag: version}}, nil
	}
	return gen.CreateGuardrail201JSONResponse{Body: body, Headers: gen.CreateGuardrail201ResponseHeaders{ETag: version}}, nil
}

// GetGuardrail implements the operation.
func (s *Server) GetGuardrail(ctx context.Context, r gen.GetGuardrailRequestObject) (gen.GetGuardrailResponseObject, error) {
	key, err := parseID[id.GuardrailKind](r.GuardrailID, guardrailNoun)
	if err != nil {
		return nil, err
	}
	g, b, err := s.services.Guardrails.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	found := guardrailOf(g)
	return gen.GetGuardrail200JSONResponse{
		Body: gen.GuardrailOne{Data: gen.GuardrailDetail{
			ID: found.ID, Name: found.Name, Description: found.Description, Enabled: found.Enabled, WholeWorkspace: found.WholeWorkspace,
			Models: found.Models, Providers: found.Providers, DataPolicy: found.DataPolicy, CreatedAt: found.CreatedAt, UpdatedAt: found.UpdatedAt,
			Bindings: gen.GuardrailBindings{Keys: each(b.Keys, id.Key.String), Members: each(b.Members, id.User.String), More: b.More},
		}},
		Headers: gen.GetGuardrail200ResponseHeaders{ETag: etag(g.Version)},
	}, nil
}

// UpdateGuardrail implements the operation.
func (s *Server) UpdateGuardrail(ctx context.Context, r gen.UpdateGuardrailRequestObject) (gen.UpdateGuardrailResponseObject, error) {
	t, err := targetOf[id.GuardrailKind](ctx, r.GuardrailID, guardrailNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := guardrail.Patch{
		Name: r.Body.Name, Description: r.Body.Description, Enabled: r.Body.Enabled, WholeWorkspace: r.Body.WholeWorkspace,
		Models: modelListsFrom(r.Body.Models), Providers: providerListsFrom(r.Body.Providers), Data: dataPolicyFrom(r.Body.DataPolicy), IfMatch: t.ifMatch,
	}
	g, pub, err := s.services.Guardrails.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.guardrailChange(ctx, g, pub, r.Params.Wait)
	if pending {
		return gen.UpdateGuardrail202JSONResponse{Body: body, Headers: gen.UpdateGuardrail202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdateGuardrail200JSONResponse{Body: body, Headers: gen.UpdateGuardrail200ResponseHeaders{ETag: version}}, nil
}

// DeleteGuardrail implements the operation.
func (s *Server) DeleteGuardrail(ctx context.Context, r gen.DeleteGuardrailRequestObject) (gen.DeleteGuardrailResponseObject, error) {
	t, err := targetOf[id.GuardrailKind](ctx, r.GuardrailID, guardrailNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.Guardrails.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteGuardrail202JSONResponse(body), nil
	}
	return gen.DeleteGuardrail200JSONResponse(body), nil
}

const guardrailNoun = "guardrail"

func (s *Server) guardrailChange(ctx context.Context, g guardrail.Guardrail, pub publication.Publication, wait *gen.Wait) (gen.GuardrailChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.GuardrailChange{Data: guardrailOf(g), Publication: ref}, etag(g.Version), pending
}

func guardrailOf(g guardrail.Guardrail) gen.Guardrail {
	out := gen.Guardrail{
		ID: g.ID.String(), Name: g.Name, Description: g.Description, Enabled: g.Enabled, WholeWorkspace: g.WholeWorkspace,
		DataPolicy: gen.GuardrailDataPolicy{RequireZeroDataRetention: pointer(g.Rules.RequireZDR), DenyTraining: pointer(g.Rules.DenyTraining)},
		CreatedAt:  g.CreatedAt.UTC(), UpdatedAt: g.UpdatedAt.UTC(),
	}
	out.Models.Allow, out.Models.Block = pointer(list(g.Rules.Models.Allow)), pointer(list(g.Rules.Models.Block))
	out.Providers.Allow, out.Providers.Block = pointer(list(g.Rules.Providers.Allow)), pointer(list(g.Rules.Providers.Block))
	return out
}

func modelListsFrom(l *gen.GuardrailModels) *policy.Lists {
	if l == nil {
		return nil
	}
	return &policy.Lists{Allow: value(l.Allow), Block: value(l.Block)}
}

func providerListsFrom(l *gen.GuardrailProviders) *policy.Lists {
	if l == nil {
		return nil
	}
	return &policy.Lists{Allow: value(l.Allow), Block: value(l.Block)}
}

func dataPolicyFrom(d *gen.GuardrailDataPolicy) *guardrail.DataPolicy {
	if d == nil {
		return nil
	}
	return &guardrail.DataPolicy{RequireZDR: value(d.RequireZeroDataRetention), DenyTraining: value(d.DenyTraining)}
}
