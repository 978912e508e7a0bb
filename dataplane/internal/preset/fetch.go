package preset

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/signalbox-dev/signalbox/dataplane/internal/bounded"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// flight is one look-up under way; who wants the same shares it.
type flight struct {
	done chan struct{}
	err  error
}

// once runs look for a key unless that is under way, and returns how it ended.
// The look-up has its own deadline: a caller that leaves must not fail the
// others. Where it is under way and wait is false, once returns at once.
func (s *Store) once(ctx context.Context, key string, wait bool, look func(context.Context) error) error {
	s.mu.Lock()
	f, joined := s.flights[key]
	if !joined {
		f = &flight{done: make(chan struct{}), err: errGone}
		s.flights[key] = f
	}
	s.mu.Unlock()
	switch {
	case joined && !wait:
		return nil
	case joined:
		select {
		case <-f.done:
			return f.err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUndetermined, ctx.Err())
		}
	}
	defer func() {
		s.mu.Lock()
		delete(s.flights, key)
		s.mu.Unlock()
		close(f.done)
	}()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.FetchWithin)
	defer cancel()
	f.err = look(within)
	return f.err
}

// errGone is of a look-up that panicked.
var errGone = fmt.Errorf("%w: the look-up broke off", ErrUndetermined)

// version returns a held version, or fetches it.
func (s *Store) version(ctx context.Context, w wanted) (*policy.PresetVersion, error) {
	if v := s.held.get(w.document); v != nil {
		return s.own(v, w)
	}
	key := wire.PresetVersion(w.preset, w.version)
	if !w.known && s.isAbsent(key) {
		return nil, ErrUnknown
	}
	var found *policy.PresetVersion
	err := s.once(ctx, key, true, func(ctx context.Context) (err error) {
		found, err = s.fetch(ctx, key, w)
		return err
	})
	switch {
	case errors.Is(err, ErrUnknown) && w.known:
		return nil, fmt.Errorf("%w: NATS does not have a published version", ErrUndetermined)
	case err != nil:
		return nil, err
	case found != nil:
		return found, nil
	}
	if v := s.held.get(w.document); v != nil { // somebody else fetched it
		return s.own(v, w)
	}
	return nil, fmt.Errorf("%w: let go at once", ErrUndetermined)
}

// own makes sure that a version is whose it is said to be.
func (s *Store) own(v *policy.PresetVersion, w wanted) (*policy.PresetVersion, error) {
	if v.Workspace != w.of || v.Slug != w.slug {
		return nil, fmt.Errorf("%w: the version belongs to another preset", ErrUndetermined)
	}
	return v, nil
}

// fetch reads a version from NATS, or from disk when NATS cannot be asked or has
// lost it.
func (s *Store) fetch(ctx context.Context, key string, w wanted) (*policy.PresetVersion, error) {
	body, err := s.read(ctx, key, w.by, w.known)
	if err == nil {
		var v *policy.PresetVersion
		if v, err = s.decode(body, w); err == nil {
			s.fetched.Add(1)
			s.held.put(w.document, v, int64(len(body)))
			s.o.Disk.Save(lastgood.Presets, key, body)
			return v, nil
		}
		s.reject(key, err)
	}
	if errors.Is(err, ErrUnknown) && !w.known {
		return nil, err
	}
	if kept, failed := s.o.Disk.Load(lastgood.Presets, key); failed == nil {
		if v, wrong := s.decode(kept, w); wrong == nil {
			s.held.put(w.document, v, int64(len(kept)))
			return v, nil
		}
	}
	s.failures.Add(1)
	if errors.Is(err, ErrUnknown) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrUndetermined, err)
}

// decode verifies that a document is the one that was asked for.
func (s *Store) decode(body []byte, w wanted) (*policy.PresetVersion, error) {
	v, err := policy.DecodePresetVersion(body)
	if err != nil {
		return nil, err
	}
	if v.Workspace != w.of || v.Preset != w.preset || v.Version != w.version || v.Slug != w.slug {
		return nil, errors.New("the document is of another preset or version")
	}
	return &v, nil
}

func (s *Store) reject(key string, err error) {
	s.rejected.Add(1)
	s.o.Log.Error("document of a preset is not usable", slog.String("document", key), slog.Any("error", err))
}

// read asks any replica, and the leader where that has none. known says that the
// look-up is no guess.
func (s *Store) read(ctx context.Context, key string, by id.Workspace, known bool) ([]byte, error) {
	budget := s.budgetOf(by)
	if !known && !budget.Take(s.o.Now()) {
		s.refused.Add(1)
		return nil, errors.New("too many look-ups of presets that are not there")
	}
	body, err := s.o.Source.PresetDocument(ctx, key)
	if fault.Is(err, fault.NotFound) {
		body, err = s.o.Source.PresetDocumentAtLeader(ctx, key)
	}
	switch {
	case fault.Is(err, fault.NotFound):
		s.unknown.Add(1)
		if !known {
			s.absent.Put(key, s.o.Now().Add(s.o.AbsentFor))
		}
		return nil, ErrUnknown
	case err == nil && !known:
		budget.Refund() // only look-ups that find nothing are dear
	}
	return body, err
}

func (s *Store) isAbsent(key string) bool {
	until, ok := s.absent.Get(key)
	return ok && s.o.Now().Before(until)
}

// budgetOf is a workspace's own: who guesses must not use up that of others.
func (s *Store) budgetOf(ws id.Workspace) (b *bounded.Budget) {
	s.budgets.Update(ws, func(old *bounded.Budget, ok bool) (*bounded.Budget, bool) {
		if b = old; !ok {
			b = bounded.NewBudget(s.o.LookupRate, s.o.LookupBurst, s.o.Now())
		}
		return b, !ok
	})
	return b
}
