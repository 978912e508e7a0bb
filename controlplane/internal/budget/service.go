package budget

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Deps are what a Service works with.
type Deps struct {
	Runner    txn.Runner
	Store     Store
	Directory Directory
	Targets   Targets
	Spending  spending.Store
	Mutator   *deploy.Mutator
	IDs       *id.Source
	Now       func() time.Time
}

// Service creates, changes and deletes budgets, of departments or of everything
// else: one is blind for what the other has. Its failures are validation_error,
// not_found (the department or guardrail too), conflict (there is one for the
// interval, or there are too many), precondition_failed and unavailable.
type Service struct {
	d           Deps
	departments bool
}

// NewService returns a Service for the budgets of the workspace, guardrails and
// agents.
func NewService(d Deps) *Service { return &Service{d: d} }

// NewDepartments returns a Service for the budgets of departments.
func NewDepartments(d Deps) *Service { return &Service{d: d, departments: true} }

// Create stores a budget. What was spent before counts.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n Draft) (Standing, publication.Publication, error) {
	if err := n.validate(s.departments); err != nil {
		return Standing{}, publication.Publication{}, err
	}
	now := s.now()
	b := Budget{
		ID: id.New[id.BudgetKind](s.d.IDs), Workspace: ws, Target: n.Target, Interval: n.Interval, Limit: n.Limit,
		Reserve: n.Reserve, IncludeBYOK: n.IncludeBYOK, CreatedBy: by.User, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	c := changeOf(by, "budget.create", b.ID)
	c.Diff = diff(Budget{}, b)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Standing, error) {
		if err := s.present(ctx, ws, n.Target); err != nil {
			return Standing{}, err
		}
		count, err := s.d.Store.Count(ctx, ws)
		switch {
		case err != nil:
			return Standing{}, err
		case count >= Most:
			return Standing{}, fault.Newf(fault.Conflict, "The workspace has %d budgets, which is the most. Delete one first.", count)
		}
		if err := s.d.Store.Create(ctx, ws, b); err != nil {
			return Standing{}, err
		}
		return s.stand(ctx, ws, b)
	})
}

// Get returns one budget and where it stands.
func (s *Service) Get(ctx context.Context, ws id.Workspace, budget id.Budget) (Standing, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Standing, error) {
		b, err := s.own(ctx, ws, budget)
		if err != nil {
			return Standing{}, err
		}
		return s.stand(ctx, ws, b)
	})
}

// List returns a page of budgets and where they stand, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Standing], error) {
	var found page.Result[Standing]
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		list, err := s.d.Directory.List(ctx, ws, s.departments, q, f)
		if err != nil {
			return err
		}
		found.Next = list.Next
		found.Items, err = s.stands(ctx, ws, list.Items)
		return err
	})
	return found, err
}

// Update applies p. What was spent so far counts toward a new limit.
func (s *Service) Update(ctx context.Context, ws id.Workspace, budget id.Budget, by audit.By, p Patch) (Standing, publication.Publication, error) {
	if err := p.validate(); err != nil {
		return Standing{}, publication.Publication{}, err
	}
	c := changeOf(by, "budget.update", budget)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Standing, error) {
		before, err := s.own(ctx, ws, budget)
		if err != nil {
			return Standing{}, err
		}
		if err := txn.Match(p.IfMatch, before.Version); err != nil {
			return Standing{}, err
		}
		b := p.apply(before)
		b.Version, b.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, b)
		if err := s.d.Store.Update(ctx, ws, b); err != nil {
			return Standing{}, err
		}
		return s.stand(ctx, ws, b)
	})
}

// Delete removes a budget.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, budget id.Budget, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "budget.delete", budget)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.own(ctx, ws, budget)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		c.Diff = diff(before, Budget{})
		return s.d.Store.Delete(ctx, ws, budget)
	})
}

// own is a budget of the service's side; another's is not there.
func (s *Service) own(ctx context.Context, ws id.Workspace, budget id.Budget) (Budget, error) {
	b, err := s.d.Store.Get(ctx, ws, budget)
	if err == nil && b.Target.Department.IsZero() == s.departments {
		return Budget{}, fault.New(fault.NotFound, "There is no such thing here.")
	}
	return b, err
}

func (s *Service) present(ctx context.Context, ws id.Workspace, t Target) error {
	switch {
	case !t.Department.IsZero():
		return s.d.Targets.Department(ctx, ws, t.Department)
	case !t.Guardrail.IsZero():
		return s.d.Targets.Guardrail(ctx, ws, t.Guardrail)
	}
	return nil
}

func (s *Service) stand(ctx context.Context, ws id.Workspace, b Budget) (Standing, error) {
	list, err := s.stands(ctx, ws, []Budget{b})
	if err != nil {
		return Standing{}, err
	}
	return list[0], nil
}

// stands says where budgets stand, in one look.
func (s *Service) stands(ctx context.Context, ws id.Workspace, budgets []Budget) ([]Standing, error) {
	list := make([]Standing, len(budgets))
	if len(budgets) == 0 {
		return list, nil
	}
	accounts := make([]wire.Account, len(budgets))
	for i, b := range budgets {
		accounts[i] = b.Target.Account()
	}
	now := s.now()
	spent, err := s.d.Spending.Spent(ctx, ws, accounts, spending.Since(now))
	for i, b := range budgets {
		list[i] = standing(b, spent[accounts[i]], now)
	}
	return list, err
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, budget id.Budget) *deploy.Change {
	return deploy.NewChange(by, action, "budget", budget.String())
}
