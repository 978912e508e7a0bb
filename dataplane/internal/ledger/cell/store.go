package cell

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store is where the documents are. Its failures leave open whether a write was
// made, but for ErrConflict.
type Store interface {
	// Load returns what a subject holds, as the store's leader has it; nothing at
	// all is a Stored with sequence 0.
	Load(ctx context.Context, subject string) (Stored, error)
	// Save replaces what a subject holds, if the sequence of that is still before,
	// and returns the new one. It fails with ErrConflict when somebody else wrote.
	Save(ctx context.Context, subject string, body []byte, before uint64, life time.Duration) (uint64, error)
	// Time is the present by the store's clock, at some time during the call.
	Time(ctx context.Context) (time.Time, error)
	// OnConnect calls fn, which must not block, when the store is reached again.
	OnConnect(fn func()) (cancel func())
	// Listen calls fn, which must not block, for every heartbeat of a gateway, until
	// stop has returned.
	Listen(fn func(wire.Heartbeat)) (stop func(), err error)
}

// Stored is what a subject holds.
type Stored struct {
	Body     []byte
	Sequence uint64
}

// ErrConflict says that somebody else has written.
var ErrConflict = errors.New("another gateway has written")
