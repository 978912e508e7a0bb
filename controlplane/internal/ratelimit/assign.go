package ratelimit

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Assign lets a policy hold for a target. Of another workspace's policy or
// target it says what it says of one that does not exist.
func (s *Service) Assign(ctx context.Context, ws id.Workspace, by audit.By, policy id.RatePolicy, t Target) (Assignment, publication.Publication, error) {
	a := Assignment{ID: id.New[id.RateAssignmentKind](s.d.IDs), Workspace: ws, Policy: policy, Target: t, CreatedAt: s.now()}
	c := assignmentChange(by, "rate_limit_assignment.create", a.ID)
	c.Diff = assignmentDiff(Assignment{}, a)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Assignment, error) {
		if err := s.assignable(ctx, ws, a); err != nil {
			return Assignment{}, err
		}
		if err := s.room(ctx, ws, t); err != nil {
			return Assignment{}, err
		}
		return a, s.d.Assignments.Add(ctx, ws, a)
	})
}

// Assignment returns one assignment.
func (s *Service) Assignment(ctx context.Context, ws id.Workspace, assignment id.RateAssignment) (Assignment, error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (Assignment, error) {
		return s.d.Assignments.Get(ctx, ws, assignment)
	})
}

// Assigned returns a page of assignments, newest first.
func (s *Service) Assigned(ctx context.Context, ws id.Workspace, q page.Query, f AssignmentFilter) (page.Result[Assignment], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Assignment], error) {
		return s.d.Assignments.List(ctx, ws, q, f)
	})
}

// Unassign takes a policy off a target.
func (s *Service) Unassign(ctx context.Context, ws id.Workspace, assignment id.RateAssignment, by audit.By) (publication.Publication, error) {
	c := assignmentChange(by, "rate_limit_assignment.delete", assignment)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		before, err := s.d.Assignments.Get(ctx, ws, assignment)
		if err != nil {
			return err
		}
		c.Diff = assignmentDiff(before, Assignment{})
		return s.d.Assignments.Remove(ctx, ws, assignment)
	})
}

// assignable refuses a policy or a target that is not there.
func (s *Service) assignable(ctx context.Context, ws id.Workspace, a Assignment) error {
	var v rule.Violations
	switch _, err := s.d.Store.Get(ctx, ws, a.Policy); {
	case fault.Is(err, fault.NotFound):
		v.Add("policy_id", rule.NotAllowed, "is no rate-limit policy of this workspace")
	case err != nil:
		return err
	}
	there, err := s.d.Targets.Assignable(ctx, ws, a.Target)
	if err != nil {
		return err
	}
	if !there {
		v.Add("target_id", rule.NotAllowed, absent(a.Target.Type))
	}
	return v.Err()
}

// room refuses more assignments than a snapshot should carry, or a request
// should be counted toward.
func (s *Service) room(ctx context.Context, ws id.Workspace, t Target) error {
	all, to, err := s.d.Targets.Assigned(ctx, ws, t)
	switch {
	case err != nil:
		return err
	case all >= MaxAssignments:
		return fault.Newf(fault.Conflict, "The rate-limit policies of the workspace are assigned %d times, which is the most. "+
			"Assign one to departments or members instead of their keys.", all)
	case to >= MaxOfTarget:
		return fault.Newf(fault.Conflict, "It has %d rate-limit policies already, which is the most.", to)
	}
	return nil
}

func absent(t TargetType) string {
	if t == ToKey {
		return "is no API key of this workspace, or a revoked one"
	}
	return "is no " + string(t) + " of this workspace"
}
