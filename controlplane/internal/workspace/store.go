package workspace

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps one workspace and its members. Every method is called inside a
// transaction of that workspace and sees nothing else.
type Store interface {
	// Create adds the workspace, its revision row at 0, and the owner; newUser
	// says whether the owner's user is added too. conflict with path "slug" or
	// "owner.email" when taken.
	Create(ctx context.Context, w Workspace, owner Member, newUser bool) error
	// Get fails with not_found, also for a deleted workspace.
	Get(ctx context.Context, ws id.Workspace) (Workspace, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, w Workspace) error
	// Members lists newest first.
	Members(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Member], error)
	// Member fails with not_found.
	Member(ctx context.Context, ws id.Workspace, user id.User) (Member, error)
}

// Directory looks across workspaces. It is called inside a system transaction.
type Directory interface {
	// List is newest first and includes deleted workspaces.
	List(ctx context.Context, q page.Query) (page.Result[Workspace], error)
	// UserByEmail fails with not_found.
	UserByEmail(ctx context.Context, email string) (id.User, error)
}

// Settings gives a new workspace its first settings, inside its transaction.
type Settings interface {
	Seed(ctx context.Context, ws id.Workspace, at time.Time) error
}

// Revoker ends every credential of one kind when a workspace is deleted,
// inside its transaction, and returns the kids that must be published again.
type Revoker interface {
	RevokeAll(ctx context.Context, ws id.Workspace, revision int64, at time.Time) ([]string, error)
}
