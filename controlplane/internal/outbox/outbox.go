// Package outbox owns the words between a committed change and the publisher:
// what waits and what was done with it. It knows nothing of SQL or NATS.
package outbox

import (
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Channel is the Postgres notification channel that wakes the publisher.
const Channel = "signalbox_outbox"

// Batch is everything that waits for one workspace. Publishing its committed
// state once serves all of it.
type Batch struct {
	Workspace    id.Workspace
	Publications []publication.Publication // ascending by revision
}

// Done says that a workspace's committed state at Revision is in NATS, which
// covers every change up to it.
type Done struct {
	Workspace id.Workspace
	Revision  int64
	At        time.Time
	Keys      wire.Position // zero when no key document was written
	Policy    wire.Position
}

// Raise says that what was compiled of a workspace cannot be published: NATS
// holds Above, which the database does not know to be published.
type Raise struct {
	Workspace id.Workspace
	Compiled  int64
	Above     int64
}
