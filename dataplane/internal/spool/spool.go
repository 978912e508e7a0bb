package spool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Spool is one gateway's record of usage. It is safe for concurrent use; only
// Run starts goroutines, and they end before it returns.
type Spool struct {
	opts    Options
	dir     string
	gateway id.Gateway
	lock    *os.File
	writeAt func(f *os.File, p []byte, off int64) (int, error) // replaced by tests that fill the disk

	mu        sync.Mutex
	closed    bool
	segments  []*segment // oldest first, the active one last
	bytes     int64      // of all segments, with what is still to be written to the active one
	journal   *journal   // nil where there is none
	tail      []byte     // what the journal holds
	jammed    bool       // the disk refused it
	next      uint64     // sequence of the next event
	committed uint64     // every sequence up to here is in Postgres
	acked     uint64     // every sequence up to here was stored by the stream, once
	taken     []uint64   // last sequences of the messages that the stream took, as far as not committed
	open      map[id.Request]openIntent
	held      []encoded  // completions that the disk refused, oldest first
	ages      []age      // when sequences were reached, oldest first
	sealing   []*segment // no longer active, not yet synced
	streamSeq uint64     // stream sequence of the newest acknowledgement
	wentBack  bool       // it fell since everything above committed was published
	failing   bool       // the last publish failed
	buf       []byte
	scratch   [eventHead + 20]byte // for the parts of a frame, which would not stay on the stack
	counts    counts
	follower  Follower // nil without one
	counted   uint64   // every sequence up to here is counted, as the follower last said

	wake     chan struct{} // something was appended
	rewind   chan struct{} // the stream lost records
	progress chan struct{} // closed and replaced when committed or acked rises
}

type openIntent struct {
	body    []byte
	segment *segment
}

// age remembers when a sequence was the newest.
type age struct {
	seq uint64
	at  time.Time
}

// Open takes dir for this process, creating it when it is missing, and brings
// it in order: intents that a dead process left become events with outcome
// unknown, damaged segments are moved aside with what was readable kept. It
// returns ErrInUse while another process has dir.
func Open(dir string, opts Options) (*Spool, error) {
	opts = opts.withDefaults()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create spool directory: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	s := &Spool{
		opts: opts, dir: dir, lock: lock,
		writeAt:  func(f *os.File, p []byte, off int64) (int, error) { return f.WriteAt(p, off) },
		open:     make(map[id.Request]openIntent),
		wake:     make(chan struct{}, 1),
		rewind:   make(chan struct{}, 1),
		progress: make(chan struct{}),
	}
	s.gateway, err = identity(dir, opts.IDs)
	if err == nil {
		err = replay(dir)
	}
	if err == nil {
		err = s.restore()
	}
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	s.startJournal()
	return s, nil
}

// GatewayID identifies the directory, and so the gateway across restarts.
func (s *Spool) GatewayID() id.Gateway { return s.gateway }

// Close syncs what was written and gives the directory back. Run must have
// ended. Completions that the disk refuses to the end are reported.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.writeHeld()
	s.closed = true
	var errs []error
	if s.flushTail() != nil {
		s.opts.Log.Warn("usage records stay in the spool's journal until the next start")
	}
	if s.journal != nil {
		errs = append(errs, s.journal.close())
		s.journal = nil
	}
	if n := len(s.held); n > 0 {
		errs = append(errs, fmt.Errorf("%d usage records could not be written; they will be recorded as unknown", n))
	}
	for _, seg := range append(s.sealing, s.active()) {
		errs = append(errs, seal(seg.file))
		seg.file = nil
	}
	errs = append(errs, s.lock.Close())
	return errors.Join(errs...)
}

func (s *Spool) active() *segment { return s.segments[len(s.segments)-1] }

// signal wakes whoever waits for acked or committed to rise. s.mu is held.
func (s *Spool) signal() {
	close(s.progress)
	s.progress = make(chan struct{})
}

// notify makes a token available in c without waiting.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
