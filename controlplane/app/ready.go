package app

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/probe"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
)

// checks are what /readyz looks at. Without NATS changes are taken and wait,
// so that does not make a control plane unready.
func (a *App) checks() []probe.Check {
	var current atomic.Bool // a schema does not go back while this runs
	return []probe.Check{
		{Name: "postgres", Required: true, Run: func(ctx context.Context) (bool, string) {
			if a.db.Ping(ctx) != nil {
				return false, "cannot be reached"
			}
			return true, "reached"
		}},
		{Name: "schema", Required: true, Run: func(ctx context.Context) (bool, string) {
			if current.Load() {
				return true, "up to date"
			}
			have, newest, err := a.db.SchemaVersion(ctx)
			switch {
			case err != nil:
				return false, "cannot be read"
			case have < newest:
				return false, fmt.Sprintf("has version %d and needs %d; run: signalbox migrate up", have, newest)
			}
			current.Store(true)
			return true, "up to date"
		}},
		{Name: "nats", Run: func(context.Context) (bool, string) {
			if a.nats.Ready() != nil {
				return false, "cannot be reached; changes wait in the outbox"
			}
			return true, "reached"
		}},
		{Name: "publisher", Run: func(context.Context) (bool, string) {
			if a.publisher.Status().Leading {
				return true, "leads"
			}
			return true, "does not lead"
		}},
		{Name: "catalog", Run: func(context.Context) (bool, string) {
			st := a.publisher.Status()
			switch {
			case !st.Leading:
				return true, "is published by the leader"
			case len(st.Refused) > 0:
				return false, fmt.Sprintf("the operator's catalog does not fit this version, and gateways keep an older one: %s; see signalbox platform catalog get", st.Refused[0])
			case st.Catalog == 0:
				return false, "is not published yet"
			}
			return true, fmt.Sprintf("revision %d is published", st.Catalog)
		}},
	}
}

// publisherMetrics show the publisher's counters as metrics.
func publisherMetrics(p *publish.Publisher) []prometheus.Collector {
	counter := func(name, help string, read func(publish.Status) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
			func() float64 { return float64(read(p.Status())) })
	}
	gauge := func(name, help string, read func(publish.Status) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return float64(read(p.Status())) })
	}
	return []prometheus.Collector{
		gauge("signalbox_publish_leading", "1 where this control plane publishes. The sum over all must be 1; 0 for long means that no change goes out.",
			func(s publish.Status) int64 {
				if s.Leading {
					return 1
				}
				return 0
			}),
		gauge("signalbox_catalog_refused", "Problems of the operator's catalog over the offered one. Not 0 means that the leader publishes no catalog, and gateways serve an older one: signalbox platform catalog get lists them.",
			func(s publish.Status) int64 { return int64(len(s.Refused)) }),
		gauge("signalbox_publications_open", "Publications whose receipts still come in. A rise means that gateways lag behind.",
			func(s publish.Status) int64 { return int64(s.Open) }),
		counter("signalbox_published_total", "Workspaces published, bursts as one. No rise while changes are made means that they do not go out.", func(s publish.Status) int64 { return s.Published }),
		counter("signalbox_publish_failures_total", "Tries that failed and are made again. A steady rise points at NATS.", func(s publish.Status) int64 { return s.Failed }),
		counter("signalbox_publish_raised_total", "Workspaces whose changes were numbered anew because NATS was ahead of Postgres. Any rise means that the database was set back.", func(s publish.Status) int64 { return s.Raised }),
		counter("signalbox_published_documents_total", "Key documents written. A rise without changes of keys means that NATS had lost some.", func(s publish.Status) int64 { return s.Documents }),
		counter("signalbox_reconciled_total", "Comparisons of NATS with Postgres. No rise for minutes on the leader means that losses are not noticed.", func(s publish.Status) int64 { return s.Reconciled }),
		counter("signalbox_healed_total", "Documents that a comparison wrote. Any rise means that NATS had lost some.", func(s publish.Status) int64 { return s.Healed }),
		counter("signalbox_removed_total", "Documents in NATS that Postgres did not know. Any rise means that something else writes there, or that the database was restored from a backup.", func(s publish.Status) int64 { return s.Removed }),
		gauge("signalbox_removal_refused", "Documents in NATS that Postgres does not know and that are kept, because there are suspiciously many. Not 0 means that the database is the wrong one, or that publish.allow_mass_removal must confirm it.", func(s publish.Status) int64 { return s.Kept }),
		counter("signalbox_unreadable_reports_total", "Reports of gateways that could not be read: a version that does not fit.", func(s publish.Status) int64 { return s.Unreadable }),
	}
}
