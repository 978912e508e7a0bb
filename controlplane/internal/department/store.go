package department

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
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
	// Delete fails with not_found, and with conflict while a key belongs to the
	// department. Revoked keys let go of it.
	Delete(ctx context.Context, ws id.Workspace, department id.Department) error
}

// Directory looks over all of a workspace, inside a transaction of it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Department], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
	Members(ctx context.Context, ws id.Workspace, department id.Department) (Members, error)
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

// Mutator runs fn in the transaction that raises the workspace's revision, and
// records and publishes the change.
type Mutator interface {
	Mutate(ctx context.Context, ws id.Workspace, change *deploy.Change, fn func(ctx context.Context, revision int64) error) (publication.Publication, error)
}
