package rate

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store is where all gateways count. Its failures leave open what was counted.
type Store interface {
	// Mark adds to the number that names the epoch, 0 for none, and returns it as
	// the store's leader knows it, with a moment since the call by the store's clock.
	Mark(ctx context.Context, by uint64) (epoch uint64, at time.Time, err error)
	// Add counts all of some increments in an epoch, in one wait, and notes what
	// came of each. Of those with one name one counts. It fails when not all were
	// answered.
	Add(ctx context.Context, epoch uint64, list []Increment) error
	// Read visits what the epoch has of some minutes, by their place in the list,
	// but for those that have nothing, and returns the epoch that counts. It may be
	// behind in all of it.
	Read(ctx context.Context, epoch uint64, list []Ref, visit func(i int, counts *wire.RateMinute)) (now uint64, err error)
	// OnConnect calls fn, which must not block, when the store is reached again.
	OnConnect(fn func()) (cancel func())
}

// Ref names what a subject used in a minute since 1970. The name is a token.
type Ref struct {
	Workspace id.Workspace
	Name      string
	Minute    int64
}

// Increment is what a gateway adds to a minute.
type Increment struct {
	Ref
	ID string
	By *wire.RateMinute

	Taken bool // it counts, now or since before
	Told  bool // Total is what the minute has with it
	Total wire.RateMinute
}
