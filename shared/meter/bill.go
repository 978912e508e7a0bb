package meter

import (
	"math"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Bill prices u at p. The tier is chosen by the request's own input total. A
// meter without a price of its own falls back: cached reads and cache writes
// to input, reasoning to output, image and audio to input or output. With no
// price at all the cost is zero and marked Unpriced.
func Bill(p *catalog.Price, u Usage) Cost {
	if p == nil {
		return Cost{Unpriced: !u.IsZero()}
	}
	r := Rates(p, u.InputTotal())
	var c Cost
	c.add("input", u.Input, r.Input)
	c.add("cached_read", u.CachedRead, first(r.CachedInput, r.Input))
	c.add("cache_write_5m", u.CacheWrite5m, first(r.CacheWrite5m, r.Input))
	c.add("cache_write_1h", u.CacheWrite1h, first(r.CacheWrite1h, r.CacheWrite5m, r.Input))
	c.add("output", u.Output, r.Output)
	c.add("reasoning", u.Reasoning, first(r.Reasoning, r.Output))
	c.add("image", u.Image, first(r.Image, r.Input))
	c.add("audio", u.AudioInput, first(r.Audio, r.Input))
	c.add("audio", u.AudioOutput, first(r.Audio, r.Output))
	if r.Request > 0 {
		perMillion := money.PerMillion(math.MaxInt64)
		if r.Request <= math.MaxInt64/1_000_000 {
			perMillion = money.PerMillion(r.Request * 1_000_000)
		}
		c.add("request", 1, &perMillion)
	}
	return c
}

// usualLines is how many meters most requests have, with room for a cache.
const usualLines = 4

func (c *Cost) add(meter string, units int64, price *money.PerMillion) {
	if units <= 0 {
		return
	}
	if price == nil {
		c.Unpriced = true
		return
	}
	if c.Lines == nil {
		c.Lines = make([]Line, 0, usualLines)
	}
	cost := price.Cost(units)
	c.Lines = append(c.Lines, Line{Meter: meter, Units: units, Price: *price, Cost: cost})
	c.Total = c.Total.Add(cost)
}

// Rates are the prices that hold for a request with input tokens in all: the
// highest tier below it laid over the base prices, field by field.
func Rates(p *catalog.Price, input int64) catalog.Price {
	r := *p
	for _, tier := range p.Tiers {
		if input <= tier.Above {
			break
		}
		t := tier.Price
		r.Input = first(t.Input, p.Input)
		r.Output = first(t.Output, p.Output)
		r.CachedInput = first(t.CachedInput, p.CachedInput)
		r.CacheWrite5m = first(t.CacheWrite5m, p.CacheWrite5m)
		r.CacheWrite1h = first(t.CacheWrite1h, p.CacheWrite1h)
		r.Reasoning = first(t.Reasoning, p.Reasoning)
		r.Image = first(t.Image, p.Image)
		r.Audio = first(t.Audio, p.Audio)
		if t.Request > 0 {
			r.Request = t.Request
		}
	}
	return r
}

func first(prices ...*money.PerMillion) *money.PerMillion {
	for _, p := range prices {
		if p != nil {
			return p
		}
	}
	return nil
}
