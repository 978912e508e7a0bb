package rollout

import (
	"context"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/controlplane/internal/routing"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps rollouts. Every method is called inside a transaction of ws and
// sees nothing else.
type Store interface {
	// Create fails with conflict when the route has an open one.
	Create(ctx context.Context, ws id.Workspace, r Rollout) error
	// Latest is the open one of a route, else the newest. It fails with not_found.
	Latest(ctx context.Context, ws id.Workspace, route id.Route) (Rollout, error)
	// Update replaces where it stands, where the stored version is one less;
	// else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, r Rollout) error
	// List is newest first.
	List(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[Rollout], error)
	// Cells are the counts of all its steps.
	Cells(ctx context.Context, ws id.Workspace, rollout id.Rollout) ([]tally.Cell, error)
}

// Docket is what the judge reads, of all workspaces.
type Docket interface {
	// Open lists the rollouts that are open, with their counts.
	Open(ctx context.Context) ([]Case, error)
}

// Case is a rollout to judge.
type Case struct {
	Rollout Rollout
	Cells   []tally.Cell
}

// Routes is what rollouts need of dynamic routes. All but NamesFor is called
// inside a transaction of ws.
type Routes interface {
	// NamesFor are the catalog of now and the presets that a version names.
	NamesFor(ctx context.Context, ws id.Workspace, route id.Route, number int) (*routing.Names, error)
	// Candidate returns the version that is deployed beside a version that could
	// be too. It fails with not_found, and with conflict where the route is
	// paused, nothing or the version itself is deployed, the version does not
	// fit the catalog, or one is being rolled out.
	Candidate(ctx context.Context, ws id.Workspace, route id.Route, number int, names *routing.Names) (stable int, warnings []flow.Problem, err error)
	// Serving fails with conflict where the route is paused, and with not_found
	// where it is none.
	Serving(ctx context.Context, ws id.Workspace, route id.Route) error
	// Promote deploys a version.
	Promote(ctx context.Context, ws id.Workspace, route id.Route, number int, by audit.By) ([]audit.Change, error)
	// Known fails with not_found where there never was such a route.
	Known(ctx context.Context, ws id.Workspace, route id.Route) error
}
