package decide

import (
	"cmp"
	"math"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// scoreAuto scores the eligible models and sorts them, best first. Those whose
// endpoints are all failing or cooling come last, whatever their score.
func (d *decision) scoreAuto(config *policy.Auto, said *Classification, list []autoCandidate) {
	mix := trustedMix(said)
	for i := range list {
		d.look(&list[i], mix)
	}
	for i := range list {
		list[i].score = total(autoTerms(config.Objective, said, &list[i], d.autoSizes()))
	}
	slices.SortFunc(list, func(a, b autoCandidate) int {
		return cmp.Or(cmp.Compare(bit(a.cooling), bit(b.cooling)), cmp.Compare(b.score, a.score),
			cmp.Compare(a.spend, b.spend), cmp.Compare(a.target.model.ID, b.target.model.ID))
	})
}

// trustedMix is the mix in the part that the classifier is sure of; the rest
// counts as general work.
func trustedMix(said *Classification) classify.Mix {
	mix := said.Mix
	for w := range mix {
		mix[w] *= said.Confidence
	}
	mix[classify.General] += 1 - said.Confidence
	return mix
}

// autoSizes are the sizes that all models are priced and timed at: the
// request's own. What is typical of a model would make those that get long
// prompts look dear.
func (d *decision) autoSizes() sizes {
	s := sizes{from: SizesAssumed, input: expectedInput, output: expectedOutput}
	if n := d.inputTokens(); n > 0 {
		s.from, s.input = SizesOfRequest, n
	}
	if n := d.outputTokens(); n > 0 {
		s.output = min(s.output, n)
	}
	return s
}

// look fills in what is known of a model. Its cheapest endpoint that is not
// failing stands for it: that is where most of its requests go.
func (d *decision) look(c *autoCandidate, mix classify.Mix) {
	s := d.autoSizes()
	c.cooling = true
	var best *ranked
	for _, r := range c.pool {
		d.measure(r)
		r.spend = d.spend(s, r)
		c.cooling = c.cooling && r.cooling
		if best == nil || represents(r, best) {
			best = r
		}
	}
	first, noFirst := firstByte(best)
	rate, noRate := throughput(best)
	c.spend = best.spend
	c.seconds, c.noLatency = first+float64(s.output)/rate, noFirst && noRate
	c.success, c.noCalls = success(&best.health), best.health.Calls <= 0
	c.quality, c.benchmarks = qualityOf(c.target.model, mix)
	c.capability = capabilityOf(c, mix)
}

func represents(r, than *ranked) bool {
	return cmp.Or(cmp.Compare(bit(r.cooling), bit(than.cooling)), cmp.Compare(r.spend, than.spend),
		cmp.Compare(r.offer.Endpoint.ID, than.offer.Endpoint.ID)) < 0
}

// qualityOf is how a model did in independent benchmarks, weighted by the mix:
// in those of each workload, or in all where a workload has none. Without any
// it is neutral. What an author reports of its own model does not count.
func qualityOf(m *catalog.Model, mix classify.Mix) (quality float64, used []string) {
	var sums, counts classify.Mix
	all, n := 0.0, 0.0
	for i := range m.Benchmarks {
		b := &m.Benchmarks[i]
		if b.SelfReported || math.IsNaN(b.Score) {
			continue
		}
		known, _ := measureOf(b.ID)
		points := min(1, max(0, (b.Score-known.low)/(known.high-known.low)))
		all, n = all+points, n+1
		for _, w := range known.workloads {
			sums[w] += points
			counts[w]++
		}
		used = append(used, clip(b.ID))
	}
	if n == 0 {
		return neutralPoints, nil
	}
	for w, share := range mix {
		if counts[w] > 0 {
			quality += share * sums[w] / counts[w]
		} else {
			quality += share * all / n
		}
	}
	return quality, used
}

// capabilityOf is how much of what the mix asks for the catalog states of a
// model. That it does not state something is no evidence against it.
func capabilityOf(c *autoCandidate, mix classify.Mix) float64 {
	points := 0.0
	for w, share := range mix {
		name := stated(classify.Workload(w))
		has := neutralPoints
		if name != "" && slices.Contains(c.target.model.Capabilities, name) || offered(c.pool, parameterOf(classify.Workload(w))) {
			has = 1
		}
		points += share * has
	}
	return points
}

func offered(pool []*ranked, parameter string) bool {
	return parameter != "" && slices.ContainsFunc(pool, func(r *ranked) bool {
		return slices.Contains(r.offer.Endpoint.Parameters, parameter)
	})
}

const autoTermCount = 5

// autoTerms are the addends of a model's score; value is its points.
func autoTerms(o policy.Objective, said *Classification, c *autoCandidate, s sizes) [autoTermCount]term {
	complexity := said.Confidence*said.Complexity + (1-said.Confidence)*neutralComplexity
	w := weightsFor(o).shifted(complexity)
	fit := min(1, c.quality/min(needMost, needBase+complexity))
	fit = (1-statedPart)*fit + statedPart*c.capability
	assumed := len(c.benchmarks) == 0
	reference := (float64(s.input)*float64(referenceInput) + float64(s.output)*float64(referenceOutput)) / 1e6
	return [autoTermCount]term{
		{FactorFit, unitShare, fit, fit, w.fit, assumed},
		{FactorQuality, unitShare, c.quality, c.quality, w.quality, assumed},
		{FactorTokens, unitNanos, c.spend, 1 - saturated(c.spend, reference), w.price, false},
		{FactorTotal, unitSeconds, c.seconds, 1 - saturated(c.seconds, referenceSeconds), w.latency, c.noLatency},
		{FactorReliability, unitShare, c.success, max(0, 1-failureScale*(1-c.success)), w.reliability, c.noCalls},
	}
}

func total(terms [autoTermCount]term) float64 {
	sum := 0.0
	for _, t := range terms {
		sum += t.weight * t.value
	}
	return sum
}
