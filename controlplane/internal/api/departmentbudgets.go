package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ListDepartmentBudgets implements the operation.
func (s *Server) ListDepartmentBudgets(ctx context.Context, r gen.ListDepartmentBudgetsRequestObject) (gen.ListDepartmentBudgetsResponseObject, error) {
	department, err := filterID[id.DepartmentKind](r.Params.DepartmentID, pathDepartment)
	if err != nil {
		return nil, err
	}
	found, err := s.services.DepartmentBudgets.List(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit), budget.Filter{
		Target: budget.Target{Department: department}, Interval: policy.Interval(value(r.Params.Interval)),
	})
	if err != nil {
		return nil, err
	}
	return gen.ListDepartmentBudgets200JSONResponse{Data: each(found.Items, departmentBudgetOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateDepartmentBudget implements the operation.
func (s *Server) CreateDepartmentBudget(ctx context.Context, r gen.CreateDepartmentBudgetRequestObject) (gen.CreateDepartmentBudgetResponseObject, error) {
	c := callerOf(ctx)
	department, err := filterID[id.DepartmentKind](&r.Body.DepartmentID, pathDepartment)
	if err != nil {
		return nil, err
	}
	limit, err := onlyAmount(pathLimit, r.Body.LimitUsd)
	if err != nil {
		return nil, err
	}
	b, pub, err := s.services.DepartmentBudgets.Create(ctx, c.Workspace, c.by(), budget.Draft{
		Target: budget.Target{Department: department}, Interval: policy.Interval(r.Body.Interval), Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	body, version, pending := s.departmentBudgetChange(ctx, b, pub, r.Params.Wait)
	if pending {
		return gen.CreateDepartmentBudget202JSONResponse{Body: body, Headers: gen.CreateDepartmentBudget202ResponseHeaders{ETag: version}}, nil
	}
	return gen.CreateDepartmentBudget201JSONResponse{Body: body, Headers: gen.CreateDepartmentBudget201ResponseHeaders{ETag: version}}, nil
}

// GetDepartmentBudget implements the operation.
func (s *Server) GetDepartmentBudget(ctx context.Context, r gen.GetDepartmentBudgetRequestObject) (gen.GetDepartmentBudgetResponseObject, error) {
	key, err := parseID[id.BudgetKind](r.BudgetID, budgetNoun)
	if err != nil {
		return nil, err
	}
	b, err := s.services.DepartmentBudgets.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetDepartmentBudget200JSONResponse{
		Body: gen.DepartmentBudgetOne{Data: departmentBudgetOf(b)}, Headers: gen.GetDepartmentBudget200ResponseHeaders{ETag: etag(b.Version)},
	}, nil
}

// UpdateDepartmentBudget implements the operation.
func (s *Server) UpdateDepartmentBudget(ctx context.Context, r gen.UpdateDepartmentBudgetRequestObject) (gen.UpdateDepartmentBudgetResponseObject, error) {
	t, err := targetOf[id.BudgetKind](ctx, r.BudgetID, budgetNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	limit, err := onlyAmount(pathLimit, r.Body.LimitUsd)
	if err != nil {
		return nil, err
	}
	b, pub, err := s.services.DepartmentBudgets.Update(ctx, t.Workspace, t.id, t.by(), budget.Patch{Limit: &limit, IfMatch: t.ifMatch})
	if err != nil {
		return nil, err
	}
	body, version, pending := s.departmentBudgetChange(ctx, b, pub, r.Params.Wait)
	if pending {
		return gen.UpdateDepartmentBudget202JSONResponse{Body: body, Headers: gen.UpdateDepartmentBudget202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdateDepartmentBudget200JSONResponse{Body: body, Headers: gen.UpdateDepartmentBudget200ResponseHeaders{ETag: version}}, nil
}

// DeleteDepartmentBudget implements the operation.
func (s *Server) DeleteDepartmentBudget(ctx context.Context, r gen.DeleteDepartmentBudgetRequestObject) (gen.DeleteDepartmentBudgetResponseObject, error) {
	body, pending, err := s.deleteBudget(ctx, s.services.DepartmentBudgets, r.BudgetID, r.Params.IfMatch, r.Params.Wait)
	switch {
	case err != nil:
		return nil, err
	case pending:
		return gen.DeleteDepartmentBudget202JSONResponse(body), nil
	}
	return gen.DeleteDepartmentBudget200JSONResponse(body), nil
}

func (s *Server) departmentBudgetChange(
	ctx context.Context, b budget.Standing, pub publication.Publication, wait *gen.Wait,
) (gen.DepartmentBudgetChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.DepartmentBudgetChange{Data: departmentBudgetOf(b), Publication: ref}, etag(b.Version), pending
}

func departmentBudgetOf(b budget.Standing) gen.DepartmentBudget {
	out := budgetOf(b)
	return gen.DepartmentBudget{
		ID: out.ID, Interval: gen.DepartmentBudgetInterval(b.Interval), DepartmentID: b.Target.Department.String(),
		LimitUsd: out.LimitUsd, LimitNanos: out.LimitNanos, UsageUsd: out.UsageUsd, UsageNanos: out.UsageNanos,
		RemainingUsd: out.RemainingUsd, RemainingNanos: out.RemainingNanos, Share: out.Share, Exceeded: out.Exceeded,
		WindowStart: b.Window.Start, ResetAt: b.Window.End, Projection: out.Projection,
		CreatedBy: out.CreatedBy, CreatedAt: out.CreatedAt, UpdatedAt: out.UpdatedAt,
	}
}
