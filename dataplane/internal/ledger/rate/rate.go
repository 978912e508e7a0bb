// Package rate owns what subjects used in the last minute, over all gateways:
// requests or tokens, of whatever the limits name. It counts in memory and tells
// the others every 200 ms, so that nothing that a request does waits for it. It
// knows nothing of limits; those that must hold exactly are not counted here.
//
// A minute rolls in slots of two seconds, by NATS's clock. What was used is
// counted until the whole of its slot is older than 60 seconds: what is known is
// never forgotten too early, and refusals may last two seconds too long.
package rate

import (
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Options are the surroundings and bounds of Rates. Zero bounds mean the
// defaults.
type Options struct {
	Store Store
	IDs   *id.Source // names increments
	Now   func() time.Time
	Log   *slog.Logger

	Every time.Duration // between two flushes; default 200 ms, so that no view in use is older than 250 ms
	Wait  time.Duration // of a request for views; default 250 ms
	Held  int           // subjects that are held; default 50 000
}

// Bounds that nobody sets.
const (
	warm     = 5 * time.Second // how long a view is kept fresh after its last use
	stale    = time.Second     // a view that is not refreshed in time is waited for only when it is older
	together = 900             // subjects in one write or read
	within   = 2 * time.Second // for one call of NATS
	lastTry  = 2 * time.Second // for what is not counted yet when the gateway ends
	parts    = 16              // a power of two; enough that requests rarely meet
	leaving  = 1024            // of a part's subjects that were let go of, those that are still to be sent
)

func (o Options) withDefaults() Options {
	if o.Every <= 0 {
		o.Every = 200 * time.Millisecond
	}
	if o.Wait <= 0 {
		o.Wait = 250 * time.Millisecond
	}
	if o.Held <= 0 {
		o.Held = 50_000
	}
	return o
}

// Rates is one gateway's part in the counting. It is safe for concurrent use;
// Run does its work.
type Rates struct {
	opts    Options
	metrics *metrics
	seed    maphash.Seed
	shards  [parts]shard
	clock   atomic.Pointer[anchor]
	down    atomic.Bool // the store does not answer: nobody waits for it

	mu     sync.Mutex
	looked chan struct{} // closed and replaced after every round, good or bad

	kick chan struct{} // somebody waits
	work work          // of Run alone
}

// shard is a part of the subjects.
type shard struct {
	mu      sync.Mutex
	views   map[subject]*view
	leaving []*view // let go of with something unsent
}

// anchor ties this process's clock to the store's. Only what has passed since is
// measured, so that a clock that is set does not matter.
type anchor struct{ here, there time.Time }

// New returns the counting of a gateway. Its metrics go to registry.
func New(o Options, registry prometheus.Registerer) *Rates {
	r := &Rates{
		opts: o.withDefaults(), seed: maphash.MakeSeed(),
		looked: make(chan struct{}), kick: make(chan struct{}, 1),
	}
	for i := range r.shards {
		r.shards[i].views = make(map[subject]*view)
	}
	now := r.opts.Now()
	r.clock.Store(&anchor{now, now})
	r.metrics = newMetrics(registry, r)
	return r
}

// Add counts n of each of some subjects, now; nothing when n is not above 0. This
// gateway's own views have it at once, those of others within a quarter of a
// second.
func (r *Rates) Add(ws id.Workspace, n int64, names ...Name) {
	if n <= 0 || len(names) == 0 {
		return
	}
	now := r.opts.Now()
	for _, name := range names {
		r.add(subject{ws, name}, n, now)
	}
}

func (r *Rates) add(ref subject, n int64, now time.Time) {
	s := r.shard(ref)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := slotOf(r.there(now))
	v := r.hold(s, ref, slot)
	v.added = now
	v.add(slot, n)
}

func (r *Rates) shard(ref subject) *shard {
	return &r.shards[maphash.Comparable(r.seed, ref)&(parts-1)]
}

// there is what the store's clock says at a time of this process's.
func (r *Rates) there(now time.Time) time.Time {
	a := r.clock.Load()
	return a.there.Add(now.Sub(a.here))
}

// slot is the present slot.
func (r *Rates) slot() int64 { return slotOf(r.there(r.opts.Now())) }

// hold returns the view of a subject, a new one when there is none. The shard's
// lock is held.
func (r *Rates) hold(s *shard, ref subject, slot int64) *view {
	v := s.views[ref]
	if v == nil {
		if len(s.views) >= (r.opts.Held+parts-1)/parts {
			r.letGo(s)
		}
		v = &view{shard: s, ws: ref.ws, token: ref.name.Token(), head: slot, looks: uint8(len(s.views))}
		s.views[ref] = v
	}
	return v
}

// letGo makes room for one view: of some that nobody waits for, the one that was
// not used for longest goes. What it has to say is still sent. The shard's lock
// is held.
func (r *Rates) letGo(s *shard) {
	left := 8
	var victim subject
	var oldest *view
	for ref, v := range s.views {
		if !v.wants && (oldest == nil || v.used().Before(oldest.used())) {
			victim, oldest = ref, v
		}
		if left--; left <= 0 && oldest != nil {
			break
		}
	}
	if oldest == nil {
		return
	}
	delete(s.views, victim)
	switch {
	case !oldest.unsent():
	case len(s.leaving) < leaving:
		s.leaving = append(s.leaving, oldest)
	default:
		r.metrics.dropped.Inc()
	}
}

// used is when a view was last of use.
func (v *view) used() time.Time {
	if v.added.After(v.asked) {
		return v.added
	}
	return v.asked
}
