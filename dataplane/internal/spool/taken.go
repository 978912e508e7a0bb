package spool

import "slices"

// maxTaken bounds the memory of taken. Beyond it every other one is forgotten:
// of a stream that lost a few messages less is noticed then, and never more.
const maxTaken = 1 << 16

// noteTaken notes messages that the stream took, by their last sequences. The
// stream counts messages and the mark counts records: this is what makes the
// one comparable with the other. s.mu is held.
func (s *Spool) noteTaken(ends []uint64) {
	for _, end := range ends {
		if end > s.committed {
			s.taken = append(s.taken, end)
		}
	}
	if len(s.taken) <= maxTaken {
		return
	}
	kept := s.taken[:0]
	for i := 0; i < len(s.taken); i += 2 {
		kept = append(kept, s.taken[i])
	}
	s.taken = kept
}

// forgetTaken forgets messages of which everything is committed. s.mu is held.
func (s *Spool) forgetTaken() {
	s.taken = slices.DeleteFunc(s.taken, func(end uint64) bool { return end <= s.committed })
}

// above counts the ends that are above mark.
func above(ends []uint64, mark uint64) uint64 {
	var n uint64
	for _, end := range ends {
		if end > mark {
			n++
		}
	}
	return n
}
