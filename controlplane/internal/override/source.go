package override

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Source is the catalog to publish: the offered one under the overrides. It is
// merged and compiled once for each version of the overrides.
type Source struct {
	system txn.System
	store  Releases
	base   catalog.Catalog

	building sync.Mutex // held to compute, never to wait for the database
	last     atomic.Pointer[outcome]
}

// outcome is what a version of the overrides makes of the offered catalog.
type outcome struct {
	version int64 // -1 before the first look
	merged  catalog.Catalog
	err     error         // why the version does not fit; there is no merged then
	view    *catalog.View // of the last version that fits
}

// NewSource returns a source over base. It fails where base itself is wrong.
func NewSource(system txn.System, store Releases, base catalog.Catalog) (*Source, error) {
	view, err := catalog.Compile(base)
	if err != nil {
		return nil, fmt.Errorf("compile the offered catalog: %w", err)
	}
	s := &Source{system: system, store: store, base: base}
	s.last.Store(&outcome{version: -1, merged: base, view: view})
	return s, nil
}

// Catalog returns the catalog and the version of the overrides in it. Where the
// overrides do not fit the offered catalog any more it fails, and says why: to
// publish the offered one without them would undo what the operator decided.
func (s *Source) Catalog(ctx context.Context) (catalog.Catalog, int64, error) {
	found, err := s.look(ctx)
	switch {
	case err != nil:
		return catalog.Catalog{}, 0, err
	case found.err != nil:
		return catalog.Catalog{}, found.version, found.err
	}
	return found.merged, found.version, nil
}

// View is what is offered now; while the overrides do not fit, what was
// offered before. It reads the database, so it is asked before a transaction
// is begun: inside one of another scope it fails.
func (s *Source) View(ctx context.Context) (*catalog.View, error) {
	found, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	return found.view, nil
}

// look returns the outcome of the present version.
func (s *Source) look(ctx context.Context) (*outcome, error) {
	known := s.last.Load()
	var latest State
	fresh := false
	err := s.system.Read(ctx, func(ctx context.Context) error {
		version, err := s.store.Version(ctx)
		if fresh = err == nil && version != known.version; !fresh {
			return err
		}
		latest, err = s.store.Latest(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !fresh {
		return known, nil
	}
	return s.build(latest), nil
}

// build computes the outcome of a version, unless someone else just has.
func (s *Source) build(latest State) *outcome {
	s.building.Lock()
	defer s.building.Unlock()
	before := s.last.Load()
	if before.version == latest.Version {
		return before
	}
	next := outcomeOf(latest, s.base)
	if next.err != nil {
		next.view = before.view
	}
	s.last.Store(next)
	return next
}

func outcomeOf(st State, base catalog.Catalog) *outcome {
	st.Document.normal()
	out := &outcome{version: st.Version}
	merged, err := st.over(base)
	if err == nil {
		out.merged = merged
		out.view, err = catalog.Compile(merged)
	}
	if err != nil {
		out.err = fmt.Errorf("the operator's catalog, version %d, does not fit the catalog of this control plane, so gateways keep the catalog that they have: %w", st.Version, err)
	}
	return out
}

// Published notes with which revision a version went out.
func (s *Source) Published(ctx context.Context, version, revision int64, at time.Time) error {
	if version == 0 {
		return nil
	}
	return s.system.InTx(ctx, func(ctx context.Context) error { return s.store.Published(ctx, version, revision, at) })
}
