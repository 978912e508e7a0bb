package spool

import (
	"log/slog"
	"os"
)

// rotate starts a new active segment. s.mu is held.
func (s *Spool) rotate() error {
	if err := s.flushTail(); err != nil {
		return err
	}
	old := s.active()
	fresh, err := createSegment(s.dir, old.number+1, s.next, s.opts.Now())
	if err != nil {
		return err
	}
	s.segments = append(s.segments, fresh)
	s.sealing = append(s.sealing, old)
	s.beginJournal()
	return nil
}

// tend does what time asks for: writes what the disk refused earlier, closes an
// old segment, syncs closed ones, and deletes what is committed.
func (s *Spool) tend() {
	s.mu.Lock()
	s.writeHeld()
	_ = s.flushTail() // counted, and tried again here
	now := s.opts.Now()
	if a := s.active(); a.size > 0 && now.Sub(a.created) >= s.opts.SegmentAge {
		if err := s.rotate(); err != nil {
			s.counts.writeErrors++
		}
	}
	s.noteAge(age{seq: s.next - 1, at: now})
	sealing := s.sealing
	s.sealing = nil
	s.mu.Unlock()

	for _, seg := range sealing { // nobody else touches the file of a segment in here
		if err := seal(seg.file); err != nil {
			s.opts.Log.Warn("a spool segment could not be synced", slog.Any("error", err))
		}
	}
	s.mu.Lock()
	for _, seg := range sealing {
		seg.file = nil
	}
	s.mu.Unlock()
	s.drop()
}

// maxAges bounds the memory of ages; beyond it every other one is forgotten.
const maxAges = 1024

// noteAge remembers when the newest sequence was reached. s.mu is held.
func (s *Spool) noteAge(a age) {
	if n := len(s.ages); a.seq <= s.committed || n > 0 && s.ages[n-1].seq >= a.seq {
		return
	}
	if len(s.ages) >= maxAges {
		kept := s.ages[:0]
		for i := 0; i < len(s.ages); i += 2 {
			kept = append(kept, s.ages[i])
		}
		s.ages = kept
	}
	s.ages = append(s.ages, a)
}

// commit takes in the consumer's mark: every sequence up to mark is in
// Postgres.
func (s *Spool) commit(mark uint64) {
	s.mu.Lock()
	if mark >= s.next {
		// The machine lost the newest records after they had been shipped.
		s.opts.Log.Warn("the committed mark is ahead of the spool; its sequence goes on from the mark",
			slog.Uint64("mark", mark), slog.Uint64("next_sequence", s.next))
		s.next = mark + 1
		if err := s.rotate(); err != nil {
			s.counts.writeErrors++
		}
	}
	if mark > s.committed {
		s.committed = mark
		s.acked = max(s.acked, mark)
		s.forgetTaken()
		for len(s.ages) > 0 && s.ages[0].seq <= mark {
			s.ages = s.ages[1:]
		}
		s.signal()
	}
	s.mu.Unlock()
	s.drop()
}

// drop deletes the oldest segments as far as everything in them is committed.
// Open intents that are all that holds the oldest one back move to the active
// segment, so that one long stream does not keep what came after it.
func (s *Spool) drop() {
	s.mu.Lock()
	var gone []*segment
	for len(s.segments) > 1 {
		oldest := s.segments[0]
		if oldest.file != nil || oldest.last > s.spent() {
			break
		}
		if oldest.intents > 0 && !s.carry(oldest) {
			break
		}
		gone = append(gone, oldest)
		s.bytes -= oldest.size
		s.segments = s.segments[1:]
	}
	s.mu.Unlock()
	for _, seg := range gone {
		if err := os.Remove(seg.path); err != nil {
			s.opts.Log.Warn("a committed spool segment could not be deleted", slog.Any("error", err))
		}
	}
}

// carry copies seg's open intents to the active segment. s.mu is held.
func (s *Spool) carry(seg *segment) bool {
	for req, in := range s.open {
		if in.segment != seg {
			continue
		}
		u := req.UUID()
		s.buf = appendFrame(s.buf[:0], kindIntent, u[:], in.body)
		if s.write(s.buf) != nil {
			return false
		}
		s.setOpen(req, in.body)
	}
	return true
}
