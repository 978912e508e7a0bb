package spool

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
)

// position is a place between two frames.
type position struct {
	segment uint64 // number; 0 is before every segment
	off     int64
}

// cursor reads events from the segments, oldest first, while they grow.
type cursor struct {
	s    *Spool
	at   position // of the next frame
	file *os.File
	buf  []byte // read and not yet taken, from at on
	mem  []byte // what buf is the end of, used again
}

// readChunk is how much is read from a segment in one go.
const readChunk = 256 << 10

// seek moves the cursor.
func (c *cursor) seek(at position) {
	c.close()
	c.at = at
}

func (c *cursor) close() {
	if c.file != nil {
		_ = c.file.Close()
	}
	c.file, c.buf = nil, nil
}

// next returns the next event, or false when there is none yet. Its body holds
// until the next call.
func (c *cursor) next() (event, bool, error) {
	for {
		f, n, result := readFrame(c.buf)
		if len(c.buf) == 0 {
			result = readShort
		}
		switch result {
		case readOK:
			c.advance(n)
			if e, ok := parseEvent(f); ok {
				return e, true, nil
			}
		case readBad:
			// Every segment was whole when the spool was opened.
			c.s.damaged(c.at)
			skip := bytes.Index(c.buf[1:], magic[:])
			if skip < 0 {
				skip = len(c.buf) - 1
			}
			c.advance(1 + skip)
		case readShort:
			more, err := c.fill()
			if err != nil || !more {
				return event{}, false, err
			}
		}
	}
}

func (c *cursor) advance(n int) {
	c.buf = c.buf[n:]
	c.at.off += int64(n)
}

// fill reads more, going on to the next segment at the end of a closed one. It
// returns false when everything was read.
func (c *cursor) fill() (bool, error) {
	for {
		seg, active := c.s.segmentAt(c.at.segment)
		if seg.number != c.at.segment {
			c.seek(position{segment: seg.number})
		}
		from := c.at.off + int64(len(c.buf))
		if from >= seg.size {
			if active {
				return false, nil
			}
			c.seek(position{segment: seg.number + 1}) // an incomplete tail was never acknowledged
			continue
		}
		if c.file == nil {
			f, err := os.Open(seg.path)
			if errors.Is(err, os.ErrNotExist) {
				c.seek(position{segment: seg.number + 1}) // committed and deleted meanwhile
				continue
			}
			if err != nil {
				return false, fmt.Errorf("open spool segment: %w", err)
			}
			c.file = f
		}
		return true, c.read(int(min(readChunk+int64(len(c.buf)), seg.size-from)), from)
	}
}

// read reads n bytes of the segment behind what is there.
func (c *cursor) read(n int, from int64) error {
	c.mem = slices.Grow(append(c.mem[:0], c.buf...), n)
	c.buf = c.mem
	if _, err := c.file.ReadAt(c.mem[len(c.mem):len(c.mem)+n], from); err != nil {
		return fmt.Errorf("read spool segment: %w", err)
	}
	c.buf = c.mem[:len(c.mem)+n]
	return nil
}

// segmentAt returns a copy of the segment with that number, or of the first one
// after it, and whether it is the active one.
func (s *Spool) segmentAt(number uint64) (segment, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		if seg.number >= number {
			return *seg, seg == s.active()
		}
	}
	return *s.active(), true
}

// damaged reports that a segment went bad while the gateway was running. What
// it held is found and reported at the next start.
func (s *Spool) damaged(at position) {
	s.mu.Lock()
	s.counts.damagedReads++
	s.mu.Unlock()
	s.opts.Log.Error("spool segment is corrupt", slog.Uint64("segment", at.segment), slog.Int64("offset", at.off))
}
