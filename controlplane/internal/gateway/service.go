package gateway

import (
	"cmp"
	"context"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Service lists gateways.
type Service struct{ registry *Registry }

// NewService returns a Service over registry.
func NewService(registry *Registry) *Service { return &Service{registry: registry} }

// List returns every gateway of the last days, live ones first, then by id. It
// fails with unavailable while Postgres is away: what one control plane heard
// itself may not be all.
func (s *Service) List(ctx context.Context) ([]Gateway, error) {
	if err := s.registry.Load(ctx); err != nil {
		return nil, err
	}
	return s.registry.list(), nil
}

func (r *Registry) list() []Gateway {
	r.mu.Lock()
	now := r.clock()
	list := make([]Gateway, 0, len(r.known))
	for _, e := range r.known {
		g := e.Gateway
		g.State = e.state(now)
		list = append(list, g)
	}
	r.mu.Unlock()
	slices.SortFunc(list, func(a, b Gateway) int {
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return list
}

func rank(s State) int {
	if s == Live {
		return 0
	}
	return 1
}

// Behind counts the live gateways that serve a catalog before revision, as
// their heartbeats say.
func (s *Service) Behind(revision int64) int {
	n := 0
	for _, g := range s.registry.list() {
		if g.State == Live && g.CatalogRevision < revision {
			n++
		}
	}
	return n
}

// Lagging counts the live gateways whose catalog is older than a revision, or
// that have not followed the policies as far as one of the positions. One that
// was not heard since this control plane started counts, as it has told no
// position. It fails with unavailable, as List does.
func (s *Service) Lagging(ctx context.Context, catalog int64, policies []wire.Position) (int, error) {
	if err := s.registry.Load(ctx); err != nil {
		return 0, err
	}
	return s.registry.lagging(catalog, policies), nil
}

func (r *Registry) lagging(catalog int64, policies []wire.Position) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, n := r.clock(), 0
	for _, e := range r.known {
		short := func(p wire.Position) bool { return !reached(e.policy, p) }
		if e.state(now) == Live && (e.CatalogRevision < catalog || slices.ContainsFunc(policies, short)) {
			n++
		}
	}
	return n
}

// reached reports whether a gateway at p has what was written at q. A stream
// that was made later than q's was filled with what Postgres had then.
func reached(p, q wire.Position) bool { return p.Stream > q.Stream || p.Covers(q) }
