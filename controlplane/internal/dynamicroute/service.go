package dynamicroute

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/patch"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Deps are what a Service works with.
type Deps struct {
	Runner      txn.Runner
	Store       Store
	Directory   Directory
	Versions    Versions
	Deployments Deployments
	Keys        Keys
	Rollouts    Rollouts
	Mutator     *deploy.Mutator
	Offered     routing.Source
	Presets     routing.Presets
	IDs         *id.Source
	Now         func() time.Time
}

// Service creates, changes, deploys and deletes dynamic routes. Its failures
// are validation_error, not_found, conflict (a name is taken, there are too
// many, a version does not fit the catalog or is being rolled out, or there is
// nothing to roll back),
// precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Outcome is what a change came to.
type Outcome struct {
	Detail      Detail  // the route as it is now
	Version     Version // that was saved or deployed; zero where none was
	Warnings    []Warning
	Moved       []Attachment // keys that another route let go of, each with that
	Publication publication.Publication
	Unchanged   bool // nothing had to be done, so there is no publication
}

// errUnchanged ends a transaction that found nothing to do.
var errUnchanged = errors.New("nothing to change")

// Create stores a route, with version 1 where a graph is given. Nothing is
// deployed and no key is attached yet.
func (s *Service) Create(ctx context.Context, ws id.Workspace, by audit.By, n NewRoute) (Outcome, error) {
	if n.Status == "" {
		n.Status = Active
	}
	derived := n.Slug == ""
	if derived {
		n.Slug = slugOf(n.Name)
	}
	p := Patch{Name: &n.Name, Slug: &n.Slug, Description: &n.Description, Status: &n.Status, Config: n.Config, Note: n.Note}
	g, warnings, err := s.check(ctx, ws, p)
	if err != nil {
		return Outcome{}, err
	}
	now := s.now()
	r := Route{ID: id.New[id.RouteKind](s.d.IDs), Workspace: ws, Version: 1, CreatedAt: now, UpdatedAt: now}
	r.Turn = r.ID
	p.apply(&r)
	out := Outcome{Warnings: warnings}
	c := changeOf(by, "route.create", r.ID)
	out.Publication, err = s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		if err := s.room(ctx, ws); err != nil {
			return err
		}
		out.Detail = Detail{Route: r}
		made := &out.Detail.Route
		if derived {
			if made.Slug, err = s.free(ctx, r); err != nil {
				return err
			}
		}
		if n.Config != nil {
			made.Latest = 1
		}
		c.Diff = diff(Route{}, *made)
		if err := s.d.Store.Create(ctx, ws, *made); err != nil || n.Config == nil {
			return err
		}
		out.Version = first(*made, g, n.Note, by)
		out.Detail.Newest = out.Version
		return s.d.Versions.Add(ctx, ws, out.Version)
	})
	if err != nil {
		return Outcome{}, err
	}
	return out, nil
}

// free is the slug that was made of the name of r, or one like it that no
// other route has.
func (s *Service) free(ctx context.Context, r Route) (string, error) {
	taken, err := s.d.Directory.SlugTaken(ctx, r.Workspace, r.Slug)
	if taken {
		return told(r.Slug, r.ID), err
	}
	return r.Slug, err
}

func (s *Service) room(ctx context.Context, ws id.Workspace) error {
	n, err := s.d.Directory.Count(ctx, ws)
	if err == nil && n >= policy.MaxRoutes {
		return fault.Newf(fault.Conflict, "The workspace has %d dynamic routes, which is the most. Delete one that is not needed.", n)
	}
	return err
}

// Get returns a route with its keys and its newest version. A deleted one is
// not there.
func (s *Service) Get(ctx context.Context, ws id.Workspace, route id.Route) (Detail, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Detail, error) {
		return s.detail(ctx, ws, route)
	})
}

func (s *Service) detail(ctx context.Context, ws id.Workspace, route id.Route) (d Detail, err error) {
	if d.Route, err = s.live(ctx, ws, route); err != nil {
		return d, err
	}
	return s.details(ctx, d.Route)
}

// details adds to a route what it has.
func (s *Service) details(ctx context.Context, r Route) (d Detail, err error) {
	ws, route := r.Workspace, r.ID
	d.Route = r
	if d.Keys, err = s.d.Keys.Attached(ctx, ws, route); err != nil {
		return d, err
	}
	if d.Rollout, err = s.d.Rollouts.Underway(ctx, ws, route); err != nil || d.Latest == 0 {
		return d, err
	}
	d.Newest, err = s.d.Versions.Get(ctx, ws, route, d.Latest)
	return d, err
}

// live is a route that is not deleted.
func (s *Service) live(ctx context.Context, ws id.Workspace, route id.Route) (Route, error) {
	r, err := s.d.Store.Get(ctx, ws, route)
	if err == nil && r.DeletedAt != nil {
		return Route{}, fault.New(fault.NotFound, "The dynamic route was deleted. Its versions can still be read.")
	}
	return r, err
}

// List returns a page of routes, newest change first.
func (s *Service) List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Listed], error) {
	var found page.Result[Listed]
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if found, err = s.d.Directory.List(ctx, ws, q, f); err != nil {
			return err
		}
		routes := make([]id.Route, len(found.Items))
		for i, l := range found.Items {
			routes[i] = l.ID
		}
		open, err := s.d.Rollouts.Open(ctx, ws, routes)
		for i := range found.Items {
			found.Items[i].Rollout = open[routes[i]]
		}
		return err
	})
	return found, err
}

// Update applies p. A graph that is not the newest version's becomes a version,
// which is not deployed by that.
func (s *Service) Update(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, p Patch) (Outcome, error) {
	g, warnings, err := s.check(ctx, ws, p)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Warnings: warnings}
	c := changeOf(by, "route.update", route)
	err = s.change(ctx, ws, c, target{route, p.IfMatch}, &out, func(ctx context.Context, r *Route, _ int64) error {
		before := *r
		p.apply(r)
		if p.Config != nil {
			out.Version, err = s.save(ctx, r, g, saving{note: p.Note, by: by})
			if err != nil && !errors.Is(err, errUnchanged) {
				return err
			}
		}
		if before.Status == r.Status || r.Status != Paused {
			return nil
		}
		held, err := s.suspend(ctx, *r)
		c.Diff = append(diff(before, *r), held...)
		return err
	})
	return out, err
}

// Delete takes a route away and detaches its keys. confirm must be its name.
// Its versions can still be read.
func (s *Service) Delete(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, confirm string, ifMatch *int64) (publication.Publication, error) {
	var out Outcome
	c := changeOf(by, "route.delete", route)
	err := s.change(ctx, ws, c, target{route, ifMatch}, &out, func(ctx context.Context, r *Route, revision int64) error {
		if confirm != r.Name {
			return fault.Invalid(fault.Violation{Path: "confirm_name", Code: "mismatch", Message: "must be the name of the dynamic route, exactly"})
		}
		keys, err := s.d.Keys.Attached(ctx, ws, route)
		if err != nil {
			return err
		}
		now := s.now()
		r.DeletedAt = &now
		c.KIDs, err = s.d.Keys.Attach(ctx, ws, id.Route{}, keys, revision, now)
		if err != nil {
			return err
		}
		aborted, err := s.abort(ctx, *r)
		c.Diff = slices.Concat(diff(*r, Route{}), keysDiff(keys, nil), aborted)
		return err
	})
	return out.Publication, err
}

// target is the route to change and the version that the caller saw.
type target struct {
	route   id.Route
	ifMatch *int64
}

// change runs the shape that every change of a route has. edit may assign the
// change's diff, which is else that of the route.
func (s *Service) change(
	ctx context.Context, ws id.Workspace, c *deploy.Change, t target, out *Outcome,
	edit func(ctx context.Context, r *Route, revision int64) error,
) error {
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, revision int64) error {
		before, err := s.live(ctx, ws, t.route)
		if err != nil {
			return err
		}
		if err := txn.Match(t.ifMatch, before.Version); err != nil {
			return err
		}
		c.Diff, c.KIDs = nil, nil
		after := before
		if err := edit(ctx, &after, revision); errors.Is(err, errUnchanged) {
			return s.unchanged(ctx, before, out)
		} else if err != nil {
			return err
		}
		after.Version, after.UpdatedAt, after.Turn = before.Version+1, s.now(), id.New[id.RouteKind](s.d.IDs)
		if c.Diff == nil {
			c.Diff = diff(before, after)
		}
		if err := s.d.Store.Update(ctx, ws, after); err != nil {
			return err
		}
		out.Detail, err = s.details(ctx, after)
		return err
	})
	out.Publication, out.Unchanged = pub, errors.Is(err, errUnchanged)
	if err != nil && !out.Unchanged {
		*out = Outcome{}
		return err
	}
	return nil
}

// unchanged ends the transaction of a change that is none.
func (s *Service) unchanged(ctx context.Context, r Route, out *Outcome) (err error) {
	if out.Detail, err = s.details(ctx, r); err != nil {
		return err
	}
	return errUnchanged
}

// apply gives r what p names, but for the graph.
func (p Patch) apply(r *Route) {
	patch.Set(&r.Name, p.Name)
	patch.Set(&r.Slug, p.Slug)
	patch.Set(&r.Description, p.Description)
	patch.Set(&r.Status, p.Status)
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }

func changeOf(by audit.By, action string, route id.Route) *deploy.Change {
	return deploy.NewChange(by, action, "dynamic_route", route.String())
}
