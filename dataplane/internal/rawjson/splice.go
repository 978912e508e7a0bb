package rawjson

import "slices"

// Splices are edits of a text, in its order. They do not overlap. The zero value
// has none.
type Splices struct {
	list  []splice
	delta int // by which the text grows
	first [8]splice
}

// splice replaces text[start:end] by with.
type splice struct {
	start, end int
	with       []byte
}

// Replace puts with in the place of text[start:end].
func (s *Splices) Replace(start, end int, with []byte) {
	if s.list == nil {
		s.list = s.first[:0]
	}
	s.list = append(s.list, splice{start, end, with})
	s.delta += len(with) - (end - start)
}

// Insert puts with before text[at].
func (s *Splices) Insert(at int, with []byte) { s.Replace(at, at, with) }

// Cut takes text[start:end] out.
func (s *Splices) Cut(start, end int) { s.Replace(start, end, nil) }

// None reports that there is nothing to do.
func (s *Splices) None() bool { return len(s.list) == 0 }

// Sort puts edits that were not made in the order of the text in it. Those of
// the same place stay as they were made.
func (s *Splices) Sort() {
	slices.SortStableFunc(s.list, func(a, b splice) int { return a.start - b.start })
}

// Apply writes the edited text in one allocation; front goes in at offset at,
// which is before every edit.
func (s *Splices) Apply(text, front []byte, at int) []byte {
	out := make([]byte, 0, len(text)+len(front)+s.delta)
	out = append(append(out, text[:at]...), front...)
	for _, e := range s.list {
		out = append(append(out, text[at:e.start]...), e.with...)
		at = e.end
	}
	return append(out, text[at:]...)
}
