package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// scale is how the candidates of one model are scored for one request.
type scale struct {
	order
	surface  catalog.Surface
	sizes    sizes
	request  int64   // input tokens of the request; 0 unknown
	cheapest float64 // nano-USD, in the pool
	tied     int     // candidates that the first place was drawn from
}

// isText reports whether a surface is scored by the cost of an answer.
func isText(s catalog.Surface) bool {
	switch s {
	case catalog.Chat, catalog.Responses, catalog.Messages, catalog.Gemini, catalog.Completions, catalog.Realtime:
		return true
	default:
		return false
	}
}

// term is one addend of a score: value times weight. Value is the input
// itself where the score has a unit, else a penalty between 0 and 1.
type term struct {
	name, unit   string
	input, value float64
	weight       float64
	assumed      bool // not known: a typical value stands in
}

const maxTerms = 6

// terms are the addends of a candidate's score, those without weight included.
func (s *scale) terms(r *ranked) (t [maxTerms]term, n int) {
	switch {
	case s.fixed:
		t[0] = s.only(r)
		return t, 1
	case isText(s.surface):
		return s.textTerms(r)
	}
	return s.otherTerms(r)
}

// only is the one thing that a fixed order goes by.
func (s *scale) only(r *ranked) term {
	switch s.mode {
	case policy.Latency:
		ttft, assumed := firstByte(r)
		return term{name: FactorFirstByte, unit: unitSeconds, input: ttft, value: ttft, weight: 1, assumed: assumed}
	case policy.Throughput:
		rate, assumed := throughput(r)
		return term{name: FactorThroughput, unit: unitRate, input: rate, value: 1 / rate, weight: 1, assumed: assumed}
	default:
		return term{name: FactorTokens, unit: unitNanos, input: r.spend, value: r.spend, weight: 1, assumed: r.unpriced}
	}
}

func (s *scale) textTerms(r *ranked) (t [maxTerms]term, n int) {
	w := textWeightsOf(s.mode)
	ttft, noFirst := firstByte(r)
	rate, noRate := throughput(r)
	generation := float64(s.sizes.output) / rate
	t[0] = term{FactorTokens, unitNanos, r.spend, r.spend, w.tokens, r.unpriced}
	t[1] = term{FactorFirstByte, unitSeconds, ttft, ttft, w.firstByte, noFirst}
	if w.total > 0 {
		t[2] = term{FactorTotal, unitSeconds, ttft + generation, ttft + generation, w.total, noFirst || noRate}
	} else {
		t[2] = term{FactorGeneration, unitSeconds, generation, generation, w.generation, noRate}
	}
	return t, 3
}

func (s *scale) otherTerms(r *ranked) (t [maxTerms]term, n int) {
	w := otherWeightsOf(s.mode)
	ttft, noFirst := firstByte(r)
	rate, noRate := throughput(r)
	tail := r.health.FirstByteP95
	if tail <= 0 {
		tail = typicalTail
	}
	price := 0.5
	switch {
	case r.unpriced:
	case r.spend > 0:
		price = 1 - s.cheapest/r.spend
	default:
		price = 0
	}
	good := success(&r.health)
	fit, noFit := s.sizeFit(r)
	t[0] = term{FactorReliability, unitShare, good, 1 - good, w.reliability, r.health.Calls <= 0}
	t[1] = term{FactorFirstByte, unitSeconds, ttft, saturated(ttft, typicalFirstByte.Seconds()), w.latency, noFirst}
	t[2] = term{FactorTail, unitSeconds, tail.Seconds(), saturated(tail.Seconds(), typicalTail.Seconds()), w.tail, r.health.FirstByteP95 <= 0}
	t[3] = term{FactorThroughput, unitRate, rate, saturated(typicalThroughput, rate), w.throughput, noRate}
	t[4] = term{FactorTokens, unitNanos, r.spend, price, w.price, r.unpriced}
	t[5] = term{FactorSizeFit, unitShare, fit, fit, w.sizeFit, noFit}
	return t, maxTerms
}

// saturated grows from 0 to 1 and is a half where x is as large as the
// reference, so that what is not known is neutral.
func saturated(x, reference float64) float64 { return x / (x + reference) }

// sizeFit is the part of the endpoint's window that the request fills: the
// nearer to its limit, the likelier that the provider counts otherwise and
// refuses.
func (s *scale) sizeFit(r *ranked) (fit float64, unknown bool) {
	limit := r.offer.Endpoint.Context
	if limit <= 0 {
		limit = r.offer.Model.Context
	}
	if limit <= 0 || s.request <= 0 {
		return 0.5, true
	}
	return min(1, float64(s.request)/float64(limit)), false
}

// score is what a candidate is compared by; lower is better.
func (s *scale) score(r *ranked) float64 {
	terms, n := s.terms(r)
	sum := 0.0
	for i := range n {
		sum += terms[i].value * terms[i].weight
	}
	switch {
	case s.fixed:
		return sum
	case isText(s.surface):
		sum /= success(&r.health)
	}
	errors, limited := trouble(&r.health)
	return sum * (1 + errorWeight*errors + rateLimitedWeight*limited)
}

// success is the smoothed share of good answers.
func success(h *EndpointHealth) float64 {
	calls := float64(h.Calls)
	return max(minSuccess, (h.Success*calls+priorSuccess*priorCalls)/(calls+priorCalls))
}

// trouble is the smoothed share of recent calls that failed or were rate
// limited.
func trouble(h *EndpointHealth) (errors, limited float64) {
	if h.Recent <= 0 {
		return 0, 0
	}
	part := float64(h.Recent) / (float64(h.Recent) + recentPrior)
	return h.Errors * part, h.RateLimited * part
}

func firstByte(r *ranked) (seconds float64, assumed bool) {
	if r.health.FirstByte <= 0 {
		return typicalFirstByte.Seconds(), true
	}
	return r.health.FirstByte.Seconds(), false
}

func throughput(r *ranked) (perSecond float64, assumed bool) {
	if r.health.Throughput <= 0 {
		return typicalThroughput, true
	}
	return r.health.Throughput, false
}

// believable makes "not known" of what cannot be, so that no number in a score
// is a NaN or infinite.
func believable(h EndpointHealth) EndpointHealth {
	const fastest = 1e7 // output tokens per second
	if !(h.Success >= 0 && h.Success <= 1) || h.Calls < 0 {
		h.Calls, h.Success = 0, 0
	}
	if !(h.Throughput >= 1/fastest && h.Throughput <= fastest) {
		h.Throughput = 0
	}
	if !(h.CacheHit >= 0 && h.CacheHit <= 1) {
		h.CacheHit = 0
	}
	if !(h.Errors >= 0 && h.Errors <= 1 && h.RateLimited >= 0 && h.RateLimited <= 1) {
		h.Recent = 0
	}
	h.FirstByte, h.FirstByteP95 = max(h.FirstByte, 0), max(h.FirstByteP95, time.Duration(0))
	return h
}
