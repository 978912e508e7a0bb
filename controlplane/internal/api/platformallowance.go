package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// GetPlatformAllowance implements the operation.
func (s *Server) GetPlatformAllowance(ctx context.Context, r gen.GetPlatformAllowanceRequestObject) (gen.GetPlatformAllowanceResponseObject, error) {
	ws, err := parseID[id.WorkspaceKind](r.WorkspaceID, workspaceNoun)
	if err != nil {
		return nil, err
	}
	found, err := s.services.Allowances.Get(ctx, ws)
	if err != nil {
		return nil, err
	}
	return gen.GetPlatformAllowance200JSONResponse{
		Body:    gen.PlatformAllowanceOne{Data: allowanceOf(found)},
		Headers: gen.GetPlatformAllowance200ResponseHeaders{ETag: etag(found.Overrides.Version)},
	}, nil
}

// UpdatePlatformAllowance implements the operation.
func (s *Server) UpdatePlatformAllowance(ctx context.Context, r gen.UpdatePlatformAllowanceRequestObject) (gen.UpdatePlatformAllowanceResponseObject, error) {
	t, err := targetOf[id.WorkspaceKind](ctx, r.WorkspaceID, workspaceNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	edit, err := allowanceEdit(*r.Body)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.Allowances.Update(ctx, t.id, t.by(), edit, t.ifMatch)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body, tag := gen.PlatformAllowanceChange{Data: allowanceOf(after), Publication: ref}, etag(after.Overrides.Version)
	if pending {
		return gen.UpdatePlatformAllowance202JSONResponse{Body: body, Headers: gen.UpdatePlatformAllowance202ResponseHeaders{ETag: tag}}, nil
	}
	return gen.UpdatePlatformAllowance200JSONResponse{Body: body, Headers: gen.UpdatePlatformAllowance200ResponseHeaders{ETag: tag}}, nil
}

func allowanceEdit(b gen.PlatformAllowancePatch) (allowance.Edit, error) {
	users := make(map[id.User]*int64)
	for text, n := range value(b.Users) {
		user, err := filterID[id.UserKind](&text, "users")
		if err != nil {
			return nil, err
		}
		users[user] = n
	}
	return func(o *allowance.Overrides) {
		patchNullable(&o.PerMinute, b.RequestsPerMinute)
		patchNullable(&o.FreePerDay, b.FreeRequestsPerDay)
		for user, n := range users {
			if n == nil {
				delete(o.Users, user)
				continue
			}
			o.Users[user] = *n
		}
	}, nil
}

func allowanceOf(s allowance.State) gen.PlatformAllowance {
	overrides := gen.AllowanceOverrides{
		RequestsPerMinute: pointed(s.Overrides.PerMinute), FreeRequestsPerDay: pointed(s.Overrides.FreePerDay),
		Users: make(map[string]int64, len(s.Overrides.Users)),
	}
	for user, n := range s.Overrides.Users {
		overrides.Users[user.String()] = n
	}
	return gen.PlatformAllowance{
		WorkspaceID: s.Overrides.Workspace.String(), Enabled: s.Enabled,
		Standing: gen.PlatformAllowanceStanding(s.Standing), Reason: gen.PlatformAllowanceReason(s.Reason),
		WorkspaceCreatedAt: s.Facts.CreatedAt, PaidUsd: s.Facts.Paid.String(), PaidNanos: int64(s.Facts.Paid),
		RequestsPerMinute: orNull(s.Allowance.PerMinute), FreeRequestsPerDay: orNull(s.Allowance.FreePerDay), Overrides: overrides,
	}
}
