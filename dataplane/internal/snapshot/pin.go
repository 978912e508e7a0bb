package snapshot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

const (
	retryFirst = 20 * time.Millisecond
	retryMax   = 500 * time.Millisecond
)

// flight is one read of a workspace's policy; callers share it.
type flight struct {
	done chan struct{}
	err  error
}

// await loads the policy of ws and waits until it is new enough.
func (s *Store) await(ctx context.Context, ws id.Workspace, minRevision int64) (*policy.View, error) {
	within, cancel := context.WithTimeout(ctx, s.o.PinWithin)
	defer cancel()
	pause := retryFirst
	for {
		installed := s.nextInstall(ws)
		err := s.load(within, ws, minRevision)
		h, ok := s.held.Get(ws)
		switch {
		case ok && (h.view.Revision() >= minRevision || !s.o.Source.Connected()):
			return h.view, nil
		case !ok && !s.o.Source.Connected():
			return s.undetermined(err)
		}
		select {
		case <-installed:
		case <-time.After(pause):
			pause = min(2*pause, retryMax)
		case <-within.Done():
			if err == nil || errors.Is(err, context.Canceled) {
				err = fmt.Errorf("no policy at revision %d within %s", minRevision, s.o.PinWithin)
			}
			return s.orStaleDisk(ws, minRevision, err)
		}
	}
}

// orStaleDisk serves from disk what NATS would not give although it is
// reachable, when that is new enough.
func (s *Store) orStaleDisk(ws id.Workspace, minRevision int64, cause error) (*policy.View, error) {
	if h, ok := s.held.Get(ws); ok {
		if h.view.Revision() >= minRevision {
			return h.view, nil
		}
		return s.undetermined(cause)
	}
	if fault.Is(cause, fault.NotFound) {
		return s.undetermined(cause)
	}
	s.fromDisk(ws)
	if h, ok := s.held.Get(ws); ok && h.view.Revision() >= minRevision {
		return h.view, nil
	}
	return s.undetermined(cause)
}

func (s *Store) undetermined(cause error) (*policy.View, error) {
	s.failures.Add(1)
	return nil, fmt.Errorf("%w: %w", ErrUndetermined, cause)
}

// nextInstall returns a channel that is closed when a view of ws is put in
// place.
func (s *Store) nextInstall(ws id.Workspace) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.waiting[ws]
	if !ok {
		c = make(chan struct{})
		s.waiting[ws] = c
	}
	return c
}

// load reads pointer and body of ws once, with others who want the same.
func (s *Store) load(ctx context.Context, ws id.Workspace, minRevision int64) error {
	s.mu.Lock()
	f, joined := s.flights[ws]
	if !joined {
		f = &flight{done: make(chan struct{})}
		s.flights[ws] = f
	}
	s.mu.Unlock()
	if joined {
		select {
		case <-f.done:
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	read, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.LoadWithin)
	defer cancel()
	f.err = s.read(read, ws, minRevision)
	close(f.done)
	return f.err
}

// read ends the flight of ws.
func (s *Store) read(ctx context.Context, ws id.Workspace, minRevision int64) error {
	const tries = 3 // each further one means that the subscription broke meanwhile
	err := errors.New("the subscription keeps breaking")
	for range tries {
		s.mu.Lock()
		epoch, atLeader := s.epoch, s.o.Now().Before(s.leaders)
		s.mu.Unlock()
		var next *held
		next, err = s.readOnce(ctx, ws, minRevision, atLeader)
		s.mu.Lock()
		if epoch != s.epoch {
			s.mu.Unlock()
			continue
		}
		delete(s.flights, ws)
		if next != nil {
			s.install(next)
		}
		s.mu.Unlock()
		if err != nil && !s.o.Source.Connected() {
			s.fromDisk(ws)
		}
		return err
	}
	s.mu.Lock()
	delete(s.flights, ws)
	s.mu.Unlock()
	return err
}

// readOnce asks any replica first; absence and a pointer older than what is
// wanted or was pushed are settled by the leader.
func (s *Store) readOnce(ctx context.Context, ws id.Workspace, minRevision int64, atLeader bool) (*held, error) {
	p, err := s.pointer(ctx, ws, minRevision, atLeader)
	if err != nil {
		return nil, err
	}
	if h, ok := s.held.Get(ws); ok && !s.newer(p, h) {
		if h.stale && p.Digest == h.digest {
			return &held{view: h.view, digest: h.digest}, nil // confirmed
		}
		return nil, nil
	}
	body, err := s.o.Source.PolicyBody(ctx, p)
	if err != nil {
		return nil, err
	}
	view, err := s.compile(ws, p, body)
	if errors.Is(err, policy.ErrSchema) {
		s.pushed(ws, p.Revision) // it was pushed to another life of this gateway: what the disk has is over
	}
	if err != nil {
		return nil, err
	}
	s.o.Disk.Save(lastgood.Workspaces, ws.String(), body)
	return &held{view: view, digest: p.Digest}, nil
}

func (s *Store) pointer(ctx context.Context, ws id.Workspace, minRevision int64, atLeader bool) (p policy.Pointer, err error) {
	if !atLeader {
		p, err = s.o.Source.Policy(ctx, ws)
		pushed, _ := s.recent.Get(ws)
		atLeader = fault.Is(err, fault.NotFound) || (err == nil && p.Revision < max(minRevision, pushed))
	}
	if atLeader {
		p, err = s.o.Source.PolicyAtLeader(ctx, ws)
	}
	return p, err
}

// newer reports whether p names something to put in the place of h. An equal
// revision with other bytes is the same policy in a newer control plane's
// words.
func (*Store) newer(p policy.Pointer, h *held) bool {
	return p.Revision > h.view.Revision() || (p.Revision == h.view.Revision() && p.Digest != h.digest)
}
