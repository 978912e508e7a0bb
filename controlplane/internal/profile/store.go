package profile

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps profiles. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Create fails with conflict at "name" when the name is taken.
	Create(ctx context.Context, ws id.Workspace, p Profile) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, profile id.Profile) (Profile, error)
	// Update replaces name and routing where the stored version is one less;
	// else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, p Profile) error
	// Delete fails with not_found, and with conflict while something is bound
	// to the profile. What is revoked lets go of it.
	Delete(ctx context.Context, ws id.Workspace, profile id.Profile) error
}

// Directory looks over all of a workspace, inside a transaction of it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Profile], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
	Bindings(ctx context.Context, ws id.Workspace, profile id.Profile) (Bindings, error)
}
