package rollout

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Deps are what a Service works with.
type Deps struct {
	Runner  txn.Runner
	Store   Store
	Routes  Routes
	Mutator *deploy.Mutator
	IDs     *id.Source
	Now     func() time.Time
}

// Service begins, steers and shows rollouts. Its failures are validation_error,
// not_found, conflict (the route has one, or it has ended, or what is asked for
// does not go with its state), precondition_failed and unavailable.
type Service struct{ d Deps }

// NewService returns a Service over d.
func NewService(d Deps) *Service { return &Service{d: d} }

// Outcome is what a change came to.
type Outcome struct {
	Detail      Detail
	Warnings    []flow.Problem // of the candidate
	Publication publication.Publication
	Unchanged   bool // nothing had to be done, so there is no publication
}

// errUnchanged ends a transaction that found nothing to do.
var errUnchanged = errors.New("nothing to change")

// Start begins to roll a version out, at the first step of p.
func (s *Service) Start(ctx context.Context, ws id.Workspace, route id.Route, candidate int, by audit.By, p Plan) (Outcome, error) {
	if err := p.check(); err != nil {
		return Outcome{}, err
	}
	names, err := s.d.Routes.NamesFor(ctx, ws, route, candidate)
	if err != nil {
		return Outcome{}, err
	}
	now := s.now()
	r := Rollout{
		ID: id.New[id.RolloutKind](s.d.IDs), Workspace: ws, Route: route, Candidate: candidate, Steps: p.Steps, Guard: p.Guard,
		State: Running, StepBegan: now, CreatedBy: by.User, CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	var out Outcome
	c := changeOf(by, "start", route)
	out.Publication, err = s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		if r.Stable, out.Warnings, err = s.d.Routes.Candidate(ctx, ws, route, candidate, names); err != nil {
			return err
		}
		c.Diff = begun(r)
		return s.d.Store.Create(ctx, ws, r)
	})
	if err != nil {
		return Outcome{}, err
	}
	out.Detail = Detail{Rollout: r, Waiting: ForHold}
	return out, nil
}

// Current is the newest rollout of a route, with what it is judged by now, or
// was ended on. It fails with not_found where there never was one.
func (s *Service) Current(ctx context.Context, ws id.Workspace, route id.Route) (Detail, error) {
	var d Detail
	err := s.d.Runner.Read(ctx, ws, func(ctx context.Context) error {
		if err := s.d.Routes.Known(ctx, ws, route); err != nil {
			return err
		}
		r, err := s.latest(ctx, ws, route)
		if err != nil {
			return err
		}
		d, err = s.detail(ctx, r)
		return err
	})
	return d, err
}

func (s *Service) latest(ctx context.Context, ws id.Workspace, route id.Route) (Rollout, error) {
	r, err := s.d.Store.Latest(ctx, ws, route)
	if fault.Is(err, fault.NotFound) {
		return r, fault.Wrap(err, fault.NotFound, "No version of the dynamic route was ever rolled out in steps.")
	}
	return r, err
}

func (s *Service) detail(ctx context.Context, r Rollout) (Detail, error) {
	if !r.State.Open() {
		d := Detail{Rollout: r}
		if r.Evidence != nil {
			d.Arms = r.Evidence.Arms
		}
		return d, nil
	}
	cells, err := s.d.Store.Cells(ctx, r.Workspace, r.ID)
	if err != nil {
		return Detail{}, err
	}
	a := armsOf(r, cells)
	return Detail{Rollout: r, Arms: a, Waiting: judge(s.d.Now(), r, a).Waiting}, nil
}

// History returns a page of a route's rollouts, newest first, of a deleted route
// too.
func (s *Service) History(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[Rollout], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Rollout], error) {
		if err := s.d.Routes.Known(ctx, ws, route); err != nil {
			return page.Result[Rollout]{}, err
		}
		return s.d.Store.List(ctx, ws, route, q)
	})
}

// change runs the shape that every change of an open rollout has: edit says what
// r becomes, with the counts of the moment.
func (s *Service) change(
	ctx context.Context, c *deploy.Change, ws id.Workspace, route id.Route, edit func(ctx context.Context, r *Rollout, a Arms) error,
) (Outcome, error) {
	var out Outcome
	pub, err := s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.latest(ctx, ws, route)
		if err != nil {
			return err
		}
		cells, err := s.d.Store.Cells(ctx, ws, before.ID)
		if err != nil {
			return err
		}
		c.Diff = nil
		after, a := before, armsOf(before, cells)
		if err := edit(ctx, &after, a); err != nil {
			if errors.Is(err, errUnchanged) {
				out.Detail = Detail{Rollout: before, Arms: a}
			}
			return err
		}
		after.Version, after.UpdatedAt = before.Version+1, s.now()
		if !after.State.Open() {
			after.EndedAt = &after.UpdatedAt
			if after.Evidence == nil {
				after.Evidence = &Evidence{Arms: a}
			}
		}
		evidence := Evidence{Arms: a}
		if after.Evidence != nil {
			evidence = *after.Evidence
		}
		c.Diff = append(c.Diff, moved(before, after, evidence)...)
		if err := s.d.Store.Update(ctx, ws, after); err != nil {
			return err
		}
		out.Detail, err = s.detail(ctx, after)
		return err
	})
	out.Publication, out.Unchanged = pub, errors.Is(err, errUnchanged)
	if err != nil && !out.Unchanged {
		return Outcome{}, err
	}
	return out, nil
}

func (s *Service) now() time.Time { return txn.Moment(s.d.Now()) }
