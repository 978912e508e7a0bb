package publish

import (
	"errors"
	"sync/atomic"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

type counters struct {
	leading atomic.Bool
	catalog atomic.Int64
	wrong   atomic.Pointer[catalog.Problems]

	published  atomic.Int64
	failed     atomic.Int64
	raised     atomic.Int64
	documents  atomic.Int64
	reconciled atomic.Int64
	healed     atomic.Int64
	removed    atomic.Int64
	kept       atomic.Int64
	unreadable atomic.Int64
}

// refused notes why the leader does not publish the catalog that it should.
func (c *counters) refused(err error) {
	if problems, ok := errors.AsType[catalog.Problems](err); ok {
		c.wrong.Store(&problems)
		return
	}
	if err == nil {
		c.wrong.Store(nil)
	}
}

// stepDown forgets what only a leader can say: another one may publish by now,
// and what was wrong be mended.
func (c *counters) stepDown() {
	c.leading.Store(false)
	c.catalog.Store(0)
	c.wrong.Store(nil)
}

// Status is the publisher's state for health pages and metrics. The counters
// are totals since the start.
type Status struct {
	Leading bool
	Catalog int64 // revision of the catalog that this leader has published; 0 when it has not
	// Refused is what is wrong with the operator's catalog over the offered one:
	// gateways keep the catalog that they have while there is something.
	Refused    catalog.Problems
	Published  int64 // workspaces published, bursts as one
	Failed     int64 // tries that failed and are made again
	Raised     int64 // workspaces numbered anew, because NATS was ahead
	Documents  int64 // documents of keys and presets written
	Reconciled int64 // comparisons of NATS with Postgres
	Healed     int64 // documents that a comparison wrote
	Removed    int64 // documents that Postgres does not know
	Kept       int64 // documents that Postgres does not know, whose removal is refused: a gauge
	Unreadable int64 // reports of gateways that could not be read
	Open       int   // publications whose receipts still come in
}

// Status returns the present state.
func (p *Publisher) Status() Status {
	m := &p.metrics
	var refused catalog.Problems
	if wrong := m.wrong.Load(); wrong != nil {
		refused = *wrong
	}
	return Status{
		Refused: refused,
		Leading: m.leading.Load(), Catalog: m.catalog.Load(), Published: m.published.Load(), Failed: m.failed.Load(), Raised: m.raised.Load(), Documents: m.documents.Load(),
		Reconciled: m.reconciled.Load(), Healed: m.healed.Load(), Removed: m.removed.Load(), Kept: m.kept.Load(), Unreadable: m.unreadable.Load(),
		Open: p.d.Tracker.Len(),
	}
}
