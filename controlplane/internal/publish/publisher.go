// Package publish owns the way from committed policy to NATS: the leader that
// publishes, the catalog's revisions, the reconciler that heals, and the
// receipts that come back. It knows nothing of SQL, nor of what a policy says.
//
// One control plane leads at a time, by an advisory lock. Leadership is only a
// matter of thrift: were there two, compare-and-set by revision would still
// keep every document at its latest.
//
// Receipts and heartbeats are heard by every control plane and kept in memory;
// the leader closes a publication's account in Postgres once nobody is behind.
// See publication.Tracker for what that means after a restart.
package publish

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Elector makes one control plane the leader.
type Elector interface {
	// Lead runs work whenever this process leads, until ctx ends. The context
	// of work ends when leadership is lost; wake signals new outbox rows.
	Lead(ctx context.Context, work func(ctx context.Context, wake <-chan struct{}) error) error
}

// Outbox is what waits to be published.
type Outbox interface {
	// Pending lists what waits for at most limit workspaces, longest first,
	// leaving out those in skip.
	Pending(ctx context.Context, limit int, skip []id.Workspace) ([]outbox.Batch, error)
	// Done marks the rows that d covers, one by one, and returns their
	// publications: a change may have been committed after Pending and before
	// the compilation, which then covers it.
	Done(ctx context.Context, d outbox.Done) ([]publication.Publication, error)
	// Raise numbers what waits anew where r says that NATS is ahead of it. It
	// changes nothing, and says so, when the workspace is no longer at the
	// revision that was compiled.
	Raise(ctx context.Context, r outbox.Raise) (raised bool, err error)
}

// Compiler reads committed policy.
type Compiler interface {
	// Compile reads one workspace in one snapshot of the database: its policy,
	// and the keys and presets that changed since it was last published.
	Compile(ctx context.Context, ws id.Workspace) (Compiled, error)
}

// Compiled is the committed policy of one workspace.
type Compiled struct {
	Snapshot policy.Snapshot
	Keys     []policy.Key
	Presets  []policy.PresetVersion // published since
	Public   []PublicPreset         // that others get something else of since
	Since    int64                  // the lowest revision that is not known to be published
}

// CatalogSource gives the catalog to publish.
type CatalogSource interface {
	// Catalog returns the catalog, whose Revision is not looked at, and the
	// version of the operator's overrides in it. It fails where they do not fit;
	// what is published then stays.
	Catalog(ctx context.Context) (c catalog.Catalog, version int64, err error)
	// Published notes with which revision a version went out.
	Published(ctx context.Context, version, revision int64, at time.Time) error
}

// Revisions numbers catalogs.
type Revisions interface {
	// Of returns the revision of a catalog whose content has the digest: the
	// latest one if that has the same digest and is not below floor, else a
	// new one above both.
	Of(ctx context.Context, digest string, floor int64, at time.Time) (int64, error)
}

// Accounts closes the receipts of publications.
type Accounts interface {
	// Open lists the latest publications that are published and not settled.
	Open(ctx context.Context, limit int) ([]publication.Record, error)
	// Settle stores final receipts.
	Settle(ctx context.Context, list []publication.Publication, at time.Time) error
	// Prune deletes at most limit publications settled before.
	Prune(ctx context.Context, before time.Time, limit int) error
}

// Deps are what a Publisher works with.
type Deps struct {
	Conn      *natsconn.Conn
	Topology  *natsconn.Keeper
	Elector   Elector
	Outbox    Outbox
	Compiler  Compiler
	Ledger    Ledger
	Presets   PresetLedger
	Catalog   CatalogSource
	Revisions Revisions
	Accounts  Accounts
	Tracker   *publication.Tracker
	Registry  *gateway.Registry
	// AllowMassRemoval confirms that the database is the right one although it
	// does not know most of what is published.
	AllowMassRemoval bool

	Now func() time.Time
	Log *slog.Logger
}

// Publisher publishes while it leads, and hears receipts always.
type Publisher struct {
	d       Deps
	metrics counters
}

// New returns a Publisher that does nothing yet.
func New(d Deps) *Publisher { return &Publisher{d: d} }

// Run keeps the topology of NATS, hears the gateways, and publishes whenever
// this process leads, until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	stop, err := p.listen()
	defer stop()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.d.Topology.Run(ctx) })
	group.Go(func() error { return p.d.Registry.Run(ctx) })
	group.Go(func() error { p.sweep(ctx); return nil })
	group.Go(func() error { return p.d.Elector.Lead(ctx, p.lead) })
	return group.Wait()
}

// lead does the leader's work until ctx ends.
func (p *Publisher) lead(ctx context.Context, wake <-chan struct{}) error {
	p.metrics.leading.Store(true)
	defer p.metrics.stepDown()
	p.d.Log.Info("this control plane leads publication")
	l := newLeader(p)
	defer p.d.Conn.OnConnect(l.connected)()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { l.drain(ctx, wake); return nil })
	group.Go(func() error { l.reconcile(ctx); return nil })
	group.Go(func() error { l.catalog(ctx); return nil })
	group.Go(func() error { l.settle(ctx); return nil })
	return group.Wait()
}

const (
	sweepEvery  = time.Minute
	listenEvery = time.Second
)

// sweep bounds the tracker, and tells the registry whether it can hear.
func (p *Publisher) sweep(ctx context.Context) {
	tick := time.NewTicker(listenEvery)
	defer tick.Stop()
	var swept time.Time
	for {
		p.d.Registry.Hearing(p.d.Conn.Connected())
		if now := p.d.Now(); now.Sub(swept) > sweepEvery {
			swept = now
			p.d.Tracker.Sweep(now)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
