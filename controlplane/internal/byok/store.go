package byok

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Store keeps credentials. Every method is called inside a transaction of ws
// and sees nothing else.
type Store interface {
	Create(ctx context.Context, ws id.Workspace, c Credential) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, credential id.Credential) (Credential, error)
	// Update replaces the changeable fields where the stored version is one
	// less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, c Credential) error
	// Delete removes the row where it has c's version; else
	// precondition_failed, or not_found.
	Delete(ctx context.Context, ws id.Workspace, c Credential) error
}

// Directory looks over all of a workspace, inside a transaction of it.
type Directory interface {
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Credential], error)
	// All is ordered by provider, use and position.
	All(ctx context.Context, ws id.Workspace) ([]Credential, error)
	// Missing are those of the ids that name no API key of the workspace.
	Missing(ctx context.Context, ws id.Workspace, keys []id.Key) ([]id.Key, error)
}

// Sealer seals what only gateways open.
type Sealer interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
}

// Source gives the catalog that is offered now. It may read the database, so it
// is asked before a transaction is begun, and what it gave is used inside.
type Source interface {
	View(ctx context.Context) (*catalog.View, error)
}
