package meter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// TestALineIsRoundedHalfUp rounds each meter by itself: two halves of a
// nano-USD are two, not one.
func TestALineIsRoundedHalfUp(t *testing.T) {
	half := money.PerMillion(500_000) // half a nano-USD a token
	for units, want := range map[int64]money.Nanos{1: 1, 2: 1, 3: 2, 4: 2} {
		require.Equal(t, want, meter.Bill(&catalog.Price{Input: &half}, meter.Usage{Input: units}).Total, units)
	}
	below := half - 1
	require.Zero(t, meter.Bill(&catalog.Price{Input: &below}, meter.Usage{Input: 1}).Total, "less than half is nothing")
	c := meter.Bill(&catalog.Price{Input: &half, Output: &half}, meter.Usage{Input: 1, Output: 1})
	require.Equal(t, money.Nanos(2), c.Total)
	require.Len(t, c.Lines, 2)
}

// TestCostsDoNotDrift is field case C7: a million times $0.0000001 is ten cents
// to the last digit, as one cost and as a sum.
func TestCostsDoNotDrift(t *testing.T) {
	p := &catalog.Price{Input: usd("0.10")}
	require.Equal(t, "0.10", meter.Bill(p, meter.Usage{Input: 1_000_000}).Total.String())
	one := meter.Bill(p, meter.Usage{Input: 1}).Total
	require.Equal(t, "0.0000001", one.String())
	var sum money.Nanos
	for range 1_000_000 {
		sum = sum.Add(one)
	}
	require.Equal(t, "0.10", sum.String())
}

// What would overflow 64 bits on the way does not, and what is too large to be
// paid is the largest amount.
func TestLargeCostsAreExact(t *testing.T) {
	price := money.PerMillion(9_000_000_000_000) // $9000 a million
	require.Equal(t, money.Nanos(9_000_000_000_000_000_000), meter.Bill(&catalog.Price{Input: &price}, meter.Usage{Input: 1_000_000_000_000}).Total)
	most := money.PerMillion(math.MaxInt64)
	require.Equal(t, money.Nanos(math.MaxInt64), meter.Bill(&catalog.Price{Input: &most, Output: &most}, meter.Usage{Input: math.MaxInt64, Output: math.MaxInt64}).Total)
}

// An estimate costs what a report of the same would.
func TestEstimatesArePricedAlike(t *testing.T) {
	reported := meter.Usage{Input: 1000, CachedRead: 50, Output: 70, Reasoning: 3}
	estimated := reported
	estimated.Estimated = true
	require.Equal(t, meter.Bill(sonnet(), reported), meter.Bill(sonnet(), estimated))
}
