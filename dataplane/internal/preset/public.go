package preset

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// published is a public preset as it was read last; frozen.
type published struct {
	policy.PublicPreset
	until time.Time // from when on it is read again
}

// publicOf returns what @handle/slug means. One that is held is read again every
// few seconds, by one of those who use it while the others go on with what is
// held; nothing that is held goes back to an older revision, or away because it
// cannot be read. Once nobody answered, others that are held are not tried for as
// long: a request may name many.
func (s *Store) publicOf(ctx context.Context, by id.Workspace, n policy.PresetName) (*published, error) {
	key := wire.PublicPreset(n.Handle, n.Slug)
	p, held := s.public.Get(key)
	if !held && s.isAbsent(key) {
		return nil, ErrUnknown
	}
	if !held || !s.o.Now().Before(p.until) && s.answers() {
		err := s.once(ctx, key, !held, func(ctx context.Context) error { return s.look(ctx, key, by, held) })
		now, ok := s.public.Get(key)
		switch {
		case ok:
			p = now
		case held: // let go meanwhile
		case err == nil:
			return nil, fmt.Errorf("%w: let go at once", ErrUndetermined)
		default:
			return nil, err
		}
	}
	if p.Version == 0 {
		return nil, ErrUnknown // it is public no more
	}
	return p, nil
}

// look reads a public preset. held says that an earlier look found it.
func (s *Store) look(ctx context.Context, key string, by id.Workspace, held bool) error {
	body, err := s.read(ctx, key, by, held)
	silent := err != nil && !errors.Is(err, ErrUnknown)
	var p policy.PublicPreset
	if err == nil {
		if p, err = policy.DecodePublicPreset(body); err == nil {
			s.fetched.Add(1)
			if s.keep(key, p) {
				s.o.Disk.Save(lastgood.Presets, fileOf(key), body)
			}
			return nil
		}
		s.reject(key, err)
	}
	switch {
	case held:
		s.extend(key, silent)
		return nil
	case errors.Is(err, ErrUnknown):
		return err
	}
	kept, failed := s.o.Disk.Load(lastgood.Presets, fileOf(key))
	if failed == nil {
		if p, failed = policy.DecodePublicPreset(kept); failed == nil {
			s.keep(key, p)
			return nil
		}
	}
	s.failures.Add(1)
	return fmt.Errorf("%w: %w", ErrUndetermined, err)
}

// keep holds a public preset, or the one that is held if that is newer, until it
// is to be read again. It reports whether the document is a new one.
func (s *Store) keep(key string, p policy.PublicPreset) (isNew bool) {
	until := s.o.Now().Add(s.o.PublicFor)
	s.public.Update(key, func(old *published, ok bool) (*published, bool) {
		if ok && old.Revision > p.Revision {
			p = old.PublicPreset
		}
		isNew = !ok || p.Revision > old.Revision
		return &published{p, until}, true
	})
	return isNew
}

// extend holds a public preset as it is for as long again, and where nobody
// answered all others.
func (s *Store) extend(key string, silent bool) {
	until := s.o.Now().Add(s.o.PublicFor)
	s.public.Update(key, func(old *published, ok bool) (*published, bool) {
		if !ok {
			return nil, false
		}
		return &published{old.PublicPreset, until}, true
	})
	if silent {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.silent = until
	}
}

// answers is false for a while after nobody answered.
func (s *Store) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.o.Now().Before(s.silent)
}

// fileOf is the name of a public preset's file: its key may hold a slash.
func fileOf(key string) string { return policy.Digest([]byte(key)) }
