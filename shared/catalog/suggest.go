package catalog

import "strings"

// Bounds of suggestions, which keep a look-up of nonsense cheap. The steps are
// of the comparison's inmost loop, some nanoseconds each: a catalog of thousands
// takes a fraction of them, and one made of names that are all alike is looked
// at as far as they go.
const (
	maxSuggestions  = 3
	maxSuggestInput = 96
	maxEdits        = 3
	maxSuggestSteps = 1 << 15
)

// Suggest returns at most three canonical ids that look like name, nearest
// first, or none. The bare name is compared when that is nearer, so that a
// wrong author still finds the model.
func (v *View) Suggest(name string) []string {
	name = strings.ToLower(name)
	if name == "" || len(name) > maxSuggestInput {
		return nil
	}
	s := v.search(name)
	ids := make([]string, s.found)
	for i := range ids {
		ids[i] = s.nearest[i].id
	}
	return ids
}

func (v *View) search(name string) suggestions {
	s := suggestions{steps: maxSuggestSteps, bound: editBound(name)}
	bare := name[strings.LastIndexByte(name, '/')+1:]
	for i := range v.catalog.Models {
		if s.bound < 0 || s.steps <= 0 {
			break
		}
		m := &v.catalog.Models[i]
		edits := s.distance(name, m.ID, s.bound)
		// A wrong author counts as one edit, so that the right one wins.
		if within := min(editBound(bare), s.bound) - 1; bare != "" && edits > 1 && within >= 0 {
			if d := s.distance(bare, m.BareName(), within); d <= within {
				edits = min(edits, 1+d)
			}
		}
		s.take(m.ID, edits)
	}
	return s
}

// editBound is a quarter of the text, so that short names match only closely.
func editBound(text string) int { return min(maxEdits, 1+len(text)/4) }

// suggestions are the nearest so far, and what is left of the search.
type suggestions struct {
	nearest [maxSuggestions]suggestion
	found   int
	bound   int // more edits than this do not get among them
	steps   int
}

type suggestion struct {
	id    string
	edits int
}

// take keeps an id if it is among the nearest. Ids come in their order, so that
// one which is just as near as another comes after it.
func (s *suggestions) take(id string, edits int) {
	if edits > s.bound {
		return
	}
	s.found = min(s.found+1, maxSuggestions)
	at := s.found - 1
	for ; at > 0 && s.nearest[at-1].edits > edits; at-- {
		s.nearest[at] = s.nearest[at-1]
	}
	s.nearest[at] = suggestion{id, edits}
	if s.found == maxSuggestions {
		s.bound = s.nearest[s.found-1].edits - 1
	}
}

// distance is the Levenshtein distance of a and b, or bound+1 when it is
// larger: rows are cut off to the diagonal band that can still be in bound.
func (s *suggestions) distance(a, b string, bound int) int {
	a, b = withoutEnds(a, b)
	if len(a)-len(b) > bound || len(b)-len(a) > bound || bound < 0 {
		return bound + 1
	}
	var storage [2][2*maxSuggestInput + 2]uint8 // edits are within bound
	if len(b) >= len(storage[0]) {
		return bound + 1
	}
	most := uint8(bound + 1)
	prev, next := storage[0][:len(b)+1], storage[1][:len(b)+1]
	for j := range prev {
		prev[j] = uint8(min(j, bound+1))
	}
	for i := 1; i <= len(a); i++ {
		low, high := max(1, i-bound), min(len(b), i+bound)
		s.steps -= max(1, high-low+1)
		next[low-1] = most
		if low == 1 {
			next[0] = uint8(min(i, bound+1))
		}
		best := next[low-1]
		for j := low; j <= high; j++ {
			above := most
			if j <= i-1+bound {
				above = prev[j]
			}
			cost := prev[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			next[j] = min(cost, above+1, next[j-1]+1, most)
			best = min(best, next[j])
		}
		if best >= most {
			return bound + 1
		}
		prev, next = next, prev
	}
	return int(min(prev[len(b)], most))
}

// withoutEnds leaves out what both begin and end with, which no edit touches.
func withoutEnds(a, b string) (string, string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
