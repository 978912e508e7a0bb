package spool

import (
	"cmp"
	"slices"
)

// span is a run of sequences, both ends included.
type span struct{ first, last uint64 }

// spans is a set of sequences that mostly arrive in order.
type spans []span

func (s *spans) add(run span) {
	list := *s
	if n := len(list); n > 0 && list[n-1].last+1 == run.first {
		list[n-1].last = run.last
		return
	}
	*s = append(list, run)
}

// gaps returns what of [first, next) is missing, in order.
func (s spans) gaps(first, next uint64) []span {
	covered := append(spans(nil), s...)
	slices.SortFunc(covered, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var missing []span
	for _, c := range covered {
		if c.first > first {
			missing = append(missing, span{first, min(c.first, next) - 1})
		}
		first = max(first, c.last+1)
	}
	if first < next {
		missing = append(missing, span{first, next - 1})
	}
	return missing
}
