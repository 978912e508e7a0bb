// Package lastgood owns the last-known-good directory: what a gateway served
// last, to be served again when it starts while NATS is away. It knows nothing
// of what the documents mean; a file that does not match its own digest is as
// good as none.
package lastgood

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Kind is a directory of documents.
type Kind string

// The kinds.
const (
	Keys       Kind = "keys"
	Workspaces Kind = "workspaces"
	Catalog    Kind = "catalog"
	Presets    Kind = "presets"
)

var kinds = []Kind{Keys, Workspaces, Catalog, Presets}

// ErrNone says that there is no usable document.
var ErrNone = errors.New("no last-known-good document")

const (
	header      = "signalbox last-known-good 1 "
	temporary   = ".writing"
	maxQueued   = 64 << 20 // bytes
	defaultKept = 100_000
)

// Store is the directory. Save and Remove only queue; Run writes.
type Store struct {
	dir string
	log *slog.Logger
	max int

	mu      sync.Mutex
	queue   map[place]order
	writing map[place]order // taken from queue, on its way to the disk
	queued  int
	wake    chan struct{}

	written, failed, dropped, corrupt atomic.Int64
}

type place struct {
	kind Kind
	name string
}

type order struct {
	body    []byte
	remove  bool
	refresh bool // only in the place of a file that is there
}

// Options bound the store.
type Options struct {
	Kept int // documents of a kind; the oldest go first. 0 is 100,000
	Log  *slog.Logger
}

// Open makes the directory where it is missing. Its files are readable by the
// process's user only.
func Open(dir string, o Options) (*Store, error) {
	for _, kind := range kinds {
		if err := os.MkdirAll(filepath.Join(dir, string(kind)), 0o700); err != nil {
			return nil, fmt.Errorf("open last-known-good directory: %w", err)
		}
	}
	if o.Kept == 0 {
		o.Kept = defaultKept
	}
	return &Store{dir: dir, log: o.Log, max: o.Kept, queue: make(map[place]order), wake: make(chan struct{}, 1)}, nil
}

// Load reads a document as it was saved or removed last, whether that is on
// the disk already or not. A damaged file is reported, counted and ignored.
func (s *Store) Load(kind Kind, name string) ([]byte, error) {
	if o, ok := s.underWay(place{kind, name}); ok {
		if o.remove {
			return nil, ErrNone
		}
		return o.body, nil
	}
	raw, err := os.ReadFile(s.path(place{kind, name}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("read last-known-good document: %w", err)
	}
	body, ok := decode(raw)
	if !ok {
		s.corrupt.Add(1)
		s.log.Warn("last-known-good document is damaged and ignored", slog.String("kind", string(kind)), slog.String("name", name))
		return nil, ErrNone
	}
	return body, nil
}

// Names lists the documents of a kind that are on the disk.
func (s *Store) Names(kind Kind) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, string(kind)))
	if err != nil {
		return nil, fmt.Errorf("list last-known-good documents: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), temporary) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Save queues a document to be written. A later Save of the same name replaces
// one that waits.
func (s *Store) Save(kind Kind, name string, body []byte) {
	s.enqueue(place{kind, name}, order{body: body})
}

// Refresh queues a document to be written where an older one is on the disk,
// and only there: what is not used now must not take room, and what is there
// must not outlive a change.
func (s *Store) Refresh(kind Kind, name string, body []byte) {
	s.enqueue(place{kind, name}, order{body: body, refresh: true})
}

func (s *Store) underWay(p place) (order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, ok := s.queue[p]; ok {
		return o, true
	}
	o, ok := s.writing[p]
	return o, ok
}

// Remove queues a document to be deleted.
func (s *Store) Remove(kind Kind, name string) { s.enqueue(place{kind, name}, order{remove: true}) }

func (s *Store) enqueue(p place, o order) {
	s.mu.Lock()
	before, waits := s.queue[p]
	if waits && o.refresh {
		o.refresh, o.remove = before.refresh, before.remove
	}
	if o.remove {
		o.body = nil
	}
	size := s.queued - len(before.body) + len(o.body)
	if size > maxQueued && !o.remove {
		// The disk cannot follow. What it has of this document is out of date:
		// none is better, and only missing after the next start.
		s.dropped.Add(1)
		size -= len(o.body)
		o = order{remove: true}
	}
	s.queue[p], s.queued = o, size
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Store) path(p place) string { return filepath.Join(s.dir, string(p.kind), p.name) }

func encode(body []byte) []byte {
	out := make([]byte, 0, len(header)+65+len(body))
	out = append(out, header...)
	out = append(out, policy.Digest(body)...)
	out = append(out, '\n')
	return append(out, body...)
}

func decode(raw []byte) ([]byte, bool) {
	line, body, ok := bytes.Cut(raw, []byte("\n"))
	if !ok {
		return nil, false
	}
	digest, ok := bytes.CutPrefix(line, []byte(header))
	return body, ok && policy.Digest(body) == string(digest)
}

// Counts are totals since the start.
type Counts struct {
	Written, Failed, Dropped, Corrupt int64
	Waiting                           int // documents not written yet
}

// Counts returns the store's counters.
func (s *Store) Counts() Counts {
	s.mu.Lock()
	waiting := len(s.queue)
	s.mu.Unlock()
	return Counts{
		Written: s.written.Load(), Failed: s.failed.Load(), Dropped: s.dropped.Load(), Corrupt: s.corrupt.Load(),
		Waiting: waiting,
	}
}
