package decide

import (
	"math"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// sizes are the prompt and output that endpoints of a model are priced at: the
// same for all of them, or one that happened to get long prompts looked dear.
type sizes struct {
	input, output int64
	from          SizeSource
}

// sizesOf joins what was measured at the candidates, each weighted by its
// calls. Sums are whole numbers, so that their order does not matter.
func (d *decision) sizesOf(pool []*ranked) sizes {
	const mostCalls, mostTokens = 1_000_000, 100_000_000 // no sum overflows
	var input, output, inputCalls, outputCalls int64
	for _, r := range pool {
		calls := min(max(r.health.Calls, 1), mostCalls)
		if n := r.health.InputTokens; n > 0 {
			input += min(n, mostTokens) * calls
			inputCalls += calls
		}
		if n := r.health.OutputTokens; n > 0 {
			output += min(n, mostTokens) * calls
			outputCalls += calls
		}
	}
	f := &d.in.Facts
	s := sizes{from: SizesAssumed, input: expectedInput, output: expectedOutput}
	switch {
	case inputCalls > 0:
		s.from, s.input = SizesMeasured, max(1, input/inputCalls)
	case d.inputTokens() > 0:
		s.from, s.input = SizesOfRequest, d.inputTokens()
	}
	switch {
	case !generates(f.Surface):
		s.output = 0
	case outputCalls > 0:
		s.output = max(1, output/outputCalls)
	default:
		if n := d.outputTokens(); n > 0 {
			s.output = min(s.output, n) // a cap is rarely reached
		}
	}
	return s
}

// generates reports whether output is paid for on a surface.
func generates(s catalog.Surface) bool {
	return s != catalog.Embeddings && s != catalog.Moderations && s != catalog.Rerank
}

// spend is tokens(e), the expected price of one request in nano-USD, or NaN
// when a price is not known. It is a float because it only ranks; nobody is
// billed by it. Reads from the cache are priced as such in the part that the
// endpoint was measured to read from it.
func (d *decision) spend(s sizes, r *ranked) float64 {
	p, f := r.offer.Endpoint.Price, &d.in.Facts
	if p == nil {
		return math.NaN()
	}
	rates := p
	if len(p.Tiers) > 0 {
		size := d.inputTokens() // the tier is the request's own, whatever is typical
		if size <= 0 {
			size = s.input
		}
		tiered := meter.Rates(p, size)
		rates = &tiered
	}
	in, out := ratesOn(f.Surface, rates)
	if in == nil && out == nil && rates.Request > 0 {
		return float64(rates.Request) // priced by the piece
	}
	if in == nil || s.output > 0 && out == nil {
		return math.NaN()
	}
	hit := r.health.CacheHit
	cached := *either(rates.CachedInput, in)
	total := float64(s.input)*((1-hit)*float64(*in)+hit*float64(cached))/1e6 + float64(rates.Request)
	if s.output > 0 {
		total += float64(s.output) * float64(*out) / 1e6
	}
	return total
}

// ratesOn are the prices of what goes in and what comes out on a surface, with
// the fallbacks of meter.Bill.
func ratesOn(s catalog.Surface, p *catalog.Price) (in, out *money.PerMillion) {
	switch s {
	case catalog.Images, catalog.ImageEdits:
		return p.Input, either(p.Image, p.Output)
	case catalog.Speech, catalog.Music:
		return p.Input, either(p.Audio, p.Output)
	case catalog.Transcriptions, catalog.Translations:
		return either(p.Audio, p.Input), p.Output
	default:
		return p.Input, p.Output
	}
}

func either(a, b *money.PerMillion) *money.PerMillion {
	if a != nil {
		return a
	}
	return b
}

// priceAll fills in what each candidate is expected to cost. A price that is
// not known counts as the lower median of those that are, or as nothing when
// none is.
func (d *decision) priceAll(s sizes, pool []*ranked) {
	var storage [64]float64
	known := storage[:0]
	for _, r := range pool {
		r.spend = d.spend(s, r)
		if r.unpriced = math.IsNaN(r.spend); !r.unpriced {
			known = append(known, r.spend)
		}
	}
	if len(known) == len(pool) {
		return
	}
	median := 0.0
	if len(known) > 0 {
		slices.Sort(known)
		median = known[(len(known)-1)/2]
	}
	for _, r := range pool {
		if r.unpriced {
			r.spend = median
		}
	}
}
