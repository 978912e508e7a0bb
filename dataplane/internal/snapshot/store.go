// Package snapshot owns the policy and the catalog that this gateway serves:
// compiled, frozen views, one for each workspace in use, each replaced as a
// whole. It knows nothing of requests or of NATS; a Source reads for it.
package snapshot

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ErrUndetermined says that the policy of a workspace is not known, or not as
// new as a key demands. The caller must be asked to come back.
var ErrUndetermined = errors.New("policy cannot be determined now")

// Source reads pointers and bodies. A missing pointer is an error with the
// code fault.NotFound: final from PolicyAtLeader, perhaps a lagging replica's
// view from Policy.
type Source interface {
	Policy(ctx context.Context, ws id.Workspace) (policy.Pointer, error)
	PolicyAtLeader(ctx context.Context, ws id.Workspace) (policy.Pointer, error)
	PolicyBody(ctx context.Context, p policy.Pointer) ([]byte, error)
	CatalogBody(ctx context.Context, p policy.Pointer) ([]byte, error)
	Connected() bool
}

// Disk keeps bodies over a restart.
type Disk interface {
	Load(kind lastgood.Kind, name string) ([]byte, error)
	Save(kind lastgood.Kind, name string, body []byte)
	Refresh(kind lastgood.Kind, name string, body []byte)
	Remove(kind lastgood.Kind, name string)
}

// Options are what a store needs and how large it may grow. Zero numbers take
// the defaults.
type Options struct {
	Source Source
	Disk   Disk
	Now    func() time.Time
	Log    *slog.Logger

	// Installed hears of each view that is put in place, in order, and Dropped
	// of each workspace that is held no more. Both must be quick; nil is nobody.
	Installed func(*policy.View)
	Dropped   func(id.Workspace)

	Capacity   int           // workspaces held; 20,000
	PinWithin  time.Duration // how long a request waits for a policy; 2 s
	LoadWithin time.Duration // for one read of pointer and body; 2 s
}

const (
	defaultCapacity   = 20_000
	defaultPinWithin  = 2 * time.Second
	defaultLoadWithin = 2 * time.Second
	recentPushes      = 16_384
	leadersFor        = 5 * time.Second
)

// Store holds views. Pinning a held one is a map access: no allocation, no
// lock across I/O.
type Store struct {
	o      Options
	held   *bounded.Cache[id.Workspace, *held]
	recent *bounded.Cache[id.Workspace, int64] // revisions pushed and dropped as not held

	mu      sync.Mutex // orders installs against pushes; never held across I/O
	flights map[id.Workspace]*flight
	waiting map[id.Workspace]chan struct{} // closed at the next install
	epoch   int64                          // counts gaps in the pushes
	leaders time.Time                      // first reads ask leaders until then; see keyring.Keyring

	catalog      atomic.Pointer[heldCatalog]
	catalogStale atomic.Bool

	loaded, rejected, failures atomic.Int64
}

// held is a view with where it came from; frozen.
type held struct {
	view   *policy.View
	digest string
	stale  bool // from disk, not confirmed by NATS
}

// New returns an empty store.
func New(o Options) *Store {
	if o.Capacity == 0 {
		o.Capacity = defaultCapacity
	}
	if o.PinWithin == 0 {
		o.PinWithin = defaultPinWithin
	}
	if o.LoadWithin == 0 {
		o.LoadWithin = defaultLoadWithin
	}
	if o.Installed == nil {
		o.Installed = func(*policy.View) {}
	}
	if o.Dropped == nil {
		o.Dropped = func(id.Workspace) {}
	}
	return &Store{
		o:       o,
		held:    bounded.New[id.Workspace, *held](o.Capacity),
		recent:  bounded.New[id.Workspace, int64](recentPushes),
		flights: make(map[id.Workspace]*flight),
		waiting: make(map[id.Workspace]chan struct{}),
	}
}

// Pin returns the policy of ws at minRevision or later.
//
// While NATS is reachable an older policy is never returned: Pin waits for the
// newer one for a bounded time and then gives ErrUndetermined. While NATS is
// away nothing newer can come, so the last good policy is served whatever its
// revision, as the rest of the gateway does then.
func (s *Store) Pin(ctx context.Context, ws id.Workspace, minRevision int64) (*policy.View, error) {
	if h, ok := s.held.Get(ws); ok && h.view.Revision() >= minRevision {
		return h.view, nil
	}
	return s.await(ctx, ws, minRevision)
}

// Catalog returns the catalog, nil before the first has come.
func (s *Store) Catalog() *catalog.View {
	if c := s.catalog.Load(); c != nil {
		return c.view
	}
	return nil
}

// Ready is nil once requests can be decided, which takes a catalog.
func (s *Store) Ready() error {
	if s.catalog.Load() == nil {
		return errors.New("no catalog yet, neither from NATS nor from disk")
	}
	return nil
}

// Forget drops a policy whose pointer was removed.
func (s *Store) Forget(ws id.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.Remove(ws)
	s.o.Dropped(ws)
	if _, reading := s.flights[ws]; reading {
		s.epoch++
	}
	s.o.Disk.Remove(lastgood.Workspaces, ws.String())
}

// Renew marks a gap in the pushes, as keyring.Keyring.Renew does.
func (s *Store) Renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.leaders = s.o.Now().Add(leadersFor)
}

// Held lists the workspaces held; stale limits the list to unconfirmed ones.
func (s *Store) Held(stale bool) []id.Workspace {
	var list []id.Workspace
	s.held.Each(func(ws id.Workspace, h *held) {
		if h.stale || !stale {
			list = append(list, ws)
		}
	})
	return list
}

// Marks are the revisions of at most limit workspaces held.
func (s *Store) Marks(limit int) map[id.Workspace]int64 {
	marks := make(map[id.Workspace]int64, min(limit, s.held.Len()))
	s.held.Each(func(ws id.Workspace, h *held) {
		if len(marks) < limit {
			marks[ws] = h.view.Revision()
		}
	})
	return marks
}

// Status is the store's state for health pages and metrics.
type Status struct {
	Workspaces      int
	Stale           int // of them served from disk, unconfirmed
	CatalogRevision int64
	CatalogStale    bool
	Loaded          int64 // views put in place
	Rejected        int64 // bodies that were damaged, unreadable or invalid
	Failures        int64 // pins that could not be determined
}

// Status returns the present state.
func (s *Store) Status() Status {
	st := Status{
		Workspaces: s.held.Len(), Stale: len(s.Held(true)), CatalogStale: s.catalogStale.Load(),
		Loaded: s.loaded.Load(), Rejected: s.rejected.Load(), Failures: s.failures.Load(),
	}
	if v := s.Catalog(); v != nil {
		st.CatalogRevision = v.Revision()
	}
	return st
}
