package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
)

// TestTheNearestAreSuggested holds the bounded search to one without bounds.
func TestTheNearestAreSuggested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab-")), 0, 7, -1)
		ids := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
			return "a" + letters.Draw(t, "author") + "/" + "m" + letters.Draw(t, "bare")
		}), 1, 40, rapid.ID).Draw(t, "ids")
		c := catalog.Catalog{Schema: catalog.Schema}
		for _, id := range ids {
			author, _, _ := strings.Cut(id, "/")
			c.Models = append(c.Models, catalog.Model{ID: id, Author: author})
		}
		v, err := catalog.Compile(c)
		require.NoError(t, err)
		name := "a" + letters.Draw(t, "name's author") + rapid.SampledFrom([]string{"/", ""}).Draw(t, "slash") + "m" + letters.Draw(t, "name")
		require.Equal(t, nearest(ids, name), v.Suggest(name), name)
	})
}

// nearest is what Suggest is meant to be, whatever it takes.
func nearest(ids []string, name string) []string {
	type near struct {
		id    string
		edits int
	}
	var found []near
	bound := min(3, 1+len(name)/4)
	bare := name[strings.LastIndexByte(name, '/')+1:]
	for _, id := range ids {
		edits := levenshtein(name, id)
		if other := levenshtein(bare, id[strings.IndexByte(id, '/')+1:]); other < min(3, 1+len(bare)/4) {
			edits = min(edits, 1+other)
		}
		if edits <= bound {
			found = append(found, near{id, edits})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.edits != b.edits {
			return a.edits - b.edits
		}
		return strings.Compare(a.id, b.id)
	})
	out := []string{}
	for _, f := range found[:min(3, len(found))] {
		out = append(out, f.id)
	}
	return out
}

func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// alike are n models whose ids differ at both ends and in nothing else, and a
// name that is near to all of them.
func alike(n int) (catalog.Catalog, string) {
	c := catalog.Catalog{Schema: catalog.Schema}
	middle := strings.Repeat("ab", 40)
	for i := range n {
		author := fmt.Sprintf("%02d", i/100)
		c.Models = append(c.Models, catalog.Model{ID: author + "/" + middle + fmt.Sprintf("%02d", i%100), Author: author})
	}
	return c, "xx/" + middle + "yy"
}

// A catalog whose names are all alike cannot make a look-up dear: it looks at no
// more than its bound, however many there are.
func TestASearchEnds(t *testing.T) {
	c, name := alike(10_000)
	v, err := catalog.Compile(c)
	require.NoError(t, err)
	steps := catalog.StepsOfSuggest(v, name)
	require.Positive(t, steps)
	require.LessOrEqual(t, steps, catalog.MaxSuggestSteps+1000)
	c, err = catalog.Embedded()
	require.NoError(t, err)
	v, err = catalog.Compile(c)
	require.NoError(t, err)
	require.Less(t, catalog.StepsOfSuggest(v, "openai/gpt-5.6-lunar-mini-preview"), catalog.MaxSuggestSteps/2, "and an ordinary one is searched to its end")
}

func BenchmarkSuggestAlike(b *testing.B) {
	c, name := alike(1500)
	v, err := catalog.Compile(c)
	require.NoError(b, err)
	for b.Loop() {
		v.Suggest(name)
	}
}
