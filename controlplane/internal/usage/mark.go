package usage

import (
	"cmp"
	"slices"
)

// Run is a run of sequences, both ends included. The zero Run is empty:
// sequences begin at 1.
type Run struct{ First, Last uint64 }

// Mark says which of a gateway's sequences are in Postgres.
type Mark struct {
	Committed uint64 // every sequence up to here
	Ahead     []Run  // beyond a gap, in order, neither touching nor overlapping
}

// Covers reports whether all of r is in Postgres.
func (m Mark) Covers(r Run) bool {
	if r.Last <= m.Committed {
		return true
	}
	return slices.ContainsFunc(m.Ahead, func(a Run) bool {
		return a.First <= max(r.First, m.Committed+1) && r.Last <= a.Last
	})
}

// Add returns m with runs added. m is not changed.
func (m Mark) Add(runs ...Run) Mark {
	all := make([]Run, 0, len(m.Ahead)+len(runs)+1)
	if m.Committed > 0 {
		all = append(all, Run{1, m.Committed})
	}
	all = append(all, m.Ahead...)
	for _, r := range runs {
		if r.First >= 1 && r.First <= r.Last {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Run) int { return cmp.Compare(a.First, b.First) })
	var merged []Run
	for _, r := range all {
		if n := len(merged); n > 0 && r.First-1 <= merged[n-1].Last {
			merged[n-1].Last = max(merged[n-1].Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	var next Mark
	if len(merged) > 0 && merged[0].First == 1 {
		next.Committed, merged = merged[0].Last, merged[1:]
	}
	if len(merged) > 0 {
		next.Ahead = merged
	}
	return next
}
