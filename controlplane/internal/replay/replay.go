// Package replay owns the answer to what another version of a dynamic route
// would do with the recorded traffic of the route's keys: it puts each request
// before the function that decides live ones, once under the deployed version
// and once under the other. It knows nothing of SQL or HTTP.
package replay

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Request is what the log has of one of a caller's requests.
type Request struct {
	ID       id.Request
	Started  time.Time
	Key      id.Key
	Surface  catalog.Surface
	Stream   bool
	Usage    meter.Usage // of its first model
	Decision []byte      // decide.Record as JSON; nil when there is none
}

// Log reads the request log. It is called inside a transaction of ws.
type Log interface {
	// Requests calls each with requests of keys that began at since or later,
	// newest first, at most limit, and ends with its first error.
	Requests(ctx context.Context, ws id.Workspace, keys []id.Key, since time.Time, limit int, each func(*Request) error) error
	// Durations is the median duration by endpoint of the workspace's requests
	// since then that succeeded.
	Durations(ctx context.Context, ws id.Workspace, since time.Time) (map[string]time.Duration, error)
}

// Routes reads dynamic routes. It is called inside a transaction of ws.
type Routes interface {
	// Get returns deleted ones too. It fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route) (dynamicroute.Route, error)
}

// Versions reads versions of routes. It is called inside a transaction of ws.
type Versions interface {
	// Get fails with not_found.
	Get(ctx context.Context, ws id.Workspace, route id.Route, number int) (dynamicroute.Version, error)
}

// Keys reads the keys of routes. It is called inside a transaction of ws.
type Keys interface {
	// Documents are those of the keys of a route that are not revoked.
	Documents(ctx context.Context, ws id.Workspace, route id.Route) ([]policy.Key, error)
}

// Policies compiles committed policy. It is called inside a transaction of ws.
type Policies interface {
	Policy(ctx context.Context, ws id.Workspace) (policy.Snapshot, error)
}

// The bounds of a replay.
const (
	DefaultLimit = 1000
	MaxLimit     = 10_000 // requests
	DefaultSpan  = 24 * time.Hour
)

// Query says which requests are replayed.
type Query struct {
	Since time.Time // zero: DefaultSpan ago; not older than the log is kept
	Limit int       // 0: DefaultLimit; the newest are taken
}
