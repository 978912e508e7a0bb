package profile

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
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
	Mutator   *deploy.Mutator
	Offered   routing.Source
	Presets   routing.Presets
	IDs       *id.Source
	Now       func() time.Time
}

// Service creates, changes and deletes profiles. Its failures are
// validation_error, not_found, conflict (the name is taken, there are too
// many, or it is bound), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Create stores a profile. Nothing is bound to it yet.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, d Draft) (Profile, publication.Publication, error) {
	checked, err := s.check(ctx, ws, Patch{Name: &d.Name, Routing: &d.Routing})
	if err != nil {
		return Profile{}, publication.Publication{}, err
	}
	now := s.now()
	p := Profile{
		ID: id.New[id.ProfileKind](s.d.IDs), Workspace: ws, Name: d.Name, Routing: *checked.Routing,
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	c := changeOf(by, "profile.create", p.ID)
	c.Diff = diff(Profile{}, p)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Profile, error) {
		n, err := s.d.Directory.Count(ctx, ws)
		switch {
		case err != nil:
			return Profile{}, err
		case n >= Most:
			return Profile{}, fault.Newf(fault.Conflict, "The workspace has %d routing profiles, which is the most. Delete one that nothing uses.", n)
		}
		return p, s.d.Store.Create(ctx, ws, p)
	})
}

// Get returns one profile with what it is bound to.
func (s *Service) Get(ctx context.Context, ws id.Workspace, profile id.Profile) (Profile, Bindings, error) {
	var p Profile
	var b Bindings
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if p, err = s.d.Store.Get(ctx, ws, profile); err != nil {
			return err
		}
		b, err = s.d.Directory.Bindings(ctx, ws, profile)
		return err
	})
	return p, b, err
}

// List returns a page of profiles, newest first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Profile], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Profile], error) {
		return s.d.Directory.List(ctx, ws, q, f)
	})
}

// Update applies p, for everything that is bound to the profile.
func (s *Service) Update(ctx context.Context, ws id.Workspace, profile id.Profile, by audit.By, p Patch) (Profile, publication.Publication, error) {
	p, err := s.check(ctx, ws, p)
	if err != nil {
		return Profile{}, publication.Publication{}, err
	}
	c := changeOf(by, "profile.update", profile)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Profile, error) {
		before, err := s.d.Store.Get(ctx, ws, profile)
		if err != nil {
			return Profile{}, err
		}
		if err := txn.Match(p.IfMatch, before.Version); err != nil {
			return Profile{}, err
		}
		after := before
		patch.Set(&after.Name, p.Name)
		patch.Set(&after.Routing, p.Routing)
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		c.Diff = diff(before, after)
		return after, s.d.Store.Update(ctx, ws, after)
	})
}

// Delete removes a profile that nothing is bound to. A conflict names what is.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, profile id.Profile, by audit.By, ifMatch *int64) (publication.Publication, error) {
	c := changeOf(by, "profile.delete", profile)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Store.Get(ctx, ws, profile)
		if err != nil {
			return err
		}
		if err := txn.Match(ifMatch, before.Version); err != nil {
			return err
		}
		b, err := s.d.Directory.Bindings(ctx, ws, profile)
		if err != nil {
			return err
		}
		if b.Any() {
			return inUse(b)
		}
		c.Diff = diff(before, Profile{})
		return s.d.Store.Delete(ctx, ws, profile)
	})
}

// check returns p with its routing as it is to be kept, or every violation.
func (s *Service) check(ctx context.Context, ws id.Workspace, p Patch) (Patch, error) {
	var v rule.Violations
	if p.Name != nil {
		v.Name("name", *p.Name)
	}
	if p.Routing != nil {
		offered, err := s.d.Offered.View(ctx)
		if err != nil {
			return p, err
		}
		shelf := routing.NewShelf(ctx, s.d.Presets, ws)
		kept := routing.NewChecker(offered).Naming(shelf).Check(&v, "routing", *p.Routing)
		if err := shelf.Err(); err != nil {
			return p, err
		}
		p.Routing = &kept
	}
	return p, v.Err()
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, profile id.Profile) *deploy.Change {
	return deploy.NewChange(by, action, "routing_profile", profile.String())
}
