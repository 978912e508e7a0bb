package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
)

// GetBudgetAlertShares implements the operation.
func (s *Server) GetBudgetAlertShares(ctx context.Context, _ gen.GetBudgetAlertSharesRequestObject) (gen.GetBudgetAlertSharesResponseObject, error) {
	found, err := s.services.BudgetAlerts.Shares(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.GetBudgetAlertShares200JSONResponse{
		Body:    gen.BudgetAlertSharesOne{Data: gen.BudgetAlertShares{Shares: found.Percents}},
		Headers: gen.GetBudgetAlertShares200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// SetBudgetAlertShares implements the operation.
func (s *Server) SetBudgetAlertShares(ctx context.Context, r gen.SetBudgetAlertSharesRequestObject) (gen.SetBudgetAlertSharesResponseObject, error) {
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	c := callerOf(ctx)
	after, pub, err := s.services.BudgetAlerts.SetShares(ctx, c.Workspace, c.by(), r.Body.Shares, match)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.BudgetAlertSharesChange{Data: gen.BudgetAlertShares{Shares: after.Percents}, Publication: ref}
	if pending {
		return gen.SetBudgetAlertShares202JSONResponse{Body: body, Headers: gen.SetBudgetAlertShares202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.SetBudgetAlertShares200JSONResponse{Body: body, Headers: gen.SetBudgetAlertShares200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

// ListBudgetAlerts implements the operation.
func (s *Server) ListBudgetAlerts(ctx context.Context, r gen.ListBudgetAlertsRequestObject) (gen.ListBudgetAlertsResponseObject, error) {
	found, err := s.services.BudgetAlerts.Alerts(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit))
	if err != nil {
		return nil, err
	}
	return gen.ListBudgetAlerts200JSONResponse{Data: each(found.Items, budgetAlertOf), NextCursor: nextCursor(found.Next)}, nil
}

func budgetAlertOf(a budgetalert.Alert) gen.BudgetAlert {
	shown := gen.BudgetAlert{
		ID: a.ID.String(), Scope: gen.BudgetAlertScope(a.Scope), LimitID: a.LimitID, Target: some(a.Target),
		Interval: gen.BudgetAlertInterval(a.Interval), ResetAt: utc(a.ResetAt()), Share: a.Share,
		UsedUsd: a.Used.String(), UsedNanos: int64(a.Used), LimitUsd: a.Amount.String(), LimitNanos: int64(a.Amount), CreatedAt: a.At.UTC(),
	}
	if !a.WindowStart.IsZero() {
		shown.WindowStart = utc(&a.WindowStart)
	}
	return shown
}
