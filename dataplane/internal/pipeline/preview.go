package pipeline

import (
	"context"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
)

// Preview takes a call as far as the decision, by the same steps as Serve. It
// admits nothing, calls nobody and records nothing; a refusal of the plan is
// part of the answer. The error is of what comes before: an unknown caller, a
// policy that cannot be read, a body that nobody could route.
func (p *Pipeline) Preview(ctx context.Context, c *call.Call) (call.Principal, decide.Plan, error) {
	principal, err := p.steps.Auth.Authenticate(ctx, c)
	if err != nil {
		return call.Principal{}, decide.Plan{}, err
	}
	c.Workspace = principal.Key.Workspace
	r := &run{pipeline: p, call: c, principal: principal, preview: true}
	if r.pin, err = p.pin(ctx, principal); err != nil {
		return principal, decide.Plan{}, err
	}
	if c.Malformed != nil {
		return principal, decide.Plan{}, c.Malformed
	}
	if err = r.find(); err != nil {
		return principal, decide.Plan{}, err
	}
	if err = r.decide(ctx); err != nil {
		return principal, decide.Plan{}, err
	}
	return principal, r.plan, nil
}
