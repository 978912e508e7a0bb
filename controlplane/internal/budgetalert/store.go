package budgetalert

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps the shares and what was told, inside a transaction of ws.
type Store interface {
	// Shares are what is set; the default where nothing is.
	Shares(ctx context.Context, ws id.Workspace) (Shares, error)
	// SetShares replaces them where the stored version is one less; else
	// precondition_failed.
	SetShares(ctx context.Context, ws id.Workspace, s Shares) error
	// Untold are those that are not kept yet.
	Untold(ctx context.Context, ws id.Workspace, list []Alert) ([]Alert, error)
	// Note keeps an alert, and reports false when there is one already of the same
	// limit, window, share and amount.
	Note(ctx context.Context, ws id.Workspace, a Alert) (fresh bool, err error)
	// Alerts is newest first.
	Alerts(ctx context.Context, ws id.Workspace, q page.Query) (page.Result[Alert], error)
}

// Limits knows the limits on costs, inside a transaction of ws.
type Limits interface {
	// Limits are the budgets of the workspace, and the limits of those of the keys
	// that have any; all: of every key.
	Limits(ctx context.Context, ws id.Workspace, keys []id.Key, all bool) ([]Limit, error)
}

// Spenders looks over all workspaces, inside a system transaction.
type Spenders interface {
	// Spenders are the workspaces that spent something on the UTC day of at, after
	// one, sorted, at most limit.
	Spenders(ctx context.Context, at time.Time, after id.Workspace, limit int) ([]id.Workspace, error)
	// Sweep removes at most limit alerts of windows that began before, and returns
	// how many. Those of lifetimes stay.
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)
}

// Queue puts events on their way, inside the caller's transaction.
type Queue interface {
	Add(ctx context.Context, e webhook.Event) error
}
