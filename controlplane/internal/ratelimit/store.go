package ratelimit

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps policies. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Create fails with conflict at "name" when the name is taken.
	Create(ctx context.Context, ws id.Workspace, p Policy) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, policy id.RatePolicy) (Policy, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, p Policy) error
	// Delete fails with not_found, and with conflict while the policy is assigned.
	Delete(ctx context.Context, ws id.Workspace, policy id.RatePolicy) error
}

// Directory looks over the policies of a workspace, inside a transaction of it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Policy], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
}

// Assignments keeps assignments. Every method is called inside a transaction of
// ws and sees nothing else.
type Assignments interface {
	// Add fails with conflict when the target has the policy already.
	Add(ctx context.Context, ws id.Workspace, a Assignment) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, assignment id.RateAssignment) (Assignment, error)
	// Remove fails with not_found.
	Remove(ctx context.Context, ws id.Workspace, assignment id.RateAssignment) error
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f AssignmentFilter) (page.Result[Assignment], error)
}

// Targets looks over the assignments of a workspace, and over what there is to
// assign to, inside a transaction of it.
type Targets interface {
	// Assignable reports whether the target is there; a revoked key is not.
	Assignable(ctx context.Context, ws id.Workspace, t Target) (bool, error)
	// Assigned counts all assignments of the workspace, and those to t.
	Assigned(ctx context.Context, ws id.Workspace, t Target) (all, to int, err error)
	// Uses are the assignments of a policy.
	Uses(ctx context.Context, ws id.Workspace, policy id.RatePolicy) (Uses, error)
}
