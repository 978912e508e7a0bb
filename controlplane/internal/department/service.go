package department

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Deps are what a Service works with.
type Deps struct {
	Runner    txn.Runner
	Store     Store
	Directory Directory
	Roster    Roster
	People    People
	Profiles  Profiles
	Budgets   Budgets
	Mutator   *deploy.Mutator
	IDs       *id.Source
	Now       func() time.Time
}

// Service creates, changes and deletes departments and says who belongs to them.
// Its failures are validation_error, not_found (the routing profile and the
// member too), conflict (the name is taken, there are too many, it is in use, or
// the member has an override), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create stores a department. No key and no member belongs to it yet.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n Draft) (Department, publication.Publication, error) {
	if err := validate(&n.Name); err != nil {
		return Department{}, publication.Publication{}, err
	}
	now := s.now()
	d := Department{
		ID: id.New[id.DepartmentKind](s.d.IDs), Workspace: ws, Name: n.Name, Profile: n.Profile, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	c := changeOf(by, "department.create", d.ID)
	c.Diff = diff(Department{}, d)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Department, error) {
		if err := s.bindable(ctx, ws, n.Profile); err != nil {
			return Department{}, err
		}
		count, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return Department{}, err
		case count >= Most:
			return Department{}, fault.Newf(fault.Conflict, "The workspace has %d departments, which is the most.", count)
		}
		return d, s.d.Store.Create(ctx, ws, d)
	})
}

// Get returns one department.
func (s *Service) Get(ctx context.Context, ws id.Workspace, department id.Department) (Department, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Department, error) {
		return s.d.Store.Get(ctx, ws, department)
	})
}

// List returns a page of departments, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Department], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Department], error) {
		return s.d.Directory.List(ctx, ws, q, f)
	})
}

// Update applies p, for every key of the department.
func (s *Service) Update(ctx context.Context, ws id.Workspace, department id.Department, by audit.By, p Patch) (Department, publication.Publication, error) {
	if err := validate(p.Name); err != nil {
		return Department{}, publication.Publication{}, err
	}
	c := changeOf(by, "department.update", department)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Department, error) {
		before, err := s.d.Store.Get(ctx, ws, department)
		if err != nil {
			return Department{}, err
		}
		if err := txn.Match(p.IfMatch, before.Version); err != nil {
			return Department{}, err
		}
		after := before
		patch.Set(&after.Name, p.Name)
		if p.Profile != nil {
			after.Profile = *p.Profile
			if err := s.bindable(ctx, ws, after.Profile); err != nil {
				return Department{}, err
			}
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// Delete removes a department that nothing uses, and its budgets. A conflict names
// what uses it.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, department id.Department, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "department.delete", department)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, department)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		uses, err := s.d.Directory.Uses(ctx, ws, department)
		if err != nil {
			return err
		}
		if len(uses.Keys)+len(uses.Members)+len(uses.Policies) > 0 {
			return inUse(uses)
		}
		budgets, err := s.d.Budgets.ReleaseDepartment(ctx, ws, department)
		if err != nil {
			return err
		}
		d := audit.Diff(diff(before, Department{}))
		d.List("budgets", id.Texts(budgets), nil)
		c.Diff = d
		return s.d.Store.Delete(ctx, ws, department)
	})
}

func (s *Service) bindable(ctx context.Context, ws id.Workspace, profile id.Profile) error {
	if profile.IsZero() {
		return nil
	}
	return s.d.Profiles.Bindable(ctx, ws, profile)
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func validate(name *string) error {
	var v rule.Violations
	if name != nil {
		v.Name("name", *name)
	}
	return v.Err()
}
