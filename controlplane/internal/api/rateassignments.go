package api

import (
	"context"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// ListRateLimitAssignments implements the operation.
func (s *Server) ListRateLimitAssignments(ctx context.Context, r gen.ListRateLimitAssignmentsRequestObject) (gen.ListRateLimitAssignmentsResponseObject, error) {
	f := ratelimit.AssignmentFilter{Type: ratelimit.TargetType(value(r.Params.TargetType))}
	var err error
	if f.Policy, err = filterID[id.RatePolicyKind](r.Params.PolicyID, pathPolicy); err != nil {
		return nil, err
	}
	if r.Params.TargetID != nil {
		if f.Target, err = targetNamed(*r.Params.TargetID); err != nil {
			return nil, err
		}
	}
	found, err := s.services.RateLimits.Assigned(ctx, callerOf(ctx).Workspace, paging(ctx, r.Params.Cursor, r.Params.Limit), f)
	if err != nil {
		return nil, err
	}
	return gen.ListRateLimitAssignments200JSONResponse{Data: each(found.Items, rateAssignmentOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateRateLimitAssignment implements the operation.
func (s *Server) CreateRateLimitAssignment(ctx context.Context, r gen.CreateRateLimitAssignmentRequestObject) (gen.CreateRateLimitAssignmentResponseObject, error) {
	c := callerOf(ctx)
	key, err := filterID[id.RatePolicyKind](&r.Body.PolicyID, pathPolicy)
	if err != nil {
		return nil, err
	}
	target, err := targetFrom(r.Body.TargetType, value(orZero(r.Body.TargetID)))
	if err != nil {
		return nil, err
	}
	a, pub, err := s.services.RateLimits.Assign(ctx, c.Workspace, c.by(), key, target)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.RateLimitAssignmentChange{Data: rateAssignmentOf(a), Publication: ref}
	if pending {
		return gen.CreateRateLimitAssignment202JSONResponse(body), nil
	}
	return gen.CreateRateLimitAssignment201JSONResponse(body), nil
}

// GetRateLimitAssignment implements the operation.
func (s *Server) GetRateLimitAssignment(ctx context.Context, r gen.GetRateLimitAssignmentRequestObject) (gen.GetRateLimitAssignmentResponseObject, error) {
	key, err := parseID[id.RateAssignmentKind](r.RateLimitAssignmentID, rateAssignmentNoun)
	if err != nil {
		return nil, err
	}
	a, err := s.services.RateLimits.Assignment(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetRateLimitAssignment200JSONResponse{Data: rateAssignmentOf(a)}, nil
}

// DeleteRateLimitAssignment implements the operation.
func (s *Server) DeleteRateLimitAssignment(ctx context.Context, r gen.DeleteRateLimitAssignmentRequestObject) (gen.DeleteRateLimitAssignmentResponseObject, error) {
	c := callerOf(ctx)
	key, err := parseID[id.RateAssignmentKind](r.RateLimitAssignmentID, rateAssignmentNoun)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.RateLimits.Unassign(ctx, c.Workspace, key, c.by())
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, key.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteRateLimitAssignment202JSONResponse(body), nil
	}
	return gen.DeleteRateLimitAssignment200JSONResponse(body), nil
}

const (
	rateAssignmentNoun = "assignment of a rate-limit policy"
	pathPolicy         = "policy_id"
	pathTarget         = "target_id"
)

// targetFrom reads a target of a body; text is "" for an absent id.
func targetFrom(kind gen.RateLimitTargetType, text string) (t ratelimit.Target, err error) {
	t.Type = ratelimit.TargetType(kind)
	switch {
	case t.Type == ratelimit.ToEndUsers && text == "":
		return t, nil
	case t.Type == ratelimit.ToEndUsers:
		return t, fault.Invalid(fault.Violation{Path: pathTarget, Code: rule.Contradiction, Message: "must be absent with end_user_default, which holds for every end user"})
	case text == "":
		return t, fault.Invalid(fault.Violation{Path: pathTarget, Code: rule.Required, Message: "is required with this target_type"})
	}
	switch t.Type {
	case ratelimit.ToKey:
		t.Key, err = filterID[id.KeyKind](&text, pathTarget)
	case ratelimit.ToMember:
		t.Member, err = filterID[id.UserKind](&text, pathTarget)
	case ratelimit.ToDepartment:
		t.Department, err = filterID[id.DepartmentKind](&text, pathTarget)
	case ratelimit.ToGuardrail:
		t.Guardrail, err = filterID[id.GuardrailKind](&text, pathTarget)
	case ratelimit.ToEndUsers:
	}
	return t, err
}

// targetNamed reads the id of a target of whichever kind it is.
func targetNamed(text string) (t ratelimit.Target, err error) {
	kind, _, _ := strings.Cut(text, "_")
	switch kind {
	case id.KeyKind{}.Prefix():
		return targetFrom(gen.RateLimitTargetTypeKey, text)
	case id.UserKind{}.Prefix():
		return targetFrom(gen.RateLimitTargetTypeMember, text)
	case id.DepartmentKind{}.Prefix():
		return targetFrom(gen.RateLimitTargetTypeDepartment, text)
	case id.GuardrailKind{}.Prefix():
		return targetFrom(gen.RateLimitTargetTypeGuardrail, text)
	}
	return t, fault.Invalid(fault.Violation{Path: pathTarget, Code: rule.Malformed, Message: "must be the id of an API key, user, department or guardrail"})
}

func rateAssignmentOf(a ratelimit.Assignment) gen.RateLimitAssignment {
	return gen.RateLimitAssignment{
		ID: a.ID.String(), PolicyID: a.Policy.String(), TargetType: gen.RateLimitTargetType(a.Target.Type), TargetID: orNull(a.Target.ID()),
		CreatedAt: a.CreatedAt.UTC(),
	}
}
