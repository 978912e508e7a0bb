package health

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// defaultRefresh is how old the statistics of a view may be. Breakers and
// cool-downs are never old: a change of those shows in the next view.
const defaultRefresh = time.Second

// Options are what a Table needs of the world.
type Options struct {
	Now  func() time.Time
	Seed func() uint64 // settles, view by view, who probes half-open endpoints
	Log  *slog.Logger  // nil: silent

	Refresh time.Duration // how old the statistics of a view may be; 0: 1 s
}

// Table holds every endpoint that was called here or at another gateway. It is
// safe for concurrent use.
type Table struct {
	now  func() time.Time
	seed func() uint64
	log  *slog.Logger

	refresh time.Duration

	mu        sync.RWMutex
	endpoints map[string]*endpoint

	credentials *credentials
	peers       peers

	kept    atomic.Bool // Run sees to the statistics
	changed atomic.Bool // a standing changed since the frame was made
	frame   atomic.Pointer[frame]
	framing sync.Mutex
	scratch spread // of framing

	news           chan struct{} // a standing changed that the others are to hear of
	opened, closed atomic.Int64  // breakers
	trouble        troubles
}

// New returns an empty table: nothing is known, which is neutral.
func New(o Options) *Table {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Refresh == 0 {
		o.Refresh = defaultRefresh
	}
	t := &Table{
		refresh: o.Refresh, now: o.Now, seed: o.Seed, log: o.Log, endpoints: make(map[string]*endpoint), credentials: newCredentials(),
		news: make(chan struct{}, 1),
	}
	t.peers.known = make(map[uuid.UUID]peer)
	t.frame.Store(&frame{})
	return t
}

// Observe counts one call. It does not allocate once the endpoint is known and
// its present bucket has met such times before.
func (t *Table) Observe(o Observation) {
	if !o.Credential.IsZero() {
		if t.credentials.observe(&o) {
			t.changed.Store(true)
			t.tell()
		}
		if o.Verdict == RateLimited || o.Verdict == Refused {
			return
		}
	}
	e := t.known(o.Endpoint)
	if e == nil {
		e = t.add(o.Endpoint, maxOwnEndpoints)
	}
	if e == nil {
		return
	}
	t.note(o.Endpoint, e.observe(&o), true)
}

// note sees to what follows from a change of an endpoint's standing. own says
// that the others are to hear of it from here.
func (t *Table) note(name string, turned turn, own bool) {
	if !turned.changed {
		return
	}
	t.changed.Store(true)
	if own {
		t.tell()
	}
	switch {
	case turned.opened:
		t.opened.Add(1)
		t.log.Warn("endpoint breaker opened", slog.String("endpoint", name), slog.Bool("seen_here", own))
	case turned.closed:
		t.closed.Add(1)
		t.log.Info("endpoint breaker closed", slog.String("endpoint", name), slog.Bool("seen_here", own))
	}
}

func (t *Table) tell() {
	select {
	case t.news <- struct{}{}:
	default:
	}
}

func (t *Table) known(name string) *endpoint {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.endpoints[name]
}

// add makes an endpoint known, or returns nil when that would be more than most.
func (t *Table) add(name string, most int) *endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.endpoints[name]
	if e == nil && len(t.endpoints) < most {
		e = &endpoint{}
		t.endpoints[name] = e
	}
	return e
}

// View returns what routing may know now, frozen.
func (t *Table) View() decide.Health { return t.view() }

func (t *Table) view() View {
	now := t.now()
	f := t.frame.Load()
	if t.changed.Load() || t.due(f, now) {
		f = t.rebuild(now)
	}
	return View{frame: f, now: now, seed: t.seed()}
}

// Run works the statistics out whenever they are old, until ctx ends, so that no
// request has to: without it the first one to find them old does.
func (t *Table) Run(ctx context.Context) {
	tick := time.NewTicker(t.refresh)
	defer tick.Stop()
	for {
		t.remeasure()
		t.kept.Store(true)
		select {
		case <-ctx.Done():
			t.kept.Store(false)
			return
		case <-tick.C:
		}
	}
}

func (t *Table) remeasure() {
	t.framing.Lock()
	defer t.framing.Unlock()
	t.changed.Store(false) // before the standings are read: what changes from here on shows in the next frame
	t.frame.Store(t.measure(t.now()))
}

// due reports that statistics are to be worked out again, by whoever asks.
func (t *Table) due(f *frame, now time.Time) bool { return !t.kept.Load() && t.old(f, now) }

// old reports that statistics are not of now.
func (t *Table) old(f *frame, now time.Time) bool {
	age := now.Sub(f.made)
	return age >= t.refresh || age < 0
}

// rebuild makes a new frame. Statistics are worked out again, and endpoints that
// nothing is known of forgotten, when the frame is old; for a change of
// standing alone, standings are. While another goroutine is at it, an old frame
// will do unless a standing changed.
func (t *Table) rebuild(now time.Time) *frame {
	if !t.changed.Load() {
		if !t.framing.TryLock() {
			return t.frame.Load()
		}
	} else {
		t.framing.Lock()
	}
	defer t.framing.Unlock()
	last := t.frame.Load()
	if !t.changed.Swap(false) && !t.due(last, now) {
		return last
	}
	var f *frame
	if t.due(last, now) {
		f = t.measure(now)
	} else {
		f = t.restate(now, last)
	}
	t.frame.Store(f)
	return f
}

// measure works everything out.
func (t *Table) measure(now time.Time) *frame {
	names, list := t.list()
	f := &frame{made: now, states: make(map[string]state, len(list)), credentials: t.credentials.view(now)}
	var idle []string
	for i, e := range list {
		e.mu.Lock()
		if e.idle(now) {
			idle = append(idle, names[i])
		} else {
			f.put(names[i], e.measured(now, &t.scratch))
		}
		e.mu.Unlock()
	}
	t.forget(now, idle)
	return f
}

// restate takes over the statistics of the last frame.
func (t *Table) restate(now time.Time, last *frame) *frame {
	names, list := t.list()
	f := &frame{made: last.made, states: make(map[string]state, len(list)), credentials: t.credentials.view(now)}
	for i, e := range list {
		s := last.states[names[i]]
		e.mu.Lock()
		s.openUntil, s.coolUntil = e.standing()
		e.mu.Unlock()
		f.put(names[i], s)
	}
	return f
}

// list copies what is known, so that nobody waits while it is gone through.
func (t *Table) list() (names []string, list []*endpoint) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	names, list = make([]string, 0, len(t.endpoints)), make([]*endpoint, 0, len(t.endpoints))
	for name, e := range t.endpoints {
		names, list = append(names, name), append(list, e)
	}
	return names, list
}

// forget drops endpoints that are still idle.
func (t *Table) forget(now time.Time, idle []string) {
	if len(idle) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range idle {
		e := t.endpoints[name]
		if e == nil {
			continue
		}
		e.mu.Lock()
		if e.idle(now) {
			delete(t.endpoints, name)
		}
		e.mu.Unlock()
	}
}

var _ decide.Health = View{}
