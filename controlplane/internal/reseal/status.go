package reseal

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/wire"
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
	Workspace int // keys that workspaces brought, and secrets of their webhooks
	Platform  int // the operator's, in the platform's catalog
	Published int // the platform's, in the catalog that gateways read
}

// Status is which key seals what.
type Status struct {
	Keys  []Key // in the order of the keyring; those that are missing in it come last
	Stale int   // what older keys sealed, over all of them
	// Unconfirmed are publications of re-sealed workspaces that wait for gateways.
	Unconfirmed int
	// Behind are live gateways with an older catalog than the published one, or
	// without a workspace as it was re-sealed, though nothing waits for them any more.
	Behind int
}

// Droppable reports whether the older keys can go: nothing that is stored or
// published was sealed by one, and no gateway may still need one.
func (s Status) Droppable() bool { return s.Stale == 0 && s.Unconfirmed == 0 && s.Behind == 0 }

// stale counts what keys before the primary one sealed. Dropping changes nothing
// for what newer ones sealed, nor for what the keyring does not open anyway.
func stale(ring *seal.Keyring, counts ...Count) int {
	n := 0
	for _, count := range counts {
		for key, sealed := range count {
			if roleOf(ring, key) == Older {
				n += sealed
			}
		}
	}
	return n
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
	// Progress counts the publications of a change whose account is open, and
	// tells where, in each stream of policies, the last of all is. An account is
	// closed in the end whoever has not applied the change.
	Progress(ctx context.Context, change string) (open int, reach []wire.Position, err error)
}

// Catalog knows what gateways read.
type Catalog interface {
	// Seals count the published catalog's keys by what sealed them.
	Seals(ctx context.Context) (revision int64, seals Count, err error)
}

// Fleet knows the live gateways.
type Fleet interface {
	// Lagging counts those whose catalog is older than a revision, or that have not
	// followed the policies as far as one of the positions.
	Lagging(ctx context.Context, catalog int64, policies []wire.Position) (int, error)
}

// Change is what re-sealing is called in publications and audit logs.
const Change = "byok.reseal"

// StatusDeps are what a Service works with.
type StatusDeps struct {
	Ring                Ring // nil where there is no keyring
	Workspace, Platform Counter
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
	unconfirmed, reach, err := s.d.Publications.Progress(ctx, Change)
	if err != nil {
		return Status{}, err
	}
	behind, err := s.d.Fleet.Lagging(ctx, revision, reach)
	if err != nil {
		return Status{}, err
	}
	found := Status{Stale: stale(ring, workspace, platform, published), Unconfirmed: unconfirmed, Behind: behind}
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
