package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store keeps gateways over a restart of the control plane.
type Store interface {
	All(ctx context.Context) ([]Gateway, error)
	// Put stores gateways; one seen later elsewhere stays as it is.
	Put(ctx context.Context, list []Gateway) error
	// Prune deletes gateways not seen since.
	Prune(ctx context.Context, before time.Time) error
}

// Registry hears heartbeats. Every control plane has one, all hear the same,
// and all store what they heard; the later heartbeat wins.
type Registry struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	mu    sync.Mutex
	known map[id.Gateway]*entry
	deaf  time.Time // since when nothing can be heard; zero: hearing
}

type entry struct {
	Gateway
	keys, policy wire.Position
	changed      bool      // since it was stored
	spared       time.Time // its silence counts from here at the earliest
}

const (
	storeEvery = wire.HeartbeatEvery
	pruneEvery = time.Hour
	keepFor    = 7 * 24 * time.Hour
	maxKnown   = 10_000 // forged heartbeats must not fill the memory
)

// NewRegistry returns a registry that knows nobody yet.
func NewRegistry(store Store, now func() time.Time, log *slog.Logger) *Registry {
	return &Registry{store: store, now: now, log: log, known: make(map[id.Gateway]*entry)}
}

// Heard takes a heartbeat. One of an earlier moment, or of an instance that
// was replaced, changes nothing.
func (r *Registry) Heard(h wire.Heartbeat) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.known[h.Gateway]
	switch {
	case !ok && len(r.known) >= maxKnown:
		return
	case !ok:
		e = &entry{}
		r.known[h.Gateway] = e
	case e.Instance != h.Instance && h.StartedAt.Before(e.StartedAt):
		return
	}
	state := Live
	if h.Stopping {
		state = Stopped
	}
	*e = entry{
		Gateway: Gateway{
			ID: h.Gateway, Instance: h.Instance, Version: h.Version, Address: h.Address, StartedAt: h.StartedAt,
			LastSeenAt: r.now(), CatalogRevision: h.CatalogRevision, Stale: h.Stale, SpoolPending: h.SpoolPending, State: state,
		},
		keys: h.Keys, policy: h.Policy, changed: true,
	}
}

// Hearing says whether heartbeats can reach this control plane at all. While
// they cannot, the silence of a gateway proves nothing: who lived then counts
// as living, and gets time to speak up afterwards.
func (r *Registry) Hearing(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch now := r.now(); {
	case !yes && r.deaf.IsZero():
		r.deaf = now
	case yes && !r.deaf.IsZero():
		for _, e := range r.known {
			if e.state(r.deaf) == Live {
				e.spared = now
			}
		}
		r.deaf = time.Time{}
	}
}

// clock is the moment by which silence is judged. The caller holds mu.
func (r *Registry) clock() time.Time {
	if r.deaf.IsZero() {
		return r.now()
	}
	return r.deaf
}

// state says whether the gateway serves.
func (e *entry) state(now time.Time) State {
	heard := e.LastSeenAt
	if e.spared.After(heard) {
		heard = e.spared
	}
	if e.State == Live && now.Sub(heard) > wire.GatewayGoneAfter {
		return Gone
	}
	return e.State
}

// Live lists the gateways that publications wait for.
func (r *Registry) Live() []publication.Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	list := make([]publication.Standing, 0, len(r.known))
	for _, e := range r.known {
		if e.state(now) == Live {
			list = append(list, publication.Standing{Gateway: e.ID, Keys: e.keys, Policy: e.policy})
		}
	}
	return list
}

// Load takes over what was stored. Call it before the first wait for
// receipts: a control plane that just started must not believe that there are
// no gateways.
func (r *Registry) Load(ctx context.Context) error {
	stored, err := r.store.All(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	for _, g := range stored {
		// What is heard here itself is more: it has the positions too.
		if e, ok := r.known[g.ID]; !ok || (e.state(now) != Live && e.LastSeenAt.Before(g.LastSeenAt)) {
			r.known[g.ID] = &entry{Gateway: g}
		}
	}
	return nil
}

// Run stores what was heard, in batches, until ctx ends.
func (r *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(storeEvery)
	defer tick.Stop()
	loaded := r.Load(ctx) == nil
	var pruned time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if !loaded {
			loaded = r.Load(ctx) == nil
		}
		if err := r.save(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("gateways were not stored", slog.Any("error", err))
		}
		if now := r.now(); now.Sub(pruned) > pruneEvery {
			pruned = now
			r.prune(ctx, now.Add(-keepFor))
		}
	}
}

func (r *Registry) save(ctx context.Context) error {
	r.mu.Lock()
	var list []Gateway
	for _, e := range r.known {
		if e.changed {
			e.changed = false
			list = append(list, e.Gateway)
		}
	}
	r.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	return r.store.Put(ctx, list)
}

func (r *Registry) prune(ctx context.Context, before time.Time) {
	r.mu.Lock()
	for key, e := range r.known {
		if e.LastSeenAt.Before(before) {
			delete(r.known, key)
		}
	}
	r.mu.Unlock()
	if err := r.store.Prune(ctx, before); err != nil && ctx.Err() == nil {
		r.log.Warn("old gateways were not deleted", slog.Any("error", err))
	}
}
