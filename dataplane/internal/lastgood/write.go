package lastgood

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Run writes what was queued until ctx ends, and then what is left.
func (s *Store) Run(ctx context.Context) error {
	s.prune()
	for {
		select {
		case <-ctx.Done():
			s.flush()
			return nil
		case <-s.wake:
			s.flush()
		}
	}
}

func (s *Store) flush() {
	s.mu.Lock()
	queue := s.queue
	s.queue, s.writing, s.queued = make(map[place]order), queue, 0
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.writing = nil
		s.mu.Unlock()
	}()
	touched := make(map[Kind]bool, len(kinds))
	for p, o := range queue {
		if o.refresh && !s.has(p) {
			continue
		}
		if err := s.carryOut(p, o); err != nil {
			s.failed.Add(1)
			s.log.Error("last-known-good document was not written", slog.String("kind", string(p.kind)), slog.String("name", p.name), slog.Any("error", err))
			continue
		}
		touched[p.kind] = true
		s.written.Add(1)
	}
	for kind := range touched {
		if err := syncDir(filepath.Join(s.dir, string(kind))); err != nil {
			s.log.Error("last-known-good directory was not synced", slog.String("kind", string(kind)), slog.Any("error", err))
		}
	}
}

func (s *Store) has(p place) bool {
	_, err := os.Lstat(s.path(p))
	return !errors.Is(err, fs.ErrNotExist)
}

// carryOut writes or removes a file. What cannot be replaced is removed, which
// a full disk allows too: it is out of date.
func (s *Store) carryOut(p place, o order) error {
	var err error
	if !o.remove {
		if err = s.write(p, encode(o.body)); err == nil {
			return nil
		}
	}
	gone := os.Remove(s.path(p))
	if errors.Is(gone, fs.ErrNotExist) {
		gone = nil
	}
	return errors.Join(err, gone)
}

// write replaces a file so that a crash leaves the old one or the new one.
func (s *Store) write(p place, data []byte) (err error) {
	path := s.path(p)
	f, err := os.OpenFile(path+temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(path+temporary, path)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// prune deletes the oldest files beyond the bound, and unfinished ones: every
// start may have held other documents than the one before.
func (s *Store) prune() {
	for _, kind := range kinds {
		if err := s.pruneKind(filepath.Join(s.dir, string(kind))); err != nil {
			s.log.Warn("last-known-good directory was not pruned", slog.String("kind", string(kind)), slog.Any("error", err))
		}
	}
}

func (s *Store) pruneKind(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	type file struct {
		path string
		at   time.Time
	}
	files := make([]file, 0, len(entries))
	var failed []error
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(path, temporary) {
			failed = append(failed, os.Remove(path))
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, file{path, info.ModTime()})
		}
	}
	if len(files) > s.max {
		slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.at.UnixNano(), a.at.UnixNano()) })
		for _, f := range files[s.max:] {
			failed = append(failed, os.Remove(f.path))
		}
	}
	return errors.Join(failed...)
}
