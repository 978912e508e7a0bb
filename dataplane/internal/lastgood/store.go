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
)

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

	mu     sync.Mutex
	queue  map[place]order
	queued int
	wake   chan struct{}

	written, failed, dropped, corrupt atomic.Int64
}

type place struct {
	kind Kind
	name string
}

type order struct {
	body   []byte
	remove bool
}

// Options bound the store.
type Options struct {
	Kept int // documents of a kind; the oldest go first. 0 is 100,000
	Log  *slog.Logger
}

// Open makes the directory where it is missing. Its files are readable by the
// process's user only.
func Open(dir string, o Options) (*Store, error) {
	for _, kind := range []Kind{Keys, Workspaces, Catalog} {
		if err := os.MkdirAll(filepath.Join(dir, string(kind)), 0o700); err != nil {
			return nil, fmt.Errorf("open last-known-good directory: %w", err)
		}
	}
	if o.Kept == 0 {
		o.Kept = defaultKept
	}
	return &Store{dir: dir, log: o.Log, max: o.Kept, queue: make(map[place]order), wake: make(chan struct{}, 1)}, nil
}

// Load reads a document. A damaged file is reported, counted and ignored.
func (s *Store) Load(kind Kind, name string) ([]byte, error) {
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

// Save queues a document to be written. A later Save of the same name replaces
// one that waits.
func (s *Store) Save(kind Kind, name string, body []byte) {
	s.enqueue(place{kind, name}, order{body: body})
}

// Remove queues a document to be deleted.
func (s *Store) Remove(kind Kind, name string) { s.enqueue(place{kind, name}, order{remove: true}) }

func (s *Store) enqueue(p place, o order) {
	s.mu.Lock()
	size := s.queued - len(s.queue[p].body) + len(o.body)
	if size > maxQueued && !o.remove {
		// The disk cannot follow. What is on it stays good; a document that
		// could not be saved is only missing after the next start.
		s.mu.Unlock()
		s.dropped.Add(1)
		return
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
