package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ListBudgets implements the operation.
func (s *Server) ListBudgets(ctx context.Context, r gen.ListBudgetsRequestObject) (gen.ListBudgetsResponseObject, error) {
	guardrail, err := filterID[id.GuardrailKind](r.Params.GuardrailID, pathGuardrail)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Budgets.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit), budget.Filter{
		Target:   budget.Target{Guardrail: guardrail, Agent: value(r.Params.Agent)},
		Interval: policy.Interval(value(r.Params.Interval)),
	})
	if err != nil {
		return nil, err
	}
	return gen.ListBudgets200JSONResponse{Data: each(found.Items, budgetOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateBudget implements the operation.
func (s *Server) CreateBudget(ctx context.Context, r gen.CreateBudgetRequestObject) (gen.CreateBudgetResponseObject, error) {
	c := callerOf(ctx)
	guardrail, err := filterID[id.GuardrailKind](r.Body.GuardrailID, pathGuardrail)
	if err != nil {
		return nil, err
	}
	draft := budget.Draft{
		Target:   budget.Target{Guardrail: guardrail, Agent: value(r.Body.Agent)},
		Interval: policy.Interval(r.Body.Interval), Reserve: value(reserves(r.Body.Enforcement)), IncludeBYOK: value(r.Body.IncludeByok),
	}
	if draft.Limit, err = onlyAmount(pathLimit, r.Body.LimitUsd); err != nil {
		return nil, err
	}
	b, pub, err := s.services.Budgets.Create(ctx, c.Workspace, c.by(), draft)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.budgetChange(ctx, b, pub, r.Params.Wait)
	if pending {
		return gen.CreateBudget202JSONResponse{Body: body, Headers: gen.CreateBudget202ResponseHeaders{ETag: version}}, nil
	}
	return gen.CreateBudget201JSONResponse{Body: body, Headers: gen.CreateBudget201ResponseHeaders{ETag: version}}, nil
}

// GetBudget implements the operation.
func (s *Server) GetBudget(ctx context.Context, r gen.GetBudgetRequestObject) (gen.GetBudgetResponseObject, error) {
	key, err := parseID[id.BudgetKind](r.BudgetID, budgetNoun)
	if err != nil {
		return nil, err
	}
	b, err := s.services.Budgets.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetBudget200JSONResponse{
		Body: gen.BudgetOne{Data: budgetOf(b)}, Headers: gen.GetBudget200ResponseHeaders{ETag: etag(b.Version)},
	}, nil
}

// UpdateBudget implements the operation.
func (s *Server) UpdateBudget(ctx context.Context, r gen.UpdateBudgetRequestObject) (gen.UpdateBudgetResponseObject, error) {
	t, err := targetOf[id.BudgetKind](ctx, r.BudgetID, budgetNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := budget.Patch{Reserve: reserves(r.Body.Enforcement), IncludeBYOK: r.Body.IncludeByok, IfMatch: t.ifMatch}
	if r.Body.LimitUsd != nil {
		limit, err := onlyAmount(pathLimit, *r.Body.LimitUsd)
		if err != nil {
			return nil, err
		}
		patch.Limit = &limit
	}
	b, pub, err := s.services.Budgets.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.budgetChange(ctx, b, pub, r.Params.Wait)
	if pending {
		return gen.UpdateBudget202JSONResponse{Body: body, Headers: gen.UpdateBudget202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdateBudget200JSONResponse{Body: body, Headers: gen.UpdateBudget200ResponseHeaders{ETag: version}}, nil
}

// DeleteBudget implements the operation.
func (s *Server) DeleteBudget(ctx context.Context, r gen.DeleteBudgetRequestObject) (gen.DeleteBudgetResponseObject, error) {
	body, pending, err := s.deleteBudget(ctx, s.services.Budgets, r.BudgetID, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case pending:
		return gen.DeleteBudget202JSONResponse(body), nil
	}
	return gen.DeleteBudget200JSONResponse(body), nil
}

const (
	budgetNoun    = "budget"
	pathGuardrail = "guardrail_id"
	pathLimit     = "limit_usd"
)

// deleteBudget is what both kinds of budgets have in common.
func (s *Server) deleteBudget(
	ctx context.Context, from *budget.Service, text string, header *gen.IfMatch, wait *gen.Wait,
) (body gen.DeletedChange, pending bool, err error) {
	t, err := targetOf[id.BudgetKind](ctx, text, budgetNoun, header)
	if err != nil {
		return body, false, err
	}
	pub, err := from.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return body, false, err
	}
	body, pending = s.deleted(ctx, t.id.String(), pub, wait)
	return body, pending, nil
}

func (s *Server) budgetChange(ctx context.Context, b budget.Standing, pub publication.Publication, wait *gen.Wait) (gen.BudgetChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.BudgetChange{Data: budgetOf(b), Publication: ref}, etag(b.Version), pending
}

func budgetOf(b budget.Standing) gen.Budget {
	remaining := b.Remaining()
	return gen.Budget{
		ID: b.ID.String(), Interval: gen.BudgetInterval(b.Interval),
		GuardrailID: some(b.Target.Guardrail.String()), Agent: some(b.Target.Agent),
		Enforcement: enforcementOf(b.Reserve), IncludeByok: b.IncludeBYOK,
		LimitUsd: b.Limit.String(), LimitNanos: int64(b.Limit), UsageUsd: b.Spent.String(), UsageNanos: int64(b.Spent),
		RemainingUsd: remaining.String(), RemainingNanos: int64(remaining), Share: b.Share(), Exceeded: b.Exceeded(),
		WindowStart: timeOrNull(b.Window.Start), ResetAt: timeOrNull(b.Window.End), Projection: projectionOf(b.Projection),
		CreatedBy: some(b.CreatedBy.String()), CreatedAt: b.CreatedAt.UTC(), UpdatedAt: b.UpdatedAt.UTC(),
	}
}
