package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Wants reports whether a pushed pointer concerns this gateway: the workspace
// is held at something older, or being read. A pointer that is not wanted needs
// no Apply. Absent workspaces are remembered by revision, so that a first use
// which reads an older pointer from a lagging replica is found out.
func (s *Store) Wants(ws id.Workspace, p policy.Pointer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed(ws, p.Revision)
	if h, ok := s.held.Get(ws); ok {
		return s.newer(p, h) || h.stale
	}
	_, reading := s.flights[ws]
	return reading
}

// pushed notes the newest revision that is known of.
func (s *Store) pushed(ws id.Workspace, revision int64) {
	s.recent.Update(ws, func(old int64, _ bool) (int64, bool) { return revision, revision > old })
}

// Apply puts what p names in place if it is newer than what is held. On
// failure the last good view stays and the caller must not acknowledge p.
func (s *Store) Apply(ctx context.Context, ws id.Workspace, p policy.Pointer) error {
	h, ok := s.held.Get(ws)
	switch {
	case ok && h.stale && p.Revision == h.view.Revision() && p.Digest == h.digest:
		s.swap(&held{view: h.view, digest: h.digest})
		return nil
	case ok && !s.newer(p, h):
		return nil
	}
	body, err := s.o.Source.PolicyBody(ctx, p)
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	view, err := s.compile(ws, p, body)
	if err != nil {
		return err
	}
	s.swap(&held{view: view, digest: p.Digest})
	s.o.Disk.Save(lastgood.Workspaces, ws.String(), body)
	return nil
}

// Refresh puts what p names in the place of what the disk has of a workspace
// that is not held.
func (s *Store) Refresh(ctx context.Context, ws id.Workspace, p policy.Pointer) error {
	have, err := s.o.Disk.Load(lastgood.Workspaces, ws.String())
	if err != nil || policy.Digest(have) == p.Digest {
		return nil // nothing there to be out of date
	}
	body, err := s.o.Source.PolicyBody(ctx, p)
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if _, err := s.compile(ws, p, body); err != nil {
		return err
	}
	s.o.Disk.Refresh(lastgood.Workspaces, ws.String(), body)
	return nil
}

func (s *Store) swap(next *held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.install(next)
}

// install puts next in place unless something later is there, and wakes who
// waits for it. The caller holds mu.
func (s *Store) install(next *held) {
	ws, done := next.view.Workspace(), false
	evicted, wasEvicted := s.held.Update(ws, func(old *held, ok bool) (*held, bool) {
		done = !ok || next.view.Revision() > old.view.Revision() ||
			(next.view.Revision() == old.view.Revision() && !next.stale)
		return next, done
	})
	if !done {
		return
	}
	if wasEvicted {
		s.o.Dropped(evicted)
	}
	s.o.Installed(next.view)
	s.loaded.Add(1)
	if c, ok := s.waiting[ws]; ok {
		close(c)
		delete(s.waiting, ws)
	}
}

// compile verifies and freezes a body.
func (s *Store) compile(ws id.Workspace, p policy.Pointer, body []byte) (*policy.View, error) {
	view, err := freeze(p.Digest, body)
	if err == nil && (view.Workspace() != ws || view.Revision() != p.Revision) {
		err = errors.New("body belongs to another pointer")
	}
	if err != nil {
		s.rejected.Add(1)
		s.o.Log.Error("policy was rejected, the last good one stays", slog.String("workspace_id", ws.String()), slog.Int64("revision", p.Revision), slog.Any("error", err))
		return nil, fmt.Errorf("policy at revision %d: %w", p.Revision, err)
	}
	return view, nil
}

func freeze(digest string, body []byte) (*policy.View, error) {
	snap, err := policy.DecodeSnapshot(body, digest)
	if err != nil {
		return nil, err
	}
	return policy.Compile(snap)
}

func (s *Store) fromDisk(ws id.Workspace) {
	if _, ok := s.held.Get(ws); ok {
		return
	}
	body, err := s.o.Disk.Load(lastgood.Workspaces, ws.String())
	if err != nil {
		return
	}
	digest := policy.Digest(body)
	view, err := freeze(digest, body)
	if err != nil || view.Workspace() != ws {
		s.rejected.Add(1)
		s.o.Log.Warn("last-known-good policy is not usable", slog.String("workspace_id", ws.String()), slog.Any("error", err))
		return
	}
	if pushed, _ := s.recent.Get(ws); view.Revision() < pushed {
		return // it was acknowledged that this is over
	}
	s.swap(&held{view: view, digest: digest, stale: true})
}

// heldCatalog is a catalog with where it came from; frozen.
type heldCatalog struct {
	view   *catalog.View
	digest string
}

// ApplyCatalog puts the catalog that p names in place if it is newer. On
// failure the last good one stays.
func (s *Store) ApplyCatalog(ctx context.Context, p policy.Pointer) error {
	if c := s.catalog.Load(); c != nil {
		if p.Digest == c.digest {
			s.catalogStale.Store(false)
			return nil
		}
		if p.Revision < c.view.Revision() {
			return nil
		}
	}
	body, err := s.o.Source.CatalogBody(ctx, p)
	if err != nil {
		return fmt.Errorf("read catalog: %w", err)
	}
	view, err := freezeCatalog(p.Digest, body)
	if err == nil && view.Revision() != p.Revision {
		err = errors.New("body belongs to another pointer")
	}
	if err != nil {
		s.rejected.Add(1)
		s.o.Log.Error("catalog was rejected, the last good one stays", slog.Int64("revision", p.Revision), slog.Any("error", err))
		return fmt.Errorf("catalog at revision %d: %w", p.Revision, err)
	}
	s.swapCatalog(&heldCatalog{view: view, digest: p.Digest}, false)
	s.o.Disk.Save(lastgood.Catalog, catalogName, body)
	return nil
}

const catalogName = "current"

// LoadCatalog serves the last-known-good catalog until NATS gives one. A
// missing or damaged file is no failure.
func (s *Store) LoadCatalog() {
	body, err := s.o.Disk.Load(lastgood.Catalog, catalogName)
	if err != nil {
		return
	}
	digest := policy.Digest(body)
	view, err := freezeCatalog(digest, body)
	if err != nil {
		s.rejected.Add(1)
		s.o.Log.Warn("last-known-good catalog is not usable", slog.Any("error", err))
		return
	}
	s.swapCatalog(&heldCatalog{view: view, digest: digest}, true)
}

func (s *Store) swapCatalog(next *heldCatalog, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.catalog.Load()
	if now != nil && (now.view.Revision() > next.view.Revision() || stale) {
		return
	}
	s.catalog.Store(next)
	s.catalogStale.Store(stale)
	s.loaded.Add(1)
}

func freezeCatalog(digest string, body []byte) (*catalog.View, error) {
	if policy.Digest(body) != digest {
		return nil, policy.ErrDigest
	}
	var c catalog.Catalog
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("decode catalog: %w", err)
	}
	if c.Schema != catalog.Schema {
		return nil, fmt.Errorf("%w: catalog has %d, want %d", policy.ErrSchema, c.Schema, catalog.Schema)
	}
	return catalog.Compile(c)
}
