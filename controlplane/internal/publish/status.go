package publish

import "sync/atomic"

type counters struct {
	leading atomic.Bool
	catalog atomic.Int64

	published  atomic.Int64
	failed     atomic.Int64
	documents  atomic.Int64
	reconciled atomic.Int64
	healed     atomic.Int64
	removed    atomic.Int64
	kept       atomic.Int64
	unreadable atomic.Int64
}

// Status is the publisher's state for health pages and metrics. The counters
// are totals since the start.
type Status struct {
	Leading    bool
	Catalog    int64 // revision of the catalog that this leader has published; 0 when it has not
	Published  int64 // workspaces published, bursts as one
	Failed     int64 // tries that failed and are made again
	Documents  int64 // key documents written
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
	return Status{
		Leading: m.leading.Load(), Catalog: m.catalog.Load(), Published: m.published.Load(), Failed: m.failed.Load(), Documents: m.documents.Load(),
		Reconciled: m.reconciled.Load(), Healed: m.healed.Load(), Removed: m.removed.Load(), Kept: m.kept.Load(), Unreadable: m.unreadable.Load(),
		Open: p.d.Tracker.Len(),
	}
}
