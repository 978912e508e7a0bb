package wallet

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps wallets. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Get fails with not_found where there is no such workspace.
	Get(ctx context.Context, ws id.Workspace) (Wallet, error)
	// Lock is Get, and keeps others from adding entries until the transaction
	// ends.
	Lock(ctx context.Context, ws id.Workspace) (Wallet, error)
	// SetOwn stores w.Own where the stored version is one less; else
	// precondition_failed.
	SetOwn(ctx context.Context, ws id.Workspace, w Wallet) error
}

// Entries keeps the entries of wallets. Every method is called inside a
// transaction of ws and sees nothing else.
type Entries interface {
	// Append adds e to the wallet that Lock gave, which then is w.
	Append(ctx context.Context, ws id.Workspace, w Wallet, e Entry) error
	// ByReference fails with not_found.
	ByReference(ctx context.Context, ws id.Workspace, reference string) (Entry, error)
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Entry], error)
}

// Counter counts what the fee for own credentials goes by.
type Counter interface {
	// OwnRequests is how many completed requests the workspace's own credentials
	// served in the UTC month of now. It is called inside a transaction of ws.
	OwnRequests(ctx context.Context, ws id.Workspace, now time.Time) (int64, error)
}
