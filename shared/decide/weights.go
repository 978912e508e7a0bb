package decide

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// The constants of ranking, each with its reason. docs/routing.md explains the
// whole to users and shows what `make bench-routing` measures with them.
//
// For text, the cost of endpoint e is in nano-USD for each good answer:
//
//	cost(e) = (tokens(e) + λ·(w1·ttft(e) + w2·total(e))) / success(e)
//	          · (1 + a·errors(e) + b·rate_limited(e))
const (
	// λ, the price of a second of waiting: half of a tenth of a cent. It buys
	// 125 output tokens at 4 USD per million, which is what a typical provider
	// generates in two to three seconds. So among models of middling price a
	// third more speed is worth a tenth more money, dear models are ranked
	// mostly by price, and very cheap ones mostly by speed.
	waitPrice = 500_000.0 // nano-USD per second

	// w1 and w2. Until the first token everyone waits and sees nothing, so
	// that second counts in full. The rest of the answer is read as it comes,
	// but programs and agents wait for its end: a quarter.
	firstByteWeight = 1.0
	totalWeight     = 0.25

	// a and b, what an endpoint that fails now costs beyond its success rate:
	// an error costs the time until it was seen, a second upstream's work and
	// perhaps the answer, and foretells more of its kind. With a = 4, one error
	// in four doubles the cost. A rate limit is seen at once, and the endpoint
	// cools down by itself; it says that there is no room, so half as much.
	errorWeight       = 4.0
	rateLimitedWeight = 2.0

	// recentPrior calls without trouble are added to the recent ones, so that
	// a single error on a quiet endpoint does not look like a failure of all.
	recentPrior = 5.0

	// success is the mean of Beta(priorCalls·priorSuccess + good,
	// priorCalls·(1−priorSuccess) + bad): ten calls as a sound provider answers
	// them stand for what is not known, and hundreds of measured ones outweigh
	// them. minSuccess keeps a dead endpoint comparable; the breaker is what
	// takes it away.
	priorCalls   = 10.0
	priorSuccess = 0.99
	minSuccess   = 0.01

	// γ, how much traffic concentrates: a tenth more cost leaves a bit over half
	// of the share, twice the cost a sixty-fourth. `make bench-routing` has a
	// fourth less regret with 6 than with 4; twice as high again gains little
	// and herds the traffic of every gateway on one endpoint for differences
	// that are within the noise of what is measured.
	concentration = 6.0

	// minShare of each endpoint that is not open, cooling or ranked behind by
	// policy, so that a recovery or a lower price is seen. Where there are so
	// many that this would take more than maxExplored of the traffic, they
	// share maxExplored.
	minShare    = 0.02
	maxExplored = 0.5

	// costRange is how far costs are told apart: nothing counts as cheaper than
	// this part of the dearest, which is what makes a free endpoint comparable.
	costRange = 1e-3
)

// What stands in for what is not known. Times are those of a typical provider
// and not the median of the pool, so that an endpoint that gets faster never
// loses to one that nobody has measured. A price that is not known counts as
// the median of the pool's: between models prices differ a thousandfold.
const (
	typicalFirstByte  = 800 * time.Millisecond
	typicalTail       = 4 * time.Second
	typicalThroughput = 50.0 // output tokens per second

	// Sizes when neither health nor the request tells: a short conversation.
	expectedInput  = 1_000
	expectedOutput = 500
)

// minor is the weight of the terms that do not dominate in the modes price,
// latency and throughput: they decide between endpoints that are about equal
// in what the mode is about, whatever the model's price.
const minor = 1e-3

// textWeights are the weights of the terms of cost(e). Generation is the time
// from the first byte to the last, the part of total(e) that throughput makes.
type textWeights struct {
	tokens     float64 // of nano-USD
	firstByte  float64 // nano-USD per second, as the next two
	total      float64
	generation float64
}

func textWeightsOf(m policy.Mode) textWeights {
	w := textWeights{tokens: 1, firstByte: waitPrice * firstByteWeight, total: waitPrice * totalWeight}
	switch m {
	case policy.Price:
		w.firstByte *= minor
		w.total *= minor
	case policy.Latency:
		w.tokens *= minor
		w.total *= minor
	case policy.Throughput:
		w.tokens *= minor
		w.firstByte *= minor
		w.generation, w.total = w.total, 0
	case policy.Balanced:
	}
	return w
}

// otherWeights are those of surfaces that do not answer in text. What they
// cost and how long they take differs too much for one price of waiting, so
// each term is a penalty between 0 and 1 and the weights add up to 1.
type otherWeights struct {
	reliability float64 // 1 − success(e)
	latency     float64 // t ÷ (t + typicalFirstByte), of the median first byte
	tail        float64 // t ÷ (t + typicalTail), of its 95th percentile
	throughput  float64 // typicalThroughput ÷ (throughput + typicalThroughput)
	price       float64 // 1 − cheapest ÷ own
	sizeFit     float64 // the part of the context window that the request fills
}

// otherWeightsOf: reliability leads in balanced mode because an image or a
// transcription that fails is noticed more than one that is a little slower;
// in the other modes the term of the mode has about half of the weight.
func otherWeightsOf(m policy.Mode) otherWeights {
	switch m {
	case policy.Price:
		return otherWeights{reliability: 0.20, latency: 0.10, tail: 0.05, throughput: 0.05, price: 0.55, sizeFit: 0.05}
	case policy.Latency:
		return otherWeights{reliability: 0.20, latency: 0.50, tail: 0.15, throughput: 0.05, price: 0.05, sizeFit: 0.05}
	case policy.Throughput:
		return otherWeights{reliability: 0.20, latency: 0.10, tail: 0.05, throughput: 0.55, price: 0.05, sizeFit: 0.05}
	case policy.Balanced:
	}
	return otherWeights{reliability: 0.35, latency: 0.15, tail: 0.10, throughput: 0.10, price: 0.25, sizeFit: 0.05}
}
