// Package keyring owns the API key documents that this gateway serves: those
// in use are held, a first use fetches, a push replaces, and what does not
// exist is remembered briefly. It knows nothing of credentials, of requests or
// of NATS; a Source reads for it.
package keyring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var (
	// ErrUnknown says that no such key exists; the leader of the bucket said so.
	ErrUnknown = errors.New("no such key")
	// ErrUndetermined says that nobody could tell whether the key exists. The
	// caller must be asked to come back, never be refused.
	ErrUndetermined = errors.New("key cannot be looked up now")
)

// Source reads key documents. Both methods return an error with the code
// fault.NotFound when there is none: from Key that may be a lagging replica's
// view, from KeyAtLeader it is final.
type Source interface {
	Key(ctx context.Context, kid string) (policy.Key, error)
	KeyAtLeader(ctx context.Context, kid string) (policy.Key, error)
}

// Disk keeps documents over a restart.
type Disk interface {
	Load(kind lastgood.Kind, name string) ([]byte, error)
	Save(kind lastgood.Kind, name string, body []byte)
	Refresh(kind lastgood.Kind, name string, body []byte)
	Remove(kind lastgood.Kind, name string)
}

// Options are what a keyring needs and how large it may grow. Zero numbers
// take the defaults.
type Options struct {
	Source Source
	Disk   Disk
	Now    func() time.Time
	Log    *slog.Logger

	Capacity    int           // documents held; 50,000
	Absent      int           // absent kids remembered; 16,384
	AbsentFor   time.Duration // how long; 5 s
	LookupRate  float64       // look-ups a second that end in nothing; 500
	LookupBurst float64       // how many at once; 1,000
	FetchWithin time.Duration // for one look-up; 2 s
}

const (
	defaultCapacity    = 50_000
	defaultAbsent      = 16_384
	defaultAbsentFor   = 5 * time.Second
	defaultLookupRate  = 500
	defaultLookupBurst = 1_000
	defaultFetchWithin = 2 * time.Second
	recentPushes       = 16_384
	leadersFor         = 5 * time.Second
)

// Keyring holds key documents. A look-up of a held one is a map access: no
// allocation, no lock across I/O.
type Keyring struct {
	o      Options
	held   *bounded.Cache[string, *document]
	absent *bounded.Cache[string, time.Time] // until when
	// recent are the revisions of documents that were pushed and dropped as
	// not held. A first use that reads an older one from a lagging replica is
	// found out by it.
	recent *bounded.Cache[string, int64]
	budget *bounded.Budget

	mu      sync.Mutex // orders installs against pushes; never held across I/O
	flights map[string]*flight
	epoch   int64 // counts gaps in the pushes; see Renew
	// Replicas may lag behind what was pushed during a gap, and nothing here
	// remembers it: first uses ask leaders until then.
	leaders time.Time

	fetched  atomic.Int64
	unknown  atomic.Int64
	refused  atomic.Int64
	failures atomic.Int64
}

// document is frozen; replacing means another one.
type document struct {
	key   policy.Key
	stale bool // from disk, not confirmed by NATS
}

// New returns an empty keyring.
func New(o Options) *Keyring {
	o.Capacity = cmp.Or(o.Capacity, defaultCapacity)
	o.Absent = cmp.Or(o.Absent, defaultAbsent)
	o.AbsentFor = cmp.Or(o.AbsentFor, defaultAbsentFor)
	o.LookupRate = cmp.Or(o.LookupRate, defaultLookupRate)
	o.LookupBurst = cmp.Or(o.LookupBurst, defaultLookupBurst)
	o.FetchWithin = cmp.Or(o.FetchWithin, defaultFetchWithin)
	return &Keyring{
		o:       o,
		held:    bounded.New[string, *document](o.Capacity),
		absent:  bounded.New[string, time.Time](o.Absent),
		recent:  bounded.New[string, int64](recentPushes),
		budget:  bounded.NewBudget(o.LookupRate, o.LookupBurst, o.Now()),
		flights: make(map[string]*flight),
	}
}

// Lookup returns the document of kid, ErrUnknown or ErrUndetermined. The
// document is shared: callers must not change what it refers to.
func (k *Keyring) Lookup(ctx context.Context, kid string) (policy.Key, error) {
	if d, ok := k.held.Get(kid); ok {
		return d.key, nil
	}
	if !secret.ValidKID(kid) {
		return policy.Key{}, ErrUnknown
	}
	if until, ok := k.absent.Get(kid); ok && k.o.Now().Before(until) {
		return policy.Key{}, ErrUnknown
	}
	return k.first(ctx, kid)
}

// Apply takes a pushed or re-read document. It reports whether the keyring
// holds kid at that revision or a later one now; what is not held is dropped,
// but for the disk, which may have it from an earlier use.
func (k *Keyring) Apply(doc policy.Key) (holds bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.absent.Remove(doc.KID)
	k.recent.Update(doc.KID, func(old int64, _ bool) (int64, bool) { return doc.Revision, doc.Revision > old })
	_, holds = k.held.Get(doc.KID)
	if _, wanted := k.flights[doc.KID]; !holds && !wanted {
		if body, err := json.Marshal(doc); err == nil {
			k.o.Disk.Refresh(lastgood.Keys, doc.KID, body)
		}
		return false
	}
	k.install(doc, false)
	return true
}

// Forget drops a document that was removed from the bucket, so that the next
// use asks again.
func (k *Keyring) Forget(kid string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held.Remove(kid)
	if _, reading := k.flights[kid]; reading {
		k.epoch++ // it may have read the document just before
	}
	k.o.Disk.Remove(lastgood.Keys, kid)
}

// Renew marks a gap in the pushes: what was asked for before it and is still
// under way is asked for again. Held documents are the caller's to re-read.
func (k *Keyring) Renew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.epoch++
	k.leaders = k.o.Now().Add(leadersFor)
	k.absent.Each(func(kid string, _ time.Time) { k.absent.Remove(kid) })
}

// Holds reports whether kid is held.
func (k *Keyring) Holds(kid string) bool {
	_, ok := k.held.Get(kid)
	return ok
}

// Held lists the kids held; stale limits the list to unconfirmed ones.
func (k *Keyring) Held(stale bool) []string {
	var kids []string
	k.held.Each(func(kid string, d *document) {
		if d.stale || !stale {
			kids = append(kids, kid)
		}
	})
	return kids
}

// Status is the keyring's state for health pages and metrics.
type Status struct {
	Held     int   // documents
	Stale    int   // of them served from disk, unconfirmed
	Fetched  int64 // first uses that found a document
	Unknown  int64 // that found none
	Refused  int64 // that the look-up budget held back
	Failures int64 // that could not be determined
}

// Status returns the present state.
func (k *Keyring) Status() Status {
	return Status{
		Held: k.held.Len(), Stale: len(k.Held(true)), Fetched: k.fetched.Load(), Unknown: k.unknown.Load(),
		Refused: k.refused.Load(), Failures: k.failures.Load(),
	}
}
