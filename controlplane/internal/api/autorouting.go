package api

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// GetAutoRouting implements the operation.
func (s *Server) GetAutoRouting(ctx context.Context, _ gen.GetAutoRoutingRequestObject) (gen.GetAutoRoutingResponseObject, error) {
	found, err := s.services.AutoRouting.Get(ctx, callerOf(ctx).Workspace)
	if err != nil {
		return nil, err
	}
	return gen.GetAutoRouting200JSONResponse{
		Body:    gen.AutoRoutingOne{Data: autoRoutingOf(found)},
		Headers: gen.GetAutoRouting200ResponseHeaders{ETag: etag(found.Version)},
	}, nil
}

// UpdateAutoRouting implements the operation.
func (s *Server) UpdateAutoRouting(ctx context.Context, r gen.UpdateAutoRoutingRequestObject) (gen.UpdateAutoRoutingResponseObject, error) {
	c := callerOf(ctx)
	match, err := ifMatch(r.Params.IfMatch)
	if err != nil {
		return nil, err
	}
	after, pub, err := s.services.AutoRouting.Update(ctx, c.Workspace, c.by(), autoRoutingPatch(*r.Body), match)
	if err != nil {
		return nil, err
	}
	ref, pending := s.settle(ctx, pub, r.Params.Wait)
	body := gen.AutoRoutingChange{Data: autoRoutingOf(after), Publication: ref}
	if pending {
		return gen.UpdateAutoRouting202JSONResponse{Body: body, Headers: gen.UpdateAutoRouting202ResponseHeaders{ETag: etag(after.Version)}}, nil
	}
	return gen.UpdateAutoRouting200JSONResponse{Body: body, Headers: gen.UpdateAutoRouting200ResponseHeaders{ETag: etag(after.Version)}}, nil
}

func autoRoutingOf(c autorouting.Config) gen.AutoRouting {
	a := gen.AutoRouting{
		Version:        c.Version,
		Objective:      gen.AutoObjective(c.Objective),
		SpendProfile:   gen.SpendProfile(c.Spend),
		Models:         list(c.Models),
		AllowFallbacks: c.AllowFallbacks,
	}
	if c.Prices != nil {
		a.Prices = &gen.AutoPrices{Input: c.Prices.Input.String(), Output: c.Prices.Output.String()}
	}
	return a
}

// autoRoutingPatch reads a body that the contract has admitted.
func autoRoutingPatch(b gen.AutoRoutingPatch) autorouting.Patch {
	p := autorouting.Patch{
		Objective:      (*policy.Objective)(b.Objective),
		Spend:          (*policy.SpendProfile)(b.SpendProfile),
		Models:         b.Models,
		AllowFallbacks: b.AllowFallbacks,
	}
	if b.Prices != nil {
		p.Prices = &policy.SpendLimit{Input: *limitFrom(&b.Prices.Input), Output: *limitFrom(&b.Prices.Output)}
	}
	return p
}
