// Package bound owns the most that a request can cost: a price that no usage
// which a provider could report for it goes beyond. It is pure.
package bound

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// overhead is what providers add to the input by themselves: the frames of turns
// and what tells a model how to call tools, a few hundred tokens each.
const overhead = 4096

// rounding is what the lines of a bill, each rounded half up, can add to it.
const rounding = 10

// Worst is the most that a request to a candidate of a step can cost. No token is
// shorter than a byte, so that the input has no more of them than the body has
// bytes; what the body does not hold is bounded by the endpoint's context. The
// failure is a validation_error that says what to set.
func (r *Request) Worst(step *decide.Step, c *decide.Candidate) (money.Nanos, *fault.Error) {
	p := c.Endpoint.Price
	if decide.CostsNothing(p) {
		return 0, nil
	}
	if p == nil || p.Input == nil && p.Output == nil && p.Request == 0 {
		return 0, unbounded("model", "the model has no price there. Choose one that has")
	}
	q := r.with(step.Preset)
	switch {
	case q.kept:
		return 0, unbounded("prompt", "the provider keeps the prompt, and what tools and limits go with it is not known. Write it into the request")
	case q.tools:
		return 0, unbounded("tools", "it has tools that the provider runs as often as it likes. Leave them out")
	case q.surface == catalog.Batches || q.surface == catalog.Realtime:
		return 0, unbounded("", "requests of this kind cost what is only known at their end. Use a key and a workspace whose limits do not reserve")
	}
	in, out, refusal := q.tokens(step.Model, c.Endpoint)
	if refusal != nil && (in < 0 && rates(p, in).in > 0 || out < 0 && rates(p, in).out > 0) {
		return 0, refusal
	}
	d := rates(p, in)
	return d.in.Cost(max(in, 0)).Add(d.out.Cost(max(out, 0))).Add(d.request).Add(rounding), nil
}

// tokens are the most that go in and out; -1 where that is not known, and what to
// do then.
func (r *Request) tokens(m *catalog.Model, e *catalog.Endpoint) (in, out int64, unknown *fault.Error) {
	context := either(e.Context, m.Context)
	in = max(r.text+overhead, r.estimate)
	if r.surface == catalog.Rerank {
		in *= 1 + min(r.listed, beyondCounting>>8) // each document is read together with the rest
	}
	switch {
	case r.beyond && context == 0:
		in, unknown = -1, unbounded("model", "it has media, or refers to what the provider keeps, and the model's context is not known. Send text, or choose another model")
	case r.beyond && r.listed > 0:
		in += min(context, beyondCounting) * min(r.listed, beyondCounting>>8)
	case r.beyond:
		in = max(context, r.estimate)
	}
	if !speaks(r.surface) {
		return in, 0, unknown
	}
	limit := either(e.MaxOutput, m.MaxOutput, context)
	switch most := r.most; {
	case most == 0 && limit == 0:
		return in, -1, unbounded("max_tokens", "it does not say how much output it allows, and the model's limit is not known. Set max_tokens")
	case most == 0:
		out = limit
	case r.thought > most:
		out = most + r.thought // thoughts between calls of tools are not within what is allowed
	default:
		out = most
	}
	if out >= beyondCounting || r.answers*r.prompts >= beyondCounting>>8 {
		return in, -1, unbounded("n", "it asks for more than can be counted. Ask for less")
	}
	return in, (out + r.guessed) * r.answers * r.prompts, unknown
}

// speaks says that a surface's replies have output that is paid for.
func speaks(s catalog.Surface) bool {
	switch s {
	case catalog.Embeddings, catalog.Moderations, catalog.Rerank, catalog.Files:
		return false
	default:
		return true
	}
}

func either(values ...int64) int64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// dearest are the highest prices that a request may meet.
type dearest struct {
	in, out money.PerMillion
	request money.Nanos
}

// rates are those of a price for up to in tokens, -1 for any number: over all its
// meters and the tiers that they may reach.
func rates(p *catalog.Price, in int64) dearest {
	var d dearest
	d.take(meter.Rates(p, 0))
	for _, tier := range p.Tiers {
		if in < 0 || in > tier.Above {
			d.take(meter.Rates(p, tier.Above+1))
		}
	}
	return d
}

func (d *dearest) take(r catalog.Price) {
	for _, price := range [...]*money.PerMillion{r.Input, r.CachedInput, r.CacheWrite5m, r.CacheWrite1h, r.Image, r.Audio} {
		if price != nil {
			d.in = max(d.in, *price)
		}
	}
	for _, price := range [...]*money.PerMillion{r.Output, r.Reasoning, r.Audio} {
		if price != nil {
			d.out = max(d.out, *price)
		}
	}
	d.request = max(d.request, r.Request)
}

// unbounded refuses what has no worst case. at is the place in the body, "" for
// the whole.
func unbounded(at, why string) *fault.Error {
	f := fault.New(fault.ValidationError,
		"A limit keeps back the most that a request can cost, and for this one that cannot be told: "+why+".").Because(fault.CostUnbounded)
	f.Violations = []fault.Violation{{Path: at, Code: string(fault.CostUnbounded), Message: why}}
	return f
}
