package reseal

import (
	"context"
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
)

// Seals look over all workspaces for what is sealed at places of one kind, such as
// workspaces, inside a system transaction.
type Seals[P any] interface {
	// Stale are the places with something whose seal begins with none of the marks.
	Stale(ctx context.Context, marks [][]byte) ([]P, error)
	// Count counts what is sealed by the keys that sealed it.
	Count(ctx context.Context) (Count, error)
}

// Walk is a Part that goes from place to place, each in transactions of its own.
type Walk[P fmt.Stringer] struct {
	system txn.System
	seals  Seals[P]
	places string
	one    func(ctx context.Context, place P, ring Keyring) (Report, error)
}

// NewWalk returns a walk over the places with seals, a word for which is places.
// What is stale at one of them is sealed anew by one.
func NewWalk[P fmt.Stringer](system txn.System, seals Seals[P], places string,
	one func(ctx context.Context, place P, ring Keyring) (Report, error),
) *Walk[P] {
	return &Walk[P]{system: system, seals: seals, places: places, one: one}
}

// Seals implements Part.
func (w *Walk[P]) Seals(ctx context.Context) (Count, error) {
	var count Count
	err := w.system.Read(ctx, func(ctx context.Context) (err error) {
		count, err = w.seals.Count(ctx)
		return err
	})
	return count, err
}

// Reseal implements Part. A place that fails keeps no other under the old key.
func (w *Walk[P]) Reseal(ctx context.Context, ring Keyring) (Report, error) {
	var stale []P
	err := w.system.Read(ctx, func(ctx context.Context) (err error) {
		stale, err = w.seals.Stale(ctx, ring.Marks())
		return err
	})
	if err != nil {
		return Report{}, err
	}
	var total Report
	var first error
	failed := 0
	for _, place := range stale {
		report, err := w.one(ctx, place, ring)
		if err != nil {
			if failed++; first == nil {
				first = fmt.Errorf("%s: %w", place, err)
			}
		}
		total.Done += report.Done
		total.Unopened = append(total.Unopened, report.Unopened...)
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
	}
	if first != nil {
		return total, fmt.Errorf("%d of %d %s, of which the first is %w", failed, len(stale), w.places, first)
	}
	return total, nil
}
