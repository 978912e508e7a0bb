package catalog

import (
	"slices"
	"strings"
)

// Bounds of suggestions, which keep a look-up of nonsense cheap.
const (
	maxSuggestions  = 3
	maxSuggestInput = 96
	maxEdits        = 3
)

// Suggest returns at most three canonical ids that look like name, nearest
// first, or none. The bare name is compared when that is nearer, so that a
// wrong author still finds the model.
func (v *View) Suggest(name string) []string {
	name = strings.ToLower(name)
	if name == "" || len(name) > maxSuggestInput {
		return nil
	}
	bare := name[strings.LastIndexByte(name, '/')+1:]
	type match struct {
		id    string
		edits int
	}
	var found []match
	for i := range v.catalog.Models {
		m := &v.catalog.Models[i]
		bound := editBound(name)
		edits := distance(name, m.ID, bound)
		if within := editBound(bare) - 1; bare != "" && edits > 1 {
			// A wrong author counts as one edit, so that the right one wins.
			if d := distance(bare, m.BareName(), within); d <= within {
				edits = min(edits, 1+d)
			}
		}
		if edits <= bound {
			found = append(found, match{id: m.ID, edits: edits})
		}
	}
	slices.SortFunc(found, func(a, b match) int {
		if a.edits != b.edits {
			return a.edits - b.edits
		}
		return strings.Compare(a.id, b.id)
	})
	ids := make([]string, 0, maxSuggestions)
	for _, m := range found[:min(len(found), maxSuggestions)] {
		ids = append(ids, m.id)
	}
	return ids
}

// editBound is a quarter of the text, so that short names match only closely.
func editBound(text string) int { return min(maxEdits, 1+len(text)/4) }

// distance is the Levenshtein distance of a and b, or bound+1 when it is
// larger: rows are cut off to the diagonal band that can still be in bound.
func distance(a, b string, bound int) int {
	if len(a)-len(b) > bound || len(b)-len(a) > bound || bound < 0 {
		return bound + 1
	}
	var storage [2][2*maxSuggestInput + 2]int
	if len(b) >= len(storage[0]) {
		return bound + 1
	}
	prev, next := storage[0][:len(b)+1], storage[1][:len(b)+1]
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		low, high := max(1, i-bound), min(len(b), i+bound)
		next[low-1] = bound + 1
		if low == 1 {
			next[0] = i
		}
		best := next[low-1]
		for j := low; j <= high; j++ {
			above := bound + 1
			if j <= i-1+bound {
				above = prev[j]
			}
			cost := prev[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			next[j] = min(cost, above+1, next[j-1]+1, bound+1)
			best = min(best, next[j])
		}
		if best > bound {
			return bound + 1
		}
		prev, next = next, prev
	}
	return min(prev[len(b)], bound+1)
}
