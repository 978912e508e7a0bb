package department

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
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
	Profiles  Profiles
	Budgets   Budgets
	Mutator   Mutator
	IDs       *id.Source
	Now       func() time.Time
}

// Service creates, changes and deletes departments. Its failures are
// validation_error, not_found (the routing profile too), conflict (the name is
// taken, there are too many, or keys belong to it), precondition_failed and
// unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create stores a department. No key belongs to it yet.
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
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		if err := s.bindable(ctx, ws, n.Profile); err != nil {
			return err
		}
		count, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return err
		case count >= Most:
			return fault.Newf(fault.Conflict, "The workspace has %d departments, which is the most.", count)
		}
		return s.d.Store.Create(ctx, ws, d)
	})
	if err != nil {
		return Department{}, publication.Publication{}, err
	}
	return d, pub, nil
}

// Get returns one department.
func (s *Service) Get(ctx context.Context, ws id.Workspace, department id.Department) (Department, error) {
	var d Department
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		d, err = s.d.Store.Get(ctx, ws, department)
		return err
	})
	return d, err
}

// List returns a page of departments, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Department], error) {
	var found page.Result[Department]
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		found, err = s.d.Directory.List(ctx, ws, q, f)
		return err
	})
	return found, err
}

// Update applies p, for every key of the department.
func (s *Service) Update(ctx context.Context, ws id.Workspace, department id.Department, by audit.By, p Patch) (Department, publication.Publication, error) {
	if err := validate(p.Name); err != nil {
		return Department{}, publication.Publication{}, err
	}
	var after Department
	c := changeOf(by, "department.update", department)
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, department)
		if err != nil {
			return err
		}
		if err := txn.Match(p.IfMatch, before.Version); err != nil {
			return err
		}
		after = before
		if p.Name != nil {
			after.Name = *p.Name
		}
		if p.Profile != nil {
			after.Profile = *p.Profile
			if err := s.bindable(ctx, ws, after.Profile); err != nil {
				return err
			}
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return s.d.Store.Update(ctx, ws, after)
	})
	if err != nil {
		return Department{}, publication.Publication{}, err
	}
	return after, pub, nil
}

// Delete removes a department that no key belongs to, and its budgets. A
// conflict names the keys that do.
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
		members, err := s.d.Directory.Members(ctx, ws, department)
		if err != nil {
			return err
		}
		if len(members.Keys) > 0 {
			return peopled(members)
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

func (s *Service) now() time.Time { return s.d.Now().UTC().Truncate(time.Microsecond) }

func validate(name *string) error {
	var v rule.Violations
	if name != nil {
		v.Name("name", *name)
	}
	return v.Err()
}

// peopled refuses the deletion of a department that keys belong to.
func peopled(m Members) error {
	e := fault.New(fault.Conflict, "")
	for _, k := range m.Keys {
		e.Violations = append(e.Violations, fault.Violation{Path: "keys", Code: "in_use", Message: "the API key " + k.String() + " belongs to it"})
	}
	const named = 3
	keys := id.Texts(m.Keys[:min(named, len(m.Keys))])
	e.Message = "API keys belong to the department: " + strings.Join(keys, ", ")
	if more := len(m.Keys) - named + m.More; more > 0 {
		e.Message += fmt.Sprintf(" and %d more", more)
	}
	e.Message += ". Take each out of it first (signalbox departments remove-key KEY_ID), move it to another department, or revoke it."
	return e
}

func changeOf(by audit.By, action string, department id.Department) *deploy.Change {
	return &deploy.Change{
		Actor: by.Actor, RequestID: by.RequestID, Action: action, TargetType: "department", TargetID: department.String(),
	}
}

func diff(before, after Department) []audit.Change {
	var d audit.Diff
	d.Text("name", before.Name, after.Name)
	d.Text("routing_profile_id", before.Profile.String(), after.Profile.String())
	return d
}
