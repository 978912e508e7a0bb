package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/ratelimit"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ListRateLimitPolicies implements the operation.
func (s *Server) ListRateLimitPolicies(ctx context.Context, r gen.ListRateLimitPoliciesRequestObject) (gen.ListRateLimitPoliciesResponseObject, error) {
	found, err := s.services.RateLimits.List(ctx, callerOf(ctx).Workspace,
		paging(ctx, r.Params.Cursor, r.Params.Limit), ratelimit.Filter{Name: value(r.Params.Name)})
	if err != nil {
		return nil, err
	}
	return gen.ListRateLimitPolicies200JSONResponse{Data: each(found.Items, ratePolicyOf), NextCursor: nextCursor(found.Next)}, nil
}

// CreateRateLimitPolicy implements the operation.
func (s *Server) CreateRateLimitPolicy(ctx context.Context, r gen.CreateRateLimitPolicyRequestObject) (gen.CreateRateLimitPolicyResponseObject, error) {
	c := callerOf(ctx)
	p, pub, err := s.services.RateLimits.Create(ctx, c.Workspace, c.by(), ratelimit.Draft{
		Name: r.Body.Name, Requests: value(orZero(r.Body.RequestsPerMinute)), Tokens: value(orZero(r.Body.TokensPerMinute)),
		Concurrent: value(orZero(r.Body.ConcurrentRequests)), FailClosed: value(r.Body.FailClosed),
		Unavailable: policy.Unavailable(value(r.Body.OnUnavailable)),
	})
	if err != nil {
		return nil, err
	}
	body, version, pending := s.ratePolicyChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.CreateRateLimitPolicy202JSONResponse{Body: body, Headers: gen.CreateRateLimitPolicy202ResponseHeaders{ETag: version}}, nil
	}
	return gen.CreateRateLimitPolicy201JSONResponse{Body: body, Headers: gen.CreateRateLimitPolicy201ResponseHeaders{ETag: version}}, nil
}

// GetRateLimitPolicy implements the operation.
func (s *Server) GetRateLimitPolicy(ctx context.Context, r gen.GetRateLimitPolicyRequestObject) (gen.GetRateLimitPolicyResponseObject, error) {
	key, err := parseID[id.RatePolicyKind](r.RateLimitPolicyID, ratePolicyNoun)
	if err != nil {
		return nil, err
	}
	p, err := s.services.RateLimits.Get(ctx, callerOf(ctx).Workspace, key)
	if err != nil {
		return nil, err
	}
	return gen.GetRateLimitPolicy200JSONResponse{
		Body: gen.RateLimitPolicyOne{Data: ratePolicyOf(p)}, Headers: gen.GetRateLimitPolicy200ResponseHeaders{ETag: etag(p.Version)},
	}, nil
}

// UpdateRateLimitPolicy implements the operation.
func (s *Server) UpdateRateLimitPolicy(ctx context.Context, r gen.UpdateRateLimitPolicyRequestObject) (gen.UpdateRateLimitPolicyResponseObject, error) {
	t, err := targetOf[id.RatePolicyKind](ctx, r.RateLimitPolicyID, ratePolicyNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	patch := ratelimit.Patch{
		Name: r.Body.Name, Requests: orZero(r.Body.RequestsPerMinute), Tokens: orZero(r.Body.TokensPerMinute),
		Concurrent: orZero(r.Body.ConcurrentRequests), FailClosed: r.Body.FailClosed, IfMatch: t.ifMatch,
	}
	if r.Body.OnUnavailable != nil {
		patch.Unavailable = pointer(policy.Unavailable(*r.Body.OnUnavailable))
	}
	p, pub, err := s.services.RateLimits.Update(ctx, t.Workspace, t.id, t.by(), patch)
	if err != nil {
		return nil, err
	}
	body, version, pending := s.ratePolicyChange(ctx, p, pub, r.Params.Wait)
	if pending {
		return gen.UpdateRateLimitPolicy202JSONResponse{Body: body, Headers: gen.UpdateRateLimitPolicy202ResponseHeaders{ETag: version}}, nil
	}
	return gen.UpdateRateLimitPolicy200JSONResponse{Body: body, Headers: gen.UpdateRateLimitPolicy200ResponseHeaders{ETag: version}}, nil
}

// DeleteRateLimitPolicy implements the operation.
func (s *Server) DeleteRateLimitPolicy(ctx context.Context, r gen.DeleteRateLimitPolicyRequestObject) (gen.DeleteRateLimitPolicyResponseObject, error) {
	t, err := targetOf[id.RatePolicyKind](ctx, r.RateLimitPolicyID, ratePolicyNoun, r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	pub, err := s.services.RateLimits.Delete(ctx, t.Workspace, t.id, t.by(), t.ifMatch)
	if err != nil {
		return nil, err
	}
	body, pending := s.deleted(ctx, t.id.String(), pub, r.Params.Wait)
	if pending {
		return gen.DeleteRateLimitPolicy202JSONResponse(body), nil
	}
	return gen.DeleteRateLimitPolicy200JSONResponse(body), nil
}

const ratePolicyNoun = "rate-limit policy"

func (s *Server) ratePolicyChange(ctx context.Context, p ratelimit.Policy, pub publication.Publication, wait *gen.Wait) (gen.RateLimitPolicyChange, string, bool) {
	ref, pending := s.settle(ctx, pub, wait)
	return gen.RateLimitPolicyChange{Data: ratePolicyOf(p), Publication: ref}, etag(p.Version), pending
}

func ratePolicyOf(p ratelimit.Policy) gen.RateLimitPolicy {
	return gen.RateLimitPolicy{
		ID: p.ID.String(), Name: p.Name,
		RequestsPerMinute: orNull(p.Requests), TokensPerMinute: orNull(p.Tokens), ConcurrentRequests: orNull(p.Concurrent),
		FailClosed: p.FailClosed, OnUnavailable: gen.RateLimitOnUnavailable(p.Unavailable),
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}
