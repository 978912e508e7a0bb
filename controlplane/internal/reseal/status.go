package reseal

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// Role is what a key does in the keyring.
type Role string

// The roles. Newer is appended and not promoted yet; Missing seals something
// and is not in the keyring.
const (
	Sealing Role = "sealing"
	Newer   Role = "newer"
	Older   Role = "older"
	Missing Role = "missing"
)

func roleOf(ring *seal.Keyring, key uint32) Role {
	ids := ring.IDs()
	at, primary := slices.Index(ids, key), slices.Index(ids, ring.PrimaryID())
	switch {
	case at < 0:
		return Missing
	case at < primary:
		return Older
	case at > primary:
		return Newer
	}
	return Sealing
}

// Key is a key and what it seals.
type Key struct {
	ID        uint32
	Role      Role
	Workspace int // keys that workspaces brought
	Platform  int // the operator's, in the platform's catalog
	Published int // the platform's, in the catalog that gateways read
}

// Status is which key seals what.
type Status struct {
	Keys []Key // in the order of the keyring; those that are missing in it come last
	// Unconfirmed are re-sealed workspaces whose publication is not in every
	// gateway yet.
	Unconfirmed int
	// Behind are gateways with an older catalog than the published one.
	Behind int
}

// Droppable reports whether the older keys can go: nothing that is stored or
// published was sealed by one, and no gateway may still need one.
func (s Status) Droppable() bool {
	if s.Unconfirmed > 0 || s.Behind > 0 {
		return false
	}
	return !slices.ContainsFunc(s.Keys, func(k Key) bool {
		return k.Role == Older && k.Workspace+k.Platform+k.Published > 0
	})
}

// SealingID is the id of the key that seals.
func (s Status) SealingID() uint32 {
	for _, k := range s.Keys {
		if k.Role == Sealing {
			return k.ID
		}
	}
	return 0
}

// Publications know how far re-sealed workspaces have come.
type Publications interface {
	// Unconfirmed counts the publications of a change that are open.
	Unconfirmed(ctx context.Context, change string) (int, error)
}

// Catalog knows what gateways read.
type Catalog interface {
	// Seals count the published catalog's keys by what sealed them.
	Seals(ctx context.Context) (revision int64, seals Count, err error)
}

// Fleet knows the live gateways.
type Fleet interface {
	// Behind counts those whose catalog is older than a revision.
	Behind(revision int64) int
}

// Change is what re-sealing is called in publications and audit logs.
const Change = "byok.reseal"

// StatusDeps are what a Service works with.
type StatusDeps struct {
	Ring                Ring // nil where there is no keyring
	Workspace, Platform Part
	Publications        Publications
	Catalog             Catalog
	Fleet               Fleet
}

// Service answers which key seals what.
type Service struct{ d StatusDeps }

// NewService returns a Service over d.
func NewService(d StatusDeps) *Service { return &Service{d: d} }

// Status looks at all that is sealed. It fails with conflict where there is no
// keyring, and unavailable.
func (s *Service) Status(ctx context.Context) (Status, error) {
	if s.d.Ring == nil {
		return Status{}, fault.New(fault.Conflict, "This platform has no keyring. Its operator sets keyring_file.")
	}
	ring := s.d.Ring.Current()
	workspace, err := s.d.Workspace.Seals(ctx)
	if err != nil {
		return Status{}, err
	}
	platform, err := s.d.Platform.Seals(ctx)
	if err != nil {
		return Status{}, err
	}
	revision, published, err := s.d.Catalog.Seals(ctx)
	if err != nil {
		return Status{}, fault.Wrap(err, fault.Unavailable, "The published catalog cannot be read at the moment. Try again shortly.")
	}
	unconfirmed, err := s.d.Publications.Unconfirmed(ctx, Change)
	if err != nil {
		return Status{}, err
	}
	found := Status{Unconfirmed: unconfirmed, Behind: s.d.Fleet.Behind(revision)}
	for _, key := range keysOf(ring, workspace, platform, published) {
		found.Keys = append(found.Keys, Key{
			ID: key, Role: roleOf(ring, key), Workspace: workspace[key], Platform: platform[key], Published: published[key],
		})
	}
	return found, nil
}

func keysOf(ring *seal.Keyring, counts ...Count) []uint32 {
	ids := ring.IDs()
	missing := make(map[uint32]bool)
	for _, count := range counts {
		for key := range count {
			missing[key] = !slices.Contains(ids, key)
		}
	}
	maps.DeleteFunc(missing, func(_ uint32, is bool) bool { return !is })
	return append(ids, slices.Sorted(maps.Keys(missing))...)
}
