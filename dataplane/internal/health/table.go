package health

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// refresh is how old the statistics of a view may be. Breakers and cool-downs
// are never old: a change of those shows in the next view.
const refresh = time.Second

// Table holds every endpoint that was called. It is safe for concurrent use.
type Table struct {
	now  func() time.Time
	seed func() uint64

	mu        sync.RWMutex
	endpoints map[string]*endpoint

	credentials *credentials

	changed atomic.Bool // a standing changed since the frame was made
	frame   atomic.Pointer[frame]
	framing sync.Mutex
}

// New returns an empty table: nothing is known, which is neutral. The seed
// settles, view by view, who probes half-open endpoints.
func New(now func() time.Time, seed func() uint64) *Table {
	t := &Table{now: now, seed: seed, endpoints: make(map[string]*endpoint), credentials: newCredentials()}
	t.frame.Store(&frame{})
	return t
}

// Observe counts one call. It does not allocate once the endpoint is known.
func (t *Table) Observe(o Observation) {
	if !o.Credential.IsZero() {
		if t.credentials.observe(&o) {
			t.changed.Store(true)
		}
		if o.Verdict == RateLimited || o.Verdict == Refused {
			return
		}
	}
	t.mu.RLock()
	e := t.endpoints[o.Endpoint]
	t.mu.RUnlock()
	if e == nil {
		e = t.add(o.Endpoint)
	}
	if e.observe(&o) {
		t.changed.Store(true)
	}
}

func (t *Table) add(name string) *endpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.endpoints[name]
	if e == nil {
		e = &endpoint{}
		t.endpoints[name] = e
	}
	return e
}

// View returns what routing may know now, frozen.
func (t *Table) View() decide.Health {
	now := t.now()
	f := t.frame.Load()
	if age := now.Sub(f.made); t.changed.Load() || age >= refresh || age < 0 {
		f = t.rebuild(now)
	}
	return View{frame: f, now: now, seed: t.seed()}
}

// rebuild makes a new frame and forgets endpoints that nothing is known of.
// When another goroutine is at it, its frame will do unless a standing changed.
func (t *Table) rebuild(now time.Time) *frame {
	t.framing.Lock()
	defer t.framing.Unlock()
	old := t.frame.Load()
	if !t.changed.Swap(false) && now.Sub(old.made) < refresh && !now.Before(old.made) {
		return old
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &frame{made: now, standings: make(map[string]standing, len(t.endpoints)), credentials: t.credentials.view(now)}
	for name, e := range t.endpoints {
		e.mu.Lock()
		if e.idle(now) {
			delete(t.endpoints, name)
		} else {
			f.standings[name] = e.standing(now)
		}
		e.mu.Unlock()
	}
	t.frame.Store(f)
	return f
}

var _ decide.Health = View{}
