package body

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Spool keeps the bodies that are too large for memory in files of their own,
// which have no name: however the process ends, the disk gets its room back.
type Spool struct {
	dir  string
	most int64        // bytes of all bodies at once
	used atomic.Int64 // of most

	// create opens a new file; a test's is full.
	create func() (file, error)
}

// file is what is needed of an os.File.
type file interface {
	io.WriteCloser
	Fd() uintptr
}

// OpenSpool takes dir, which it makes and empties: what is left there is of a
// process that died between making a file and taking its name away. The bodies
// in it never take more than most bytes, so that they cannot fill a disk that
// the usage records need too.
func OpenSpool(dir string, most int64) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for large bodies: %w", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the directory for large bodies: %w", err)
	}
	for _, entry := range left {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return nil, fmt.Errorf("empty the directory for large bodies: %w", err)
		}
	}
	s := &Spool{dir: dir, most: most}
	s.create = s.unnamed
	return s, nil
}

func (s *Spool) unnamed() (file, error) {
	f, err := os.CreateTemp(s.dir, "body-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

var errFull = errors.New("the bodies on disk take all the room that they may")

// keep writes head and what r still has into a file, at most limit bytes, and
// maps it: Bytes are then pages of the file, not of the heap.
func (s *Spool) keep(head []byte, r io.Reader, size, limit int64) (Body, *fault.Error) {
	f, err := s.create()
	if err != nil {
		return Body{}, noRoom(err)
	}
	defer func() { _ = f.Close() }() // a mapping does not need it; what it holds is of one request
	w := &metered{spool: s, file: f}
	if _, err = w.Write(head); err == nil {
		_, err = io.Copy(w, io.LimitReader(r, limit-int64(len(head))+1))
	}
	var refusal *fault.Error
	switch {
	case w.err != nil:
		refusal = noRoom(w.err)
	case w.n > limit:
		refusal = tooLarge(limit)
	case err == nil && w.n < size:
		refusal = unreadable(io.ErrUnexpectedEOF)
	case err != nil:
		refusal = unreadable(err)
	}
	if refusal == nil {
		data, err := syscall.Mmap(int(f.Fd()), 0, int(w.n), syscall.PROT_READ, syscall.MAP_SHARED)
		if err == nil {
			return Body{Bytes: data, Held: newHeld(s, data)}, nil
		}
		refusal = noRoom(err)
	}
	s.used.Add(-w.taken)
	return Body{}, refusal
}

// metered writes to a file within the spool's bound. It keeps its own error,
// to be told from one of the other side.
type metered struct {
	spool    *Spool
	file     io.Writer
	n, taken int64
	err      error
}

// Write implements io.Writer.
func (w *metered) Write(p []byte) (int, error) {
	w.taken += int64(len(p))
	if w.spool.used.Add(int64(len(p))) > w.spool.most {
		w.err = errFull
		return 0, w.err
	}
	n, err := w.file.Write(p)
	w.n += int64(n)
	w.err = err
	return n, err
}

// Held is a body in a file. Whoever reads it retains it; its memory is gone
// with the last release.
type Held struct {
	spool *Spool
	data  []byte
	users atomic.Int32
}

// newHeld returns data with one user, who must release it.
func newHeld(s *Spool, data []byte) *Held {
	h := &Held{spool: s, data: data}
	h.users.Store(1)
	return h
}

// Retain implements call.Storage.
func (h *Held) Retain() {
	if h.users.Add(1) < 2 {
		panic("body: retained after its last release")
	}
}

// Release implements call.Storage.
func (h *Held) Release() {
	switch n := h.users.Add(-1); {
	case n < 0:
		panic("body: released more often than retained")
	case n == 0:
		h.spool.used.Add(-int64(len(h.data)))
		_ = syscall.Munmap(h.data) // fails only for what was never mapped
		h.data = nil
	}
}

func noRoom(err error) *fault.Error {
	return fault.Wrap(err, fault.Unavailable,
		"This gateway has no room for a body of this size at the moment. Try again, or send less.").From(fault.Gateway).After(retryIn)
}
