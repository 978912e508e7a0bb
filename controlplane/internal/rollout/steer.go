package rollout

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Pause keeps a rollout at its step. The candidate keeps its share, and the
// guard holds on.
func (s *Service) Pause(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error) {
	return s.steer(ctx, ws, route, changeOf(by, "pause", route), ifMatch, func(_ context.Context, r *Rollout) error {
		if r.State == Paused {
			return errUnchanged
		}
		r.State = Paused
		return nil
	})
}

// Resume has a paused rollout go on. The present step is held anew; what was
// counted in it stays counted. It is a conflict while the route is paused.
func (s *Service) Resume(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error) {
	return s.steer(ctx, ws, route, changeOf(by, "resume", route), ifMatch, func(ctx context.Context, r *Rollout) error {
		if r.State == Running {
			return errUnchanged
		}
		if err := s.d.Routes.Serving(ctx, ws, route); err != nil {
			return err
		}
		r.State, r.StepBegan = Running, s.now()
		return nil
	})
}

// Abort ends a rollout: everyone is sent through the stable version again.
func (s *Service) Abort(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error) {
	return s.steer(ctx, ws, route, changeOf(by, "abort", route), ifMatch, func(_ context.Context, r *Rollout) error {
		r.State = Aborted
		return nil
	})
}

// Advance goes on to the next step at once, or deploys the candidate at the last
// one, without regard to how long and by how many requests the present step was
// tried.
func (s *Service) Advance(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error) {
	c := changeOf(by, "advance", route)
	return s.steer(ctx, ws, route, c, ifMatch, func(ctx context.Context, r *Rollout) error {
		if r.State != Running {
			return fault.New(fault.Conflict, "The rollout is paused. Resume it before it can advance.")
		}
		return s.onward(ctx, r, c, by)
	})
}

// steer is change on behalf of a caller.
func (s *Service) steer(
	ctx context.Context, ws id.Workspace, route id.Route, c *deploy.Change, ifMatch *int64, edit func(ctx context.Context, r *Rollout) error,
) (Outcome, error) {
	return s.change(ctx, c, ws, route, func(ctx context.Context, r *Rollout, _ Arms) error {
		if !r.State.Open() {
			return fault.Newf(fault.Conflict, "The rollout has ended: it is %s. Nothing was changed.", r.State)
		}
		if err := txn.Match(ifMatch, r.Version); err != nil {
			return err
		}
		return edit(ctx, r)
	})
}

// onward takes r to its next step, or to its end as the deployed version.
func (s *Service) onward(ctx context.Context, r *Rollout, c *deploy.Change, by audit.By) (err error) {
	if !r.Last() {
		r.Step, r.StepBegan = r.Step+1, s.now()
		return nil
	}
	r.State = Completed
	c.Diff, err = s.d.Routes.Promote(ctx, r.Workspace, r.Route, r.Candidate, by)
	return err
}

// Settle does what the judge found about a rollout as it was when it was judged.
// Where it has changed since nothing is done.
func (s *Service) Settle(ctx context.Context, judged Rollout, v Verdict) (Outcome, error) {
	actions := map[Act]string{Advance: "advance", Complete: "complete", RollBack: "roll_back"}
	c := changeOf(itself, actions[v.Act], judged.Route)
	return s.change(ctx, c, judged.Workspace, judged.Route, func(ctx context.Context, r *Rollout, _ Arms) error {
		if r.ID != judged.ID || r.Version != judged.Version {
			return errUnchanged
		}
		switch v.Act {
		case Advance, Complete:
			return s.onward(ctx, r, c, itself)
		case RollBack:
			r.State, r.Evidence = RolledBack, &v.Evidence
			return nil
		case Wait:
		}
		return errUnchanged
	})
}

// Steering is a change of an open rollout on behalf of a caller. A rollout that
// is so already is unchanged.
type Steering func(ctx context.Context, ws id.Workspace, route id.Route, by audit.By, ifMatch *int64) (Outcome, error)
