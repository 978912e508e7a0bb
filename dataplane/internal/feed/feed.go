// Package feed owns the way from NATS into the gateway: it follows the
// published documents, hands them to the keyring and the snapshot store, and
// tells the control plane what was applied. It knows nothing of requests.
//
// Pushes (RePublish to core subjects) carry every change at once. What a lost
// connection or a slow moment may have swallowed is found by following each
// bucket's stream from the last position known to be complete, after every
// connect and every few seconds. A stream that was made anew, because NATS
// lost its data, is recognized by its creation time: everything held is read
// again then, and what is missing there stays as it is.
package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/snapshot"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Options are what a feed needs. Zero durations take the defaults.
type Options struct {
	Conn     *natsconn.Conn
	Keys     *keyring.Keyring
	Policies *snapshot.Store
	Disk     *lastgood.Store // Run writes it
	Log      *slog.Logger
	Now      func() time.Time

	Self         Self
	SpoolPending func() int64 // usage records not yet committed

	PollEvery      time.Duration // 5 s
	HeartbeatEvery time.Duration // wire.HeartbeatEvery
}

// Self is how the gateway introduces itself.
type Self struct {
	Gateway   id.Gateway
	Instance  string // changes with every start
	Version   string
	Address   string // where it serves inference, host:port
	StartedAt time.Time
}

const (
	defaultPoll = 5 * time.Second
	pollWithin  = 30 * time.Second
	retryFirst  = 200 * time.Millisecond
	workers     = 8 // bodies read at once
)

// Feed follows the published documents while Run runs.
type Feed struct {
	o      Options
	source *Source
	reader *document.Reader

	kick     chan struct{} // catch up now
	gaps     chan struct{} // pushes may have been missed
	receipts *receipts
	jobs     *jobs

	mu       sync.Mutex
	subs     []func() // each ends one
	marks    marks
	caughtUp time.Time

	pushes, behind, failures, unreadable atomic.Int64
}

// marks are how far each bucket was followed without a gap.
type marks struct{ keys, policy, catalog wire.Position }

// New returns a feed that does nothing yet.
func New(o Options) *Feed {
	if o.PollEvery == 0 {
		o.PollEvery = defaultPoll
	}
	if o.HeartbeatEvery == 0 {
		o.HeartbeatEvery = wire.HeartbeatEvery
	}
	return &Feed{
		o:        o,
		source:   NewSource(o.Conn),
		reader:   document.NewReader(o.Conn),
		kick:     make(chan struct{}, 1),
		gaps:     make(chan struct{}, 1),
		receipts: newReceipts(o.Self.Gateway, o.Now),
		jobs:     newJobs(),
	}
}

// Run follows until ctx ends; then it says so to the control plane. The
// last-known-good catalog is served before NATS is reached.
func (f *Feed) Run(ctx context.Context) error {
	f.o.Policies.LoadCatalog()
	defer f.o.Conn.OnConnect(f.catchUpSoon)()
	defer f.unsubscribe()
	if err := f.subscribe(); err != nil {
		return err
	}
	// The disk outlives the rest, so that what was applied last is kept too.
	disk, stopDisk := context.WithCancel(context.WithoutCancel(ctx))
	defer stopDisk()
	group, ctx := errgroup.WithContext(ctx)
	var written sync.WaitGroup
	written.Go(func() {
		if err := f.o.Disk.Run(disk); err != nil {
			f.o.Log.Error("last-known-good directory failed", slog.Any("error", err))
		}
	})
	group.Go(func() error { f.follow(ctx); return nil })
	group.Go(func() error { f.review(ctx); return nil })
	group.Go(func() error { f.beat(ctx); return nil })
	group.Go(func() error { f.acknowledge(ctx); return nil })
	for range workers {
		group.Go(func() error { f.work(ctx); return nil })
	}
	err := group.Wait()
	stopDisk()
	written.Wait()
	return err
}

func (f *Feed) catchUpSoon() {
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// follow catches up after every connect and every few seconds.
func (f *Feed) follow(ctx context.Context) {
	pause := retryFirst
	for {
		next := f.o.PollEvery
		if f.catchUp(ctx) {
			pause = retryFirst
		} else {
			next = min(pause, f.o.PollEvery)
			pause *= 2
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-f.kick:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// catchUp reports whether the gateway stands where NATS does now.
func (f *Feed) catchUp(ctx context.Context) bool {
	if !f.o.Conn.Connected() {
		return true // the connect will wake it
	}
	within, cancel := context.WithTimeout(ctx, pollWithin)
	defer cancel()
	err := errors.Join(f.catchUpKeys(within), f.catchUpPolicies(within), f.catchUpCatalog(within))
	if err != nil {
		if ctx.Err() == nil {
			f.failures.Add(1)
			f.o.Log.Warn("catching up with the published documents failed", slog.Any("error", err))
		}
		return false
	}
	f.mu.Lock()
	f.caughtUp = f.o.Now()
	f.mu.Unlock()
	return true
}

// Status is the feed's state for health pages and metrics.
type Status struct {
	Connected  bool
	CaughtUpAt time.Time // zero: not since the start
	Pushes     int64     // messages
	Behind     int64     // documents that only catching up brought
	Failures   int64     // of catching up
	Unreadable int64     // pushes and documents that could not be read
	Keys       keyring.Status
	Policies   snapshot.Status
	Disk       lastgood.Counts
}

// Stale reports whether anything is served that NATS has not confirmed.
func (s Status) Stale() bool {
	return s.Keys.Stale > 0 || s.Policies.Stale > 0 || s.Policies.CatalogStale
}

// Status returns the present state.
func (f *Feed) Status() Status {
	f.mu.Lock()
	at := f.caughtUp
	f.mu.Unlock()
	return Status{
		Connected: f.o.Conn.Connected(), CaughtUpAt: at, Pushes: f.pushes.Load(), Behind: f.behind.Load(),
		Failures: f.failures.Load(), Unreadable: f.unreadable.Load(),
		Keys: f.o.Keys.Status(), Policies: f.o.Policies.Status(), Disk: f.o.Disk.Counts(),
	}
}
