package dynamicroute

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Store keeps routes. Every method of these interfaces is called inside a
// transaction of ws and sees nothing else.
type Store interface {
	// Create fails with conflict at "name" or "slug" when that is taken.
	Create(ctx context.Context, ws id.Workspace, r Route) error
	// Get returns deleted ones too. It fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route) (Route, error)
	// Update replaces all but the id and the creation time where the stored
	// version is one less; else precondition_failed, or not_found.
	Update(ctx context.Context, ws id.Workspace, r Route) error
	// Touch raises the version of routes whose keys changed through another.
	Touch(ctx context.Context, ws id.Workspace, routes []id.Route) error
}

// Directory looks over the routes that are not deleted.
type Directory interface {
	// List is newest change first.
	List(ctx context.Context, ws id.Workspace, q page.Query, f Filter) (page.Result[Listed], error)
	Count(ctx context.Context, ws id.Workspace) (int, error)
	SlugTaken(ctx context.Context, ws id.Workspace, slug string) (bool, error)
}

// Listed is a route in a list.
type Listed struct {
	Route
	Keys    int      // how many are attached to it
	Rollout Underway // zero where none is open
}

// Versions keeps what was saved.
type Versions interface {
	Add(ctx context.Context, ws id.Workspace, v Version) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route, number int) (Version, error)
	// List is newest first, without graphs and slots.
	List(ctx context.Context, ws id.Workspace, route id.Route, q page.Query) (page.Result[Version], error)
	// Mark sets the status. It fails with not_found.
	Mark(ctx context.Context, ws id.Workspace, route id.Route, number int, status VersionStatus) error
}

// Deployments keeps the log.
type Deployments interface {
	Add(ctx context.Context, ws id.Workspace, d Deployment) error
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route, number int) (Deployment, error)
	// MarkRolledBack fails with not_found.
	MarkRolledBack(ctx context.Context, ws id.Workspace, route id.Route, number int) error
}

// Keys attaches API keys.
type Keys interface {
	// Attached lists the keys of a route that are not revoked, sorted.
	Attached(ctx context.Context, ws id.Workspace, route id.Route) ([]id.Key, error)
	// Attachable returns those of keys that are there and not revoked, each
	// with the route that it is attached to now.
	Attachable(ctx context.Context, ws id.Workspace, keys []id.Key) ([]Attachment, error)
	// Attach attaches keys to a route, or to none by the zero id, as the change
	// of a revision, and returns their kids.
	Attach(ctx context.Context, ws id.Workspace, route id.Route, keys []id.Key, revision int64, at time.Time) ([]string, error)
}

// Attachment is a key and the route that it is attached to, zero for none.
type Attachment struct {
	Key   id.Key
	Route id.Route
}

// Rollouts are the staged rollouts of routes, as far as a change of a route
// meets them.
type Rollouts interface {
	// Underway is the rollout that is open, zero for none.
	Underway(ctx context.Context, ws id.Workspace, route id.Route) (Underway, error)
	// Open are those of routes that have one open.
	Open(ctx context.Context, ws id.Workspace, routes []id.Route) (map[id.Route]Underway, error)
	// Suspend pauses the open rollout where it runs.
	Suspend(ctx context.Context, ws id.Workspace, route id.Route, at time.Time) error
	// Abort ends the open rollout.
	Abort(ctx context.Context, ws id.Workspace, route id.Route, at time.Time) error
}

// Underway is a rollout that is open.
type Underway struct {
	ID      id.Rollout
	Version int          // that is rolled out
	Percent flow.Percent // the share that it gets now
	Paused  bool
}
