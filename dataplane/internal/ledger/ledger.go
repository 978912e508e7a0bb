// Package ledger owns what accounts have used: keys, departments, guardrails,
// agents, whole workspaces. It counts every record of this gateway's spool into
// counters that all gateways share, and says what an account has used in the
// windows of now and ever, over all gateways. It knows nothing of limits, nor of
// what a request was.
//
// Counting is exact through every crash: what is counted and how far the
// gateway's spool is counted go into NATS in one commit, and what is missing
// there is read from the spool again. Reading never waits for long: an account
// that is in use has a view in memory, and without one a request waits a
// moment for the first. Who must not go by a view reads the counters (Exact).
package ledger

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
)

// Spool is the gateway's record of usage, of which the ledger counts everything.
type Spool interface {
	// Follow has the follower told of every record from now on, and returns the
	// last sequence before.
	Follow(f spool.Follower) uint64
	// Counts visits the records above after and up to through, and returns how
	// many sequences have none.
	Counts(ctx context.Context, after, through uint64, visit func(spool.Count) bool) (missing uint64, err error)
	// Last is the last sequence of a record that was completed, also where the disk
	// has yet to take it.
	Last() uint64
}

// Options are a Ledger's surroundings and bounds. Zero bounds mean the defaults.
type Options struct {
	Store Store
	Spool Spool
	Now   func() time.Time
	Log   *slog.Logger

	Every time.Duration // between two looks at what other gateways counted; default 200 ms, so that no view is older than 250 ms
	Wait  time.Duration // of a request for a view; default 250 ms
	Held  int           // accounts whose views are held; default 20 000
}

// Bounds that nobody sets.
const (
	pageCounters = 999             // in one commit, of at most 1000 messages
	pagesMax     = 64              // that wait for a commit; what is beyond is read from the spool again
	warm         = 5 * time.Second // how long a view is kept fresh after its last use
	lastTry      = 2 * time.Second // for what is not counted yet when the gateway ends
	within       = 2 * time.Second // for one call of NATS
	slack        = 50 * time.Millisecond
)

func (o Options) withDefaults() Options {
	if o.Every <= 0 {
		o.Every = 200 * time.Millisecond
	}
	if o.Wait <= 0 {
		o.Wait = 250 * time.Millisecond
	}
	if o.Held <= 0 {
		o.Held = 20_000
	}
	return o
}

// state says how far the ledger is with its store.
type state int

const (
	apart    state = iota // the store's position is to be learnt; nothing is queued
	catching              // records are queued, and those before them are being read from the spool
	attached              // the queue begins where the store's position is
)

// Ledger is one gateway's part in the counters. It is safe for concurrent use;
// Run does its work.
type Ledger struct {
	opts    Options
	metrics *metrics

	mu     sync.Mutex
	state  state
	epoch  string  // of at; "" before it was learnt once
	at     uint64  // the sequence up to which the store has counted
	seen   uint64  // the last sequence of the spool
	queue  []*page // what follows at, oldest first; while catching, what follows what is read
	views  map[accountRef]*view
	down   bool             // the store does not answer: nobody waits for it
	looked chan struct{}    // closed and replaced after every look, good or bad
	told   []func(Progress) // of OnProgress

	kick chan struct{} // somebody waits

	reads singleflight.Group // of accounts, exactly
}

// New returns the ledger of a gateway and begins to follow its spool. Its
// metrics go to registry.
func New(o Options, registry prometheus.Registerer) *Ledger {
	l := &Ledger{
		opts: o.withDefaults(), views: make(map[accountRef]*view),
		looked: make(chan struct{}), kick: make(chan struct{}, 1),
	}
	l.metrics = newMetrics(registry, l)
	seen := l.opts.Spool.Follow(l)
	l.mu.Lock()
	l.seen = max(l.seen, seen)
	l.mu.Unlock()
	return l
}

// Add implements spool.Follower: what it takes is in the gateway's own view at
// once, and is counted for everyone with the next commit.
func (l *Ledger) Add(c spool.Count) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = c.Sequence
	for i := range c.Spends {
		if v := l.views[accountRef{c.Workspace, c.Spends[i].Account}]; v != nil {
			v.own(dayOf(c.At), c.Spends[i].Spend)
		}
	}
	if l.state == apart {
		return // it is read from the spool later
	}
	queue, ok := enqueue(l.queue, c)
	if !ok {
		l.part()
		return
	}
	l.queue = queue
}

// Seen is the last sequence of the spool: what was completed before is counted
// once the counters have got that far. While the disk refuses records the ledger
// is told of them later.
func (l *Ledger) Seen() uint64 { return l.opts.Spool.Last() }

// part forgets what is queued: the store's position has to be learnt anew, and
// what follows it is read from the spool. l.mu is held.
func (l *Ledger) part() { l.state, l.queue = apart, nil }

// Counted implements spool.Follower. The epoch is looked at anew: while it is
// the one that the ledger counts in, the counters are still there, and any later
// filling begins after now.
func (l *Ledger) Counted(ctx context.Context) (uint64, error) {
	epoch, err := l.opts.Store.Epoch(ctx)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != l.epoch {
		return 0, nil
	}
	return l.at, nil
}
