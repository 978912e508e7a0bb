package tally_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func all(tally.Cell) bool { return true }

func TestSum(t *testing.T) {
	cells := []tally.Cell{
		{Step: 0, Bucket: tally.Failed, Requests: 2, Cost: 1},
		{Step: 0, Bucket: tally.Bucket(100 * time.Millisecond), Requests: 94, Cost: 940},
		{Step: 1, Bucket: tally.Bucket(time.Second), Requests: 6, Cost: 59},
		{Step: 1, Candidate: true, Bucket: tally.Bucket(time.Minute), Requests: 1000, Cost: 7},
	}
	a := tally.Sum(cells, func(c tally.Cell) bool { return !c.Candidate })
	require.Equal(t, []int64{102, 2, 100}, []int64{a.Requests, a.Failures, a.Successes()})
	require.Equal(t, money.Nanos(10), a.MeanCost())
	require.InEpsilon(t, 2.0/102, a.ErrorRate(), 1e-12)
	require.InEpsilon(t, time.Second, a.P95, 0.023, "the 95th of 100 is one of the slow six")
	first := tally.Sum(cells, func(c tally.Cell) bool { return c.Step == 0 })
	require.InEpsilon(t, 100*time.Millisecond, first.P95, 0.023)
	require.Equal(t, tally.Arm{}, tally.Sum(nil, all))
	require.Zero(t, tally.Arm{}.ErrorRate())
	require.Zero(t, tally.Arm{Requests: 3, Failures: 3, Cost: 9}.MeanCost())
}

func TestWhatIsBeyondTheBuckets(t *testing.T) {
	require.Equal(t, 1, tally.Bucket(-time.Second))
	require.Equal(t, 1, tally.Bucket(0))
	require.Equal(t, tally.Bucket(100*time.Hour), tally.Bucket(math.MaxInt64), "the last one holds all that is longer")
	a := tally.Sum([]tally.Cell{{Bucket: tally.Bucket(math.MaxInt64), Requests: 1}}, all)
	require.Greater(t, a.P95, 90*time.Minute)
}

// The percentile is that of the sorted latencies, but for the width of a bucket.
func TestThePercentileIsThatOfTheRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := rapid.SliceOfN(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)), 1, 300).Draw(t, "took")
		var cells []tally.Cell
		for _, d := range took {
			cells = append(cells, tally.Cell{Bucket: tally.Bucket(time.Duration(d)), Requests: 1})
		}
		slices.Sort(took)
		want := took[(len(took)*95+99)/100-1]
		require.InEpsilon(t, want, tally.Sum(cells, all).P95, 0.023)
	})
}
