package dynamicroute

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// settled refuses to change what is deployed while a version is rolled out
// beside it.
func (s *Service) settled(ctx context.Context, r Route) error {
	u, err := s.d.Rollouts.Underway(ctx, r.Workspace, r.ID)
	if err != nil || u.ID.IsZero() {
		return err
	}
	return fault.Newf(fault.Conflict, "Version %d of the dynamic route is being rolled out (%s). Abort that first, or wait for its end.", u.Version, u.ID)
}

// suspend pauses the rollout of a route that is paused. It is resumed by itself
// only, so that nobody's share begins to grow by surprise.
func (s *Service) suspend(ctx context.Context, r Route) ([]audit.Change, error) {
	u, err := s.d.Rollouts.Underway(ctx, r.Workspace, r.ID)
	if err != nil || u.ID.IsZero() || u.Paused {
		return nil, err
	}
	return []audit.Change{
		{Path: "rollout", Before: u.ID.String(), After: u.ID.String()}, {Path: "rollout.state", Before: "running", After: "paused"},
	}, s.d.Rollouts.Suspend(ctx, r.Workspace, r.ID, s.now())
}

// abort ends the rollout of a route that is deleted.
func (s *Service) abort(ctx context.Context, r Route) ([]audit.Change, error) {
	u, err := s.d.Rollouts.Underway(ctx, r.Workspace, r.ID)
	if err != nil || u.ID.IsZero() {
		return nil, err
	}
	state := "running"
	if u.Paused {
		state = "paused"
	}
	return []audit.Change{
		{Path: "rollout", Before: u.ID.String(), After: u.ID.String()}, {Path: "rollout.state", Before: state, After: "aborted"},
	}, s.d.Rollouts.Abort(ctx, r.Workspace, r.ID, s.now())
}

// Known fails with not_found where there never was such a route. It is called in
// a transaction of ws, as Candidate and Promote are.
func (s *Service) Known(ctx context.Context, ws id.Workspace, route id.Route) error {
	_, err := s.d.Store.Get(ctx, ws, route)
	return err
}

// Candidate returns the version that is deployed beside a version that is to be
// rolled out. It is a conflict where the route is paused, nothing or the version
// itself is deployed, the version does not fit the catalog, which is names, or
// one is being rolled out.
func (s *Service) Candidate(ctx context.Context, ws id.Workspace, route id.Route, number int, names *routing.Names) (int, []Warning, error) {
	r, err := s.live(ctx, ws, route)
	if err != nil {
		return 0, nil, err
	}
	v, err := s.version(ctx, ws, route, number)
	if err != nil {
		return 0, nil, err
	}
	switch {
	case r.Status == Paused:
		return 0, nil, errPaused
	case r.Deployed == 0:
		return 0, nil, fault.New(fault.Conflict, "Nothing is deployed, so there is nothing to roll a version out beside. Deploy it.")
	case r.Deployed == number:
		return 0, nil, fault.Newf(fault.Conflict, "Version %d is deployed.", number)
	}
	warnings, err := s.fits(ctx, v, names)
	if err != nil {
		return 0, nil, err
	}
	return r.Deployed, warnings, s.settled(ctx, r)
}

var errPaused = fault.New(fault.Conflict, "The dynamic route is paused. Resume it first: there are no requests to judge a version by.")

// Serving fails with conflict where the route is paused: what is rolled out
// would go on by what was counted before.
func (s *Service) Serving(ctx context.Context, ws id.Workspace, route id.Route) error {
	r, err := s.live(ctx, ws, route)
	if err == nil && r.Status == Paused {
		return errPaused
	}
	return err
}

// Promote deploys a version at the end of its rollout. It is not held against
// the catalog again: requests go through it already.
func (s *Service) Promote(ctx context.Context, ws id.Workspace, route id.Route, number int, by audit.By) ([]audit.Change, error) {
	r, err := s.live(ctx, ws, route)
	if err != nil {
		return nil, err
	}
	changes, err := s.put(ctx, &r, Deployment{Version: number, Beneath: r.Deployment}, by)
	if err != nil {
		return nil, err
	}
	r.Version, r.UpdatedAt, r.Turn = r.Version+1, s.now(), id.New[id.RouteKind](s.d.IDs)
	return changes, s.d.Store.Update(ctx, ws, r)
}
