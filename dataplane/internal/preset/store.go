// Package preset owns the presets that this gateway serves: a first use fetches
// the document of a version, which never changes, and what does not exist is
// remembered briefly. It knows nothing of what a preset makes of a request, or of
// NATS; a Source reads for it.
package preset

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

var (
	// ErrUnknown says that there is no such preset, or none that may be used.
	ErrUnknown = errors.New("no such preset")
	// ErrUndetermined says that nobody could tell whether there is.
	ErrUndetermined = errors.New("preset cannot be looked up now")
)

// Source reads documents of presets by their keys. Both methods return an error
// with the code fault.NotFound when there is none: from PresetDocument that may
// be a lagging replica's view, from PresetDocumentAtLeader it is final.
type Source interface {
	PresetDocument(ctx context.Context, key string) ([]byte, error)
	PresetDocumentAtLeader(ctx context.Context, key string) ([]byte, error)
}

// Disk keeps documents over a restart.
type Disk interface {
	Load(kind lastgood.Kind, name string) ([]byte, error)
	Save(kind lastgood.Kind, name string, body []byte)
}

// Options are what a store needs and how large it may grow. Zero numbers take
// the defaults.
type Options struct {
	Source Source
	Disk   Disk
	Now    func() time.Time
	Log    *slog.Logger

	Capacity    int           // versions held; 4,096
	Bytes       int64         // of all of them; 64 MiB
	Public      int           // public presets held; 4,096
	Absent      int           // absent documents remembered; 16,384
	AbsentFor   time.Duration // how long; 5 s
	LookupRate  float64       // of a workspace, look-ups a second that end in nothing; 20
	LookupBurst float64       // how many at once; 100
	FetchWithin time.Duration // for one look-up; 2 s
	PublicFor   time.Duration // after which a public preset is read again; 3 s
}

const (
	defaultCapacity    = 4_096
	defaultBytes       = 64 << 20
	defaultAbsent      = 16_384
	defaultAbsentFor   = 5 * time.Second
	defaultLookupRate  = 20
	defaultLookupBurst = 100
	defaultFetchWithin = 2 * time.Second
	defaultPublicFor   = 3 * time.Second
)

// Store holds presets. Finding a held one reads nothing.
type Store struct {
	o       Options
	held    *shelf
	public  *bounded.Cache[string, *published]            // by key
	absent  *bounded.Cache[string, time.Time]             // until when, by key
	budgets *bounded.Cache[id.Workspace, *bounded.Budget] // of those who guess

	mu      sync.Mutex
	flights map[string]*flight // by key
	silent  time.Time          // until when nothing that is held is read again: nobody answered

	fetched, unknown, refused, rejected, failures atomic.Int64
}

// New returns an empty store.
func New(o Options) *Store {
	o.Capacity = cmp.Or(o.Capacity, defaultCapacity)
	o.Bytes = cmp.Or(o.Bytes, defaultBytes)
	o.Public = cmp.Or(o.Public, defaultCapacity)
	o.Absent = cmp.Or(o.Absent, defaultAbsent)
	o.AbsentFor = cmp.Or(o.AbsentFor, defaultAbsentFor)
	o.LookupRate = cmp.Or(o.LookupRate, defaultLookupRate)
	o.LookupBurst = cmp.Or(o.LookupBurst, defaultLookupBurst)
	o.FetchWithin = cmp.Or(o.FetchWithin, defaultFetchWithin)
	o.PublicFor = cmp.Or(o.PublicFor, defaultPublicFor)
	return &Store{
		o:       o,
		held:    newShelf(o.Capacity, o.Bytes),
		public:  bounded.New[string, *published](o.Public),
		absent:  bounded.New[string, time.Time](o.Absent),
		budgets: bounded.New[id.Workspace, *bounded.Budget](o.Absent),
		flights: make(map[string]*flight),
	}
}

// wanted is a version that a name stands for.
type wanted struct {
	document
	by    id.Workspace // who asks
	of    id.Workspace // whose it is
	slug  string
	known bool // it was published: where it is missing, NATS has lost it
}

// Find returns the version that a name stands for: what follows the @, that is
// slug or handle/slug, and #version where one is pinned. A slug is the
// workspace's own, as view has it; owner is who made the key that asks, whose
// private presets it may use. The version is shared: callers must not change
// what it refers to.
//
// The error is a *fault.Error: preset_not_found (ErrUnknown), or
// upstream_undetermined (ErrUndetermined) while nobody can tell.
func (s *Store) Find(ctx context.Context, view *policy.View, owner id.User, text string) (*policy.PresetVersion, error) {
	n, ok := policy.ParsePresetName(text)
	if !ok {
		return nil, told(ErrUnknown)
	}
	w := wanted{by: view.Workspace(), slug: n.Slug}
	if n.Handle == "" {
		p, ok := view.Preset(n.Slug)
		if !ok || !p.Owner.IsZero() && p.Owner != owner {
			return nil, told(ErrUnknown)
		}
		w.of, w.document = w.by, document{p.ID, p.Version}
		if n.Version > 0 {
			w.version = n.Version
		}
		w.known = w.version <= p.Version // versions have no gaps
	} else {
		p, err := s.publicOf(ctx, w.by, n)
		if err != nil {
			return nil, told(err)
		}
		w.of, w.document, w.known = p.Workspace, document{p.Preset, p.Version}, true
		if n.Version > 0 && n.Version != p.Version {
			if !slices.Contains(p.Versions, n.Version) {
				return nil, told(ErrUnknown)
			}
			w.version = n.Version
		}
	}
	v, err := s.version(ctx, w)
	if err != nil {
		return nil, told(err)
	}
	return v, nil
}

// told is a failure as the caller hears it.
func told(err error) error {
	if errors.Is(err, ErrUnknown) {
		const message = "There is no preset with this name."
		f := fault.Wrap(err, fault.ModelNotFound, message).Because(fault.PresetNotFound)
		f.Violations = []fault.Violation{{Path: "model", Code: string(fault.ModelNotFound), Message: message}}
		return f
	}
	return fault.Wrap(err, fault.UpstreamUndetermined,
		"The preset cannot be read at the moment. Try again shortly.").From(fault.Gateway).After(time.Second)
}

// Status is the store's state for health pages and metrics.
type Status struct {
	Held     int   // versions
	Bytes    int64 // of them
	Public   int   // public presets
	Fetched  int64 // documents read
	Unknown  int64 // look-ups that found none
	Refused  int64 // that the budget held back
	Rejected int64 // documents that were damaged or another's
	Failures int64 // look-ups that could not be determined
}

// Status returns the present state.
func (s *Store) Status() Status {
	held, bytes := s.held.state()
	return Status{
		Held: held, Bytes: bytes, Public: s.public.Len(), Fetched: s.fetched.Load(), Unknown: s.unknown.Load(),
		Refused: s.refused.Load(), Rejected: s.rejected.Load(), Failures: s.failures.Load(),
	}
}
