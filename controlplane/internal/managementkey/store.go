package managementkey

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps keys. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	Create(ctx context.Context, ws id.Workspace, k Key) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, key id.ManagementKey) (Key, error)
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Key], error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, k Key) error
}

// Directory looks across workspaces. It is called inside a system transaction.
type Directory interface {
	// ByKID returns the key and its creator's membership; a zero Member when
	// there is none any more. It fails with not_found.
	ByKID(ctx context.Context, kid string) (Key, workspace.Member, error)
	// Touch notes when the key was used.
	Touch(ctx context.Context, key id.ManagementKey, at time.Time) error
}
