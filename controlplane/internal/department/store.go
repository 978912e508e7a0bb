package department

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps departments. Every method is called inside a transaction of ws
// and sees nothing else.
type Store interface {
	// Create fails with conflict at "name" when the name is taken.
	Create(ctx context.Context, ws id.Workspace, d Department) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, department id.Department) (Department, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, d Department) error
	// Delete fails with not_found, and with conflict while something uses the
	// department. Revoked keys let go of it.
	Delete(ctx context.Context, ws id.Workspace, department id.Department) error
}

// Directory looks over all of a workspace, inside a transaction of it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Department], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
	Uses(ctx context.Context, ws id.Workspace, department id.Department) (Uses, error)
}

// Roster keeps who belongs to departments. Every method is called inside a
// transaction of ws and sees nothing else.
type Roster interface {
	// Put adds m, or replaces the position and the override of one that is there.
	Put(ctx context.Context, ws id.Workspace, m Member) error
	// Remove fails with not_found.
	Remove(ctx context.Context, ws id.Workspace, department id.Department, user id.User) error
	// List is in the order of the users' ids, newest first.
	List(ctx context.Context, ws id.Workspace, department id.Department, q page.Query) (page.Result[Member], error)
	// Of are the memberships of one user, in the order of the departments.
	Of(ctx context.Context, ws id.Workspace, user id.User) ([]Member, error)
	// Count counts all memberships of the workspace.
	Count(ctx context.Context, ws id.Workspace) (int, error)
}

// People says who is a member of the workspace.
type People interface {
	// Bindable fails with not_found where ws has no such member. It is called
	// inside a transaction of ws.
	Bindable(ctx context.Context, ws id.Workspace, user id.User) error
}

// Profiles says which routing profiles there are.
type Profiles interface {
	// Bindable fails with not_found where ws has no such profile. It is called
	// inside a transaction of ws.
	Bindable(ctx context.Context, ws id.Workspace, profile id.Profile) error
}

// Budgets are about departments.
type Budgets interface {
	// ReleaseDepartment deletes those of a department that is to be deleted, and says
	// which. It is called inside a transaction of ws.
	ReleaseDepartment(ctx context.Context, ws id.Workspace, department id.Department) ([]id.Budget, error)
}
