package spool

import (
	"fmt"
	"log/slog"
)

// write puts p on record behind what is there, in the journal or in the active
// segment, which is exchanged first when it is full. After a failure both are as
// before. s.mu is held.
func (s *Spool) write(p []byte) error {
	if s.active().size+int64(len(s.tail)) >= s.opts.SegmentBytes {
		// A failure is no reason to refuse the record: the old segment grows.
		if err := s.rotate(); err != nil {
			s.counts.writeErrors++
		}
	}
	if s.jammed || s.journal == nil || !s.journal.fits(len(p)) {
		if err := s.flushTail(); err != nil {
			return err
		}
	}
	if s.journal != nil && s.journal.fits(len(p)) {
		err := s.journal.append(p)
		if err == nil {
			s.tail = append(s.tail, p...)
			s.bytes += int64(len(p))
			return nil
		}
		s.withoutJournal(err)
		if err := s.flushTail(); err != nil {
			return err
		}
	}
	return s.extend(p)
}

// flushTail writes to the active segment what only the journal has. While the
// disk refuses that, nothing more is taken. s.mu is held.
func (s *Spool) flushTail() error {
	if len(s.tail) == 0 {
		return nil
	}
	n := int64(len(s.tail))
	s.bytes -= n // extend counts it
	if err := s.extend(s.tail); err != nil {
		s.bytes += n
		s.jammed = true
		return err
	}
	s.tail, s.jammed = s.tail[:0], false
	return nil
}

// extend appends p to the active segment. After a failed write the file is as
// before. s.mu is held.
func (s *Spool) extend(p []byte) error {
	seg := s.active()
	if _, err := s.writeAt(seg.file, p, seg.size); err != nil {
		s.counts.writeErrors++
		_ = seg.file.Truncate(seg.size)
		return fmt.Errorf("write spool segment: %w", err)
	}
	seg.size += int64(len(p))
	s.bytes += int64(len(p))
	s.beginJournal()
	return nil
}

// startJournal opens the journal. Where a file cannot be mapped every record is
// written to its segment by itself.
func (s *Spool) startJournal() {
	if s.opts.JournalBytes < 0 {
		return
	}
	j, err := openJournal(s.dir, s.opts.JournalBytes)
	if err != nil {
		s.opts.Log.Warn("the spool works without its journal, which costs speed", slog.Any("error", err))
		return
	}
	s.journal = j
	s.beginJournal()
}

// beginJournal empties the journal, whose records the active segment has now.
// s.mu is held.
func (s *Spool) beginJournal() {
	if s.journal == nil {
		return
	}
	seg := s.active()
	if err := s.journal.begin(seg, seg.base, seg.size); err != nil {
		s.withoutJournal(err)
	}
}

// withoutJournal goes on without the journal, a page of which cannot be had.
// What it holds stays there: it goes to the place that it had before.
func (s *Spool) withoutJournal(cause error) {
	s.counts.writeErrors++
	s.opts.Log.Warn("the spool goes on without its journal", slog.Any("error", cause))
	_ = s.journal.close()
	s.journal = nil
}

// flush writes out what only the journal has, for those who read segments.
func (s *Spool) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.flushTail() // counted, and tried again by whoever writes or looks next
}
