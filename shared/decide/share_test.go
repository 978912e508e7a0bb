package decide

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func group(scores []float64) []*ranked {
	out := make([]*ranked, len(scores))
	for i, s := range scores {
		out[i] = &ranked{score: s}
	}
	slices.SortFunc(out, func(a, b *ranked) int { return cmp.Compare(a.score, b.score) })
	return out
}

func TestShares(t *testing.T) {
	cases := map[string]struct{ scores, want []float64 }{
		"alone":             {[]float64{7}, []float64{1}},
		"alone and free":    {[]float64{0}, []float64{1}},
		"equal":             {[]float64{3, 3}, []float64{0.5, 0.5}},
		"all free":          {[]float64{0, 0}, []float64{0.5, 0.5}},
		"twice the cost":    {[]float64{1, 2}, []float64{0.98, 0.02}},
		"a tenth more":      {[]float64{10, 11}, []float64{1.771561 / 2.771561, 1 / 2.771561}},
		"far":               {[]float64{1, 1000}, []float64{0.98, 0.02}},
		"free, nearly free": {[]float64{0, 1, 1000}, []float64{0.49, 0.49, 0.02}},
		"free beside dear":  {[]float64{0, 1000}, []float64{0.98, 0.02}},
		"a lift lifts more": {[]float64{1, 1.9034, 9, 9}, []float64{0.94, 0.02, 0.02, 0.02}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := group(c.scores)
			shares(g)
			for i, want := range c.want {
				require.InDelta(t, want, g[i].share, 1e-12)
			}
		})
	}
}

func TestSharesKeepTheProportionsOfThoseAboveTheFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(0, 1e9), 1, 80).Draw(t, "scores")
		unit := rapid.Float64Range(1e-6, 1e6).Draw(t, "unit")
		g := group(scores)
		shares(g)
		floor, sum := floorOf(len(g)), 0.0
		for i, r := range g {
			sum += r.share
			require.GreaterOrEqual(t, r.share, floor*(1-1e-9))
			if i > 0 {
				require.LessOrEqual(t, r.share, g[i-1].share*(1+1e-9))
			}
		}
		require.InDelta(t, 1, sum, 1e-9)
		for i := range scores {
			scores[i] *= unit
		}
		scaled := group(scores)
		shares(scaled)
		for i := range g {
			require.InDelta(t, g[i].share, scaled[i].share, 1e-9)
		}
	})
}
