package override

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Kept is how many versions stay readable, the present one among them.
const Kept = 100

// Store changes the overrides, inside a system transaction.
type Store interface {
	// Lock makes changes happen one after the other until the transaction ends.
	Lock(ctx context.Context) error
	// Latest is the present version, the zero State when there is none.
	Latest(ctx context.Context) (State, error)
	// Append adds a version with its event, and wakes the publisher.
	Append(ctx context.Context, s State, e audit.Event) error
	// Trim keeps the newest versions, and sealed keys with the present one alone:
	// an earlier one only remembers which providers had a key.
	Trim(ctx context.Context, present int64, keep int) error
}

// History tells what was, inside a system transaction.
type History interface {
	// At fails with not_found.
	At(ctx context.Context, version int64) (State, error)
	// Covering is the first revision that has the version; 0 when none does.
	Covering(ctx context.Context, version int64) (int64, error)
	// Events lists what was changed, newest first.
	Events(ctx context.Context, q page.Query) (page.Result[audit.Event], error)
}

// Releases are the overrides on their way out, inside a system transaction.
type Releases interface {
	// Version is Latest's, 0 when there is none.
	Version(ctx context.Context) (int64, error)
	// Latest is the present version, the zero State when there is none.
	Latest(ctx context.Context) (State, error)
	// Published notes with which revision of the catalog a version, and those
	// before it, first went out.
	Published(ctx context.Context, version, revision int64, at time.Time) error
}

// Sealer seals provider keys, so that only gateways can open them.
type Sealer interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
}
