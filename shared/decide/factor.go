package decide

import (
	"math"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Factor is one number of a score, or one that was known beside it. With
// contributions, multipliers and surcharges of a candidate,
//
//	score = Σ contribution · Π multiplier · (1 + Σ surcharge)
//
// to the digits that the record keeps. Context factors are shown and did not
// count.
type Factor struct {
	Name         string  `json:"name"`
	Input        float64 `json:"input"`
	Unit         string  `json:"unit,omitempty"`
	Weight       float64 `json:"weight,omitempty"`
	Contribution float64 `json:"contribution,omitempty"`
	Multiplier   float64 `json:"multiplier,omitempty"` // 0: none
	Surcharge    float64 `json:"surcharge,omitempty"`
	Context      bool    `json:"context,omitempty"`
	Assumed      bool    `json:"assumed,omitempty"` // not known: a typical value stands in
}

// The factors' names.
const (
	FactorTokens      = "tokens"          // expected price of a typical prompt and output
	FactorFirstByte   = "first_byte"      // median time to the first byte
	FactorTotal       = "total"           // time to the last byte of a typical output
	FactorGeneration  = "generation"      // time from the first byte to the last
	FactorTail        = "tail_latency"    // 95th percentile of the time to the first byte
	FactorThroughput  = "throughput"      // median output tokens per second
	FactorReliability = "reliability"     // success, where it is an addend
	FactorSizeFit     = "size_fit"        // the part of the context window that the request fills
	FactorSuccess     = "success"         // smoothed share of good answers
	FactorErrors      = "errors"          // smoothed share of recent calls that failed
	FactorRateLimited = "rate_limited"    // smoothed share of recent calls answered with 429
	FactorWeight      = "provider_weight" // of a preset: what the share, not the score, is multiplied by
	FactorCacheHit    = "cache_hit"       // share of the input read from the provider's cache
	FactorFit         = "fit"             // of signalbox/auto: how far a model's quality reaches for what is asked
	FactorQuality     = "quality"         // of signalbox/auto: points in independent benchmarks, by the mix of work
)

const (
	unitNanos   = "nano_usd"
	unitSeconds = "s"
	unitRate    = "tokens/s"
	unitPace    = "s/token"
	unitShare   = "share"
)

// Ranking is how the candidates of one model of the chain were scored.
type Ranking struct {
	Model string `json:"model"`
	Mode  string `json:"mode"`            // balanced, price, latency or throughput
	Fixed bool   `json:"fixed,omitempty"` // by the one thing that the mode names, and no draw
	Unit  string `json:"unit,omitempty"`  // of the scores; none when they are sums of penalties

	// The sizes that prices are worked out for, and where they are from.
	InputTokens  int64      `json:"input_tokens"`
	OutputTokens int64      `json:"output_tokens,omitempty"`
	Sizes        SizeSource `json:"sizes"`

	// Of the draw: shares go with (least ÷ own score)^Concentration, and none
	// is below Floor. Both are left out where nothing was drawn.
	Concentration float64 `json:"concentration,omitempty"`
	Floor         float64 `json:"floor,omitempty"`
}

// SizeSource says where the typical sizes of a ranking are from.
type SizeSource string

// The sources.
const (
	SizesMeasured  SizeSource = "measured"
	SizesOfRequest SizeSource = "request"
	SizesAssumed   SizeSource = "assumed"
)

// trace is the scale as the record shows it.
func (s *scale) trace(model string) Ranking {
	r := Ranking{
		Model: model, Mode: string(s.mode), Fixed: s.fixed, Unit: s.unit(),
		InputTokens: s.sizes.input, OutputTokens: s.sizes.output, Sizes: s.sizes.from,
	}
	if !s.fixed && s.tied > 1 {
		r.Concentration, r.Floor = concentration, rounded(floorOf(s.tied))
	}
	return r
}

func (s *scale) unit() string {
	switch {
	case s.fixed && s.mode == policy.Latency:
		return unitSeconds
	case s.fixed && s.mode == policy.Throughput:
		return unitPace
	case s.fixed || isText(s.surface):
		return unitNanos
	}
	return ""
}

const maxFactors = maxTerms + 6

// appendFactors lists what the score was made of, then what was known and did
// not count.
func (s *scale) appendFactors(to []Factor, r *ranked) []Factor {
	terms, n := s.terms(r)
	shown := 0 // bits of what a term has shown already
	for i := range n {
		t := &terms[i]
		if t.weight == 0 {
			continue
		}
		shown |= contextOf(t.name)
		to = append(to, Factor{
			Name: t.name, Input: rounded(t.input), Unit: t.unit, Weight: rounded(t.weight),
			Contribution: rounded(t.value * t.weight), Assumed: t.assumed,
		})
	}
	if !s.fixed {
		to = s.appendMultipliers(to, r)
	}
	return s.appendContext(to, r, shown)
}

func (s *scale) appendMultipliers(to []Factor, r *ranked) []Factor {
	if isText(s.surface) {
		good := success(&r.health)
		to = append(to, Factor{
			Name: FactorSuccess, Input: rounded(good), Unit: unitShare, Multiplier: rounded(1 / good), Assumed: r.health.Calls == 0,
		})
	}
	errors, limited := trouble(&r.health)
	if errors > 0 {
		to = append(to, Factor{
			Name: FactorErrors, Input: rounded(errors), Unit: unitShare, Weight: errorWeight, Surcharge: rounded(errorWeight * errors),
		})
	}
	if limited > 0 {
		to = append(to, Factor{
			Name: FactorRateLimited, Input: rounded(limited), Unit: unitShare, Weight: rateLimitedWeight, Surcharge: rounded(rateLimitedWeight * limited),
		})
	}
	return to
}

// What is shown as context unless it counted.
const (
	showsTokens = 1 << iota
	showsFirstByte
	showsThroughput
	showsTail
	showsSuccess
)

// contextOf is what need not be shown again beside a term.
func contextOf(name string) int {
	switch name {
	case FactorTokens:
		return showsTokens
	case FactorFirstByte:
		return showsFirstByte
	case FactorThroughput:
		return showsThroughput
	case FactorTail:
		return showsTail
	case FactorReliability:
		return showsSuccess
	}
	return 0
}

func (s *scale) appendContext(to []Factor, r *ranked, shown int) []Factor {
	h := &r.health
	context := func(bit int, known bool, name, unit string, value float64) {
		if known && shown&bit == 0 {
			to = append(to, Factor{Name: name, Input: rounded(value), Unit: unit, Context: true})
		}
	}
	context(showsTokens, !r.unpriced, FactorTokens, unitNanos, r.spend)
	context(showsFirstByte, h.FirstByte > 0, FactorFirstByte, unitSeconds, h.FirstByte.Seconds())
	context(showsThroughput, h.Throughput > 0, FactorThroughput, unitRate, h.Throughput)
	context(showsTail, h.FirstByteP95 > 0, FactorTail, unitSeconds, h.FirstByteP95.Seconds())
	context(showsSuccess, s.fixed && h.Calls > 0, FactorSuccess, unitShare, success(h))
	context(0, h.CacheHit > 0, FactorCacheHit, unitShare, h.CacheHit)
	return to
}

// rounded keeps what a person reads of a number and what a bounded record has
// room for: whole numbers from a thousand on, else six decimals.
func rounded(v float64) float64 {
	if v >= 1000 || v <= -1000 {
		return math.RoundToEven(v)
	}
	return math.RoundToEven(v*1e6) / 1e6
}
