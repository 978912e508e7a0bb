package meter_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

func usd(text string) *money.PerMillion {
	p, err := money.ParsePerMillion(text)
	if err != nil {
		panic(err)
	}
	return &p
}

func sonnet() *catalog.Price {
	return &catalog.Price{
		Input: usd("3"), Output: usd("15"), CachedInput: usd("0.30"), CacheWrite5m: usd("3.75"), CacheWrite1h: usd("6"),
	}
}

func lines(c meter.Cost) map[string]int64 {
	out := map[string]int64{}
	for _, l := range c.Lines {
		out[l.Meter] += l.Units
	}
	return out
}

// TestCacheWritesAreChargedOnce is field case C1.
func TestCacheWritesAreChargedOnce(t *testing.T) {
	c := meter.Bill(sonnet(), meter.Usage{Input: 3, CacheWrite5m: 12_304, Output: 550})
	require.Equal(t, "0.054399", c.Total.String())
	require.Equal(t, map[string]int64{"input": 3, "cache_write_5m": 12_304, "output": 550}, lines(c))
	require.False(t, c.Unpriced)
}

// TestReasoningIsPartOfOutputOnce is field case C3: completion 900 of which
// 700 reasoning, taken apart by the codec.
func TestReasoningIsPartOfOutputOnce(t *testing.T) {
	u := meter.Usage{Input: 100, Output: 200, Reasoning: 700}
	require.EqualValues(t, 900, u.OutputTotal())
	c := meter.Bill(&catalog.Price{Input: usd("1"), Output: usd("10")}, u)
	require.Equal(t, "0.0091", c.Total.String(), "reasoning at the output price, and output not dropped")
	c = meter.Bill(&catalog.Price{Input: usd("1"), Output: usd("10"), Reasoning: usd("20")}, u)
	require.Equal(t, "0.0161", c.Total.String())
}

// TestCachedTokensCountOnceInBothStyles is field case C5: OpenAI's prompt of
// 1000 with 400 cached and Anthropic's input 600 with 400 read are one usage.
func TestCachedTokensCountOnceInBothStyles(t *testing.T) {
	u := meter.Usage{Input: 600, CachedRead: 400, Output: 10}
	require.EqualValues(t, 1000, u.InputTotal())
	require.Equal(t, "0.00207", meter.Bill(sonnet(), u).Total.String())
}

func TestFallbackPrices(t *testing.T) {
	all := meter.Usage{Input: 1, CachedRead: 1, CacheWrite5m: 1, CacheWrite1h: 1, Output: 1, Reasoning: 1, Image: 1, AudioInput: 1, AudioOutput: 1}
	c := meter.Bill(&catalog.Price{Input: usd("1"), Output: usd("10")}, all)
	require.False(t, c.Unpriced)
	require.Equal(t, money.Nanos(6*1000+3*10_000), c.Total)
	c = meter.Bill(&catalog.Price{Input: usd("1"), Output: usd("10"), CacheWrite5m: usd("2")}, meter.Usage{CacheWrite1h: 1})
	require.Equal(t, money.Nanos(2000), c.Total, "the hour falls back to the five minutes first")
	c = meter.Bill(&catalog.Price{Output: usd("10")}, meter.Usage{Input: 5, Output: 1})
	require.True(t, c.Unpriced)
	require.Equal(t, money.Nanos(10_000), c.Total, "a lower bound")
}

func TestUnpricedAndFree(t *testing.T) {
	require.Equal(t, meter.Cost{Unpriced: true}, meter.Bill(nil, meter.Usage{Input: 1}))
	require.Equal(t, meter.Cost{}, meter.Bill(nil, meter.Usage{Estimated: true}), "nothing used is not unpriced")
	free := meter.Bill(&catalog.Price{Input: usd("0"), Output: usd("0")}, meter.Usage{Input: 5, Output: 5})
	require.False(t, free.Unpriced)
	require.Zero(t, free.Total)
	require.Len(t, free.Lines, 2)
}

func TestRequestPrice(t *testing.T) {
	c := meter.Bill(&catalog.Price{Input: usd("1"), Output: usd("1"), Request: 10_000_000}, meter.Usage{Input: 1})
	require.Equal(t, "0.010001", c.Total.String())
	require.EqualValues(t, 1, lines(c)["request"])
	c = meter.Bill(&catalog.Price{Request: math.MaxInt64}, meter.Usage{})
	require.Positive(t, c.Total)
}

func TestTierIsChosenByTheRequestsOwnInput(t *testing.T) {
	p := sonnet()
	p.Tiers = []catalog.Tier{
		{Above: 200_000, Price: catalog.Price{Input: usd("6"), Output: usd("22.50")}},
		{Above: 500_000, Price: catalog.Price{Input: usd("12"), Request: 7}},
	}
	per := func(u meter.Usage) (in, out, cached string) {
		r := meter.Rates(p, u.InputTotal())
		return r.Input.String(), r.Output.String(), r.CachedInput.String()
	}
	in, out, cached := per(meter.Usage{Input: 200_000})
	require.Equal(t, []string{"3.00", "15.00", "0.30"}, []string{in, out, cached}, "the bound itself is below")
	in, out, cached = per(meter.Usage{Input: 1, CachedRead: 200_000})
	require.Equal(t, []string{"6.00", "22.50", "0.30"}, []string{in, out, cached}, "cached input counts for the tier")
	in, out, _ = per(meter.Usage{Input: 500_001})
	require.Equal(t, []string{"12.00", "15.00"}, []string{in, out}, "a tier lies over the base, not over the tier below")
	require.EqualValues(t, 7, meter.Rates(p, 500_001).Request)
	require.Equal(t, "3.00", p.Input.String(), "the price itself is not changed")
}

func anyUsage(t *rapid.T) meter.Usage {
	n := func(label string) int64 { return rapid.Int64Range(0, 1e9).Draw(t, label) }
	return meter.Usage{
		Input: n("input"), CachedRead: n("read"), CacheWrite5m: n("5m"), CacheWrite1h: n("1h"), Output: n("output"),
		Reasoning: n("reasoning"), Image: n("image"), AudioInput: n("audio in"), AudioOutput: n("audio out"),
	}
}

func anyPrice(t *rapid.T) *catalog.Price {
	p := func(label string) *money.PerMillion {
		if rapid.IntRange(0, 3).Draw(t, label+" known") == 0 {
			return nil
		}
		v := money.PerMillion(rapid.Int64Range(0, 1e12).Draw(t, label))
		return &v
	}
	return &catalog.Price{
		Input: p("input"), Output: p("output"), CachedInput: p("read"), CacheWrite5m: p("5m"), CacheWrite1h: p("1h"),
		Reasoning: p("reasoning"), Image: p("image"), Audio: p("audio"), Request: money.Nanos(rapid.Int64Range(0, 1e9).Draw(t, "request")),
	}
}

func TestTotalIsTheSumOfItsLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, u := anyPrice(t), anyUsage(t)
		c := meter.Bill(p, u)
		var sum money.Nanos
		units := int64(0)
		for _, l := range c.Lines {
			require.GreaterOrEqual(t, l.Cost, money.Nanos(0))
			require.Equal(t, l.Price.Cost(l.Units), l.Cost)
			sum = sum.Add(l.Cost)
			if l.Meter != "request" {
				units += l.Units
			}
		}
		require.Equal(t, sum, c.Total)
		total := u.InputTotal() + u.OutputTotal()
		if !c.Unpriced {
			require.Equal(t, total, units, "each token stands in exactly one line")
		}
		require.LessOrEqual(t, units, total)
	})
}

func TestMoreUsageNeverCostsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, u := anyPrice(t), anyUsage(t)
		more := u
		more.Output += rapid.Int64Range(0, 1e6).Draw(t, "more output")
		more.CachedRead += rapid.Int64Range(0, 1e6).Draw(t, "more read")
		require.GreaterOrEqual(t, meter.Bill(p, more).Total, meter.Bill(p, u).Total)
	})
}

func BenchmarkBill(b *testing.B) {
	p, u := sonnet(), meter.Usage{Input: 100, CachedRead: 2000, Output: 300}
	b.ReportAllocs()
	for b.Loop() {
		meter.Bill(p, u)
	}
}
