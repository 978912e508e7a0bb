package override

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// Source is the catalog to publish: the offered one under the overrides. It is
// merged anew only when the overrides have another version.
type Source struct {
	system txn.System
	store  Store
	base   catalog.Catalog

	mu      sync.Mutex
	version int64 // of merged and err; -1 before the first look
	merged  catalog.Catalog
	err     error
}

// NewSource returns a source over base.
func NewSource(system txn.System, store Store, base catalog.Catalog) *Source {
	return &Source{system: system, store: store, base: base, version: -1, merged: base}
}

// Catalog returns the catalog and the version of the overrides in it. Where the
// overrides do not fit the offered catalog any more it fails, and says why: to
// publish the offered one without them would undo what the operator decided.
func (s *Source) Catalog(ctx context.Context) (catalog.Catalog, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.system.Read(ctx, func(ctx context.Context) error {
		version, err := s.store.Version(ctx)
		if err != nil || version == s.version {
			return err
		}
		latest, err := s.store.Latest(ctx)
		if err != nil {
			return err
		}
		latest.Document.normal()
		merged, wrong := latest.over(s.base)
		if wrong == nil {
			s.merged = merged
		} else {
			wrong = fmt.Errorf("the operator's catalog, version %d, does not fit the catalog of this control plane, so gateways keep the catalog that they have: %w", latest.Version, wrong)
		}
		s.version, s.err = latest.Version, wrong
		return nil
	})
	if err != nil {
		return catalog.Catalog{}, 0, err
	}
	return s.merged, s.version, s.err
}

// Current is what is offered now, for those who check names against it.
type Current struct{ source *Source }

// Current looks at what is offered whenever it is asked.
func (s *Source) Current() Current { return Current{source: s} }

// lookWithin bounds a look, which has a context of its own: it must not join
// the transaction of who asks.
const lookWithin = time.Second

// Catalog is what is offered now; while the database is away, or the overrides
// do not fit, what was offered at the last look.
func (c Current) Catalog() catalog.Catalog {
	ctx, cancel := context.WithTimeout(context.Background(), lookWithin)
	defer cancel()
	_, _, _ = c.source.Catalog(ctx) // on failure the last merged one stays
	c.source.mu.Lock()
	defer c.source.mu.Unlock()
	return c.source.merged
}

// Provider finds a provider by its slug or an alias, in any case.
func (c Current) Provider(name string) (catalog.Provider, bool) {
	for _, p := range c.Catalog().Providers {
		if strings.EqualFold(p.Slug, name) || slices.ContainsFunc(p.Aliases, func(a string) bool { return strings.EqualFold(a, name) }) {
			return p, true
		}
	}
	return catalog.Provider{}, false
}

// Published notes with which revision a version went out.
func (s *Source) Published(ctx context.Context, version, revision int64, at time.Time) error {
	if version == 0 {
		return nil
	}
	return s.system.InTx(ctx, func(ctx context.Context) error { return s.store.Published(ctx, version, revision, at) })
}
