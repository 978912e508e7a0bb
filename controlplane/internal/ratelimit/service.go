package ratelimit

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Deps are what a Service works with.
type Deps struct {
	Runner      txn.Runner
	Store       Store
	Directory   Directory
	Assignments Assignments
	Targets     Targets
	Mutator     *deploy.Mutator
	IDs         *id.Source
	Now         func() time.Time
}

// Service creates, changes, assigns and deletes policies. Its failures are
// validation_error, not_found, conflict (the name is taken, there are too many,
// or it is assigned), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create stores a policy. It is assigned to nothing yet.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, d Draft) (Policy, publication.Publication, error) {
	now := s.now()
	p := Policy{
		ID: id.New[id.RatePolicyKind](s.d.IDs), Workspace: ws, Name: d.Name, Requests: d.Requests, Tokens: d.Tokens, Concurrent: d.Concurrent,
		FailClosed: d.FailClosed, Unavailable: d.Unavailable, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if p.Unavailable == "" {
		p.Unavailable = unavailable(p.FailClosed)
	}
	if err := validate(p); err != nil {
		return Policy{}, publication.Publication{}, err
	}
	c := changeOf(by, "rate_limit_policy.create", p.ID)
	c.Diff = diff(Policy{}, p)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Policy, error) {
		n, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return Policy{}, err
		case n >= MaxPolicies:
			return Policy{}, fault.Newf(fault.Conflict, "The workspace has %d rate-limit policies, which is the most. Delete one that is assigned to nothing.", n)
		}
		return p, s.d.Store.Create(ctx, ws, p)
	})
}

// Get returns one policy.
func (s *Service) Get(ctx context.Context, ws id.Workspace, policy id.RatePolicy) (Policy, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Policy, error) {
		return s.d.Store.Get(ctx, ws, policy)
	})
}

// List returns a page of policies, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Policy], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Policy], error) {
		return s.d.Directory.List(ctx, ws, q, f)
	})
}

// Update applies p, for everything that the policy is assigned to.
func (s *Service) Update(ctx context.Context, ws id.Workspace, policy id.RatePolicy, by audit.By, p Patch) (Policy, publication.Publication, error) {
	c := changeOf(by, "rate_limit_policy.update", policy)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Policy, error) {
		before, err := s.d.Store.Get(ctx, ws, policy)
		if err != nil {
			return Policy{}, err
		}
		if err := txn.Match(p.IfMatch, before.Version); err != nil {
			return Policy{}, err
		}
		after := p.apply(before)
		if err := validate(after); err != nil {
			return Policy{}, err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// Delete removes a policy that is assigned to nothing. A conflict names its
// assignments.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, policy id.RatePolicy, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "rate_limit_policy.delete", policy)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, policy)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		uses, err := s.d.Targets.Uses(ctx, ws, policy)
		if err != nil {
			return err
		}
		if len(uses.Assignments) > 0 {
			return assigned(uses)
		}
		c.Diff = diff(before, Policy{})
		return s.d.Store.Delete(ctx, ws, policy)
	})
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }
