package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// GetSpend implements the operation.
func (s *Server) GetSpend(ctx context.Context, r gen.GetSpendRequestObject) (gen.GetSpendResponseObject, error) {
	account, lifetime, err := s.spender(ctx, r.Params)
	if err != nil {
		return nil, err
	}
	report, err := s.services.Spending.Of(ctx, callerOf(ctx).Workspace, account, lifetime)
	if err != nil {
		return nil, err
	}
	return gen.GetSpend200JSONResponse{Data: gen.Spend{
		Windows: each(report.Windows, spendWindowOf), Days: each(report.Days, spendDayOf),
	}}, nil
}

// spender is the account that is asked for, and whether its lifetime is counted.
// What is not of the caller's workspace is not there.
func (s *Server) spender(ctx context.Context, p gen.GetSpendParams) (account wire.Account, lifetime bool, err error) {
	if err := atMostOne(p); err != nil {
		return "", false, err
	}
	ws := callerOf(ctx).Workspace
	switch {
	case p.KeyID != nil:
		key, err := filterID[id.KeyKind](p.KeyID, "key_id")
		if err == nil {
			_, err = s.services.Keys.Get(ctx, ws, key)
		}
		return wire.KeyAccount(key), false, err
	case p.DepartmentID != nil:
		department, err := filterID[id.DepartmentKind](p.DepartmentID, pathDepartment)
		if err == nil {
			_, err = s.services.Departments.Get(ctx, ws, department)
		}
		return wire.DepartmentAccount(department), false, err
	case p.GuardrailID != nil:
		guardrail, err := filterID[id.GuardrailKind](p.GuardrailID, pathGuardrail)
		if err == nil {
			_, _, err = s.services.Guardrails.Get(ctx, ws, guardrail)
		}
		return wire.GuardrailAccount(guardrail), true, err
	case p.Agent != nil:
		var v rule.Violations
		v.Agent("agent", *p.Agent)
		return wire.AgentAccount(*p.Agent), true, v.Err()
	}
	return wire.AccountWorkspace, true, nil
}

// atMostOne refuses to report on two things in one.
func atMostOne(p gen.GetSpendParams) error {
	var v rule.Violations
	given := ""
	for _, one := range []struct {
		path  string
		given bool
	}{{"key_id", p.KeyID != nil}, {pathDepartment, p.DepartmentID != nil}, {pathGuardrail, p.GuardrailID != nil}, {"agent", p.Agent != nil}} {
		switch {
		case one.given && given != "":
			v.Add(one.path, rule.NotAllowed, "excludes "+given)
		case one.given:
			given = one.path
		}
	}
	return v.Err()
}

func spendWindowOf(w spending.WindowSpend) gen.SpendWindow {
	return gen.SpendWindow{
		Interval: gen.BudgetInterval(w.Interval), WindowStart: timeOrNull(w.Window.Start), ResetAt: timeOrNull(w.Window.End),
		Requests: w.Requests, CostUsd: w.Cost.String(), CostNanos: int64(w.Cost), ByokCostUsd: w.BYOK.String(), ByokCostNanos: int64(w.BYOK),
		Projection: projectionOf(w.Projection),
	}
}

func spendDayOf(d spending.Day) gen.SpendDay {
	return gen.SpendDay{
		Start: d.Start.UTC(), Requests: d.Requests,
		CostUsd: d.Cost.String(), CostNanos: int64(d.Cost), ByokCostUsd: d.BYOK.String(), ByokCostNanos: int64(d.BYOK),
	}
}
