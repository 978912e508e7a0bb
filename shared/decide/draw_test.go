package decide_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// TestDrawnSharesAreTheStatedOnes counts who comes first, and who comes second
// after each first, over 100 000 seeds.
func TestDrawnSharesAreTheStatedOnes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.catalog.Models = append(w.catalog.Models, model("zeta/five", "north 1 4", "south 1.1 4.4", "east 1.5 6", "anthropic 20 90"))
	w.health["north:zeta/five"] = decide.EndpointHealth{Calls: 500, Success: 0.9, FirstByte: time.Second, Throughput: 50}
	in := w.input(t, decide.Facts{Model: "zeta/five"})
	stated := sharesOf(decide.Decide(in))
	require.InDelta(t, 0.02, stated["anthropic"], 1e-6)
	const seeds = 100_000
	firsts := map[string]int{}
	pairs := map[[2]string]int{}
	for seed := range uint64(seeds) {
		in.Seed = seed
		c := decide.Decide(in).Chain[0].Candidates
		firsts[c[0].Provider.Slug]++
		pairs[[2]string{c[0].Provider.Slug, c[1].Provider.Slug}]++
	}
	for slug, share := range stated {
		require.InDelta(t, share, float64(firsts[slug])/seeds, 0.01, slug)
		for second, other := range stated {
			if second != slug {
				want := share * other / (1 - share)
				require.InDelta(t, want, float64(pairs[[2]string{slug, second}])/seeds, 0.01, "%s then %s", slug, second)
			}
		}
	}
}
