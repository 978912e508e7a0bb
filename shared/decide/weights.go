package decide

import (
	"math"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
)

// The score of an endpoint, lower is better. Until the weighted draw of the
// balanced mode lands, each mode is one term:
//
//	price       spend(e) = price of the expected input and output, in nano-USD
//	balanced    spend(e) ÷ success(e)
//	latency     median time to the first byte, in seconds
//	throughput  seconds per output token: 1 ÷ median tokens a second
//
// success(e) is the share of good answers in the window with priorGood good
// and priorBad bad ones added, so that few calls say little, and rounded down
// to steps of successStep, so that noise between healthy endpoints moves
// nobody. What is not known counts as the median of what is known of the
// other candidates, and as nothing when no candidate knows it.
const (
	// Expected sizes when the request does not tell: a short conversation.
	expectedInput  = 1_000
	expectedOutput = 500

	priorGood   = 9.0
	priorBad    = 1.0
	successStep = 0.1
	// minSuccess keeps a failing endpoint comparable; the breaker is what
	// takes it away.
	minSuccess = 0.1
)

// spend is the expected cost in nano-USD, or NaN when a price is not known.
// It is a float because it only ranks; nobody is billed by it.
func spend(f *Facts, p *catalog.Price) float64 {
	input, output := float64(f.InputTokens), float64(f.OutputTokens)
	if f.InputTokens <= 0 {
		input = expectedInput
	}
	switch {
	case f.Surface == catalog.Embeddings:
		output = 0
	case f.OutputTokens <= 0 || f.OutputTokens > expectedOutput:
		output = expectedOutput // a cap is rarely reached
	}
	if p == nil {
		return math.NaN()
	}
	rates := p
	if len(p.Tiers) > 0 {
		tiered := meter.Rates(p, f.InputTokens)
		rates = &tiered
	}
	if rates.Input == nil || (output > 0 && rates.Output == nil) {
		return math.NaN()
	}
	total := input*float64(*rates.Input)/1e6 + float64(rates.Request)
	if output > 0 {
		total += output * float64(*rates.Output) / 1e6
	}
	return total
}

func success(h *EndpointHealth) float64 {
	calls := float64(h.Calls)
	share := (h.Success*calls + priorGood) / (calls + priorGood + priorBad)
	steps := math.Floor(share/successStep + 1e-9)
	return max(minSuccess, steps*successStep)
}
