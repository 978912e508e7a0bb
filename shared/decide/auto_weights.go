package decide

import (
	"github.com/signalbox-dev/signalbox/shared/classify"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// The constants by which signalbox/auto scores models, each with its reason.
// docs/auto.md explains the whole to users. A model's score is
//
//	score = Σ weight · points, for fit, quality, price, latency and reliability
//
// with points from 0 to 1 and weights that add up to 1, so that higher is
// better and 1 is a model that is best in everything and costs nothing.
const (
	// AutoAlgorithm names this way of scoring in records. It changes with any
	// change of the constants or of what they are multiplied with.
	AutoAlgorithm = "auto-1"

	// neutralPoints stand for what is not known: in the middle. The mean of what
	// is known of others would not be neutral, since it is the strong models that
	// get measured, and a model's score would depend on which others there are.
	neutralPoints = 0.5

	// The price at which half of a model's price points are gone: a model of
	// middling price in 2026. Points fall as reference ÷ (reference + price), so
	// that the difference between 0.05 and 0.10 USD, which nobody notices on a
	// bill, says little, and that between 1 and 10 USD much.
	referenceInput  money.PerMillion = 500_000_000   // 0.50 USD per million tokens
	referenceOutput money.PerMillion = 2_000_000_000 // 2.00 USD per million tokens

	// The time for a whole answer at which half of the latency points are gone,
	// in seconds: the typical provider's for a typical answer (0.8 s to the first
	// byte, 500 tokens at 50 a second).
	referenceSeconds = 11.0

	// A failure rate of one in failureScale takes all reliability points: what
	// fails that often is not an answer to any objective. Sound providers fail in
	// one call of a hundred.
	failureScale = 5.0

	// What a request needs of a model's quality grows with its complexity: the
	// fit is quality ÷ need, at most 1. An easy request (0.1) is within reach of
	// everyone above the bottom fifth; the hardest asks for the best there is.
	needBase, needMost = 0.1, 0.95

	// A complexity that a classifier is not sure of moves to the middle.
	neutralComplexity = 0.5

	// How much of the smaller one of the weights of quality and price moves to the
	// other between the middle and the ends of complexity: for an easy request
	// more quality than it needs is wasted, for a hard one the money saved on a
	// wrong answer is.
	complexityShift = 0.5

	// statedPart is how much of the fit is what the catalog states of a model's
	// capabilities, which is little: hardly any catalog states all of them.
	statedPart = 0.2
)

// autoWeights are the weights of one objective; they add up to 1.
type autoWeights struct {
	fit, quality, price, latency, reliability float64
}

// weightsFor has the leading term with about half of the weight, and keeps the
// others heavy enough that no objective picks a model that is hopeless in all
// else. Balanced weighs being able (fit and quality) a little more than being
// cheap and fast: a wrong answer has to be paid for again. Reliability is equal
// everywhere, since every objective needs an answer.
func weightsFor(o policy.Objective) autoWeights {
	switch o {
	case policy.ForQuality:
		return autoWeights{fit: 0.20, quality: 0.55, price: 0.05, latency: 0.05, reliability: 0.15}
	case policy.ForCost:
		return autoWeights{fit: 0.20, quality: 0.10, price: 0.50, latency: 0.05, reliability: 0.15}
	case policy.ForLatency:
		return autoWeights{fit: 0.20, quality: 0.10, price: 0.10, latency: 0.45, reliability: 0.15}
	case policy.ForBalance:
	}
	return autoWeights{fit: 0.20, quality: 0.30, price: 0.25, latency: 0.10, reliability: 0.15}
}

// shifted moves weight from price to quality as the complexity rises.
func (w autoWeights) shifted(complexity float64) autoWeights {
	moved := complexityShift * min(w.quality, w.price) * (2*complexity - 1)
	w.quality += moved
	w.price -= moved
	return w
}

// measure says what a benchmark is about and how its scores spread: from what
// weak models reach to what the best do. Points lie in between, so that
// benchmarks of different difficulty can be averaged.
type measure struct {
	id        string
	low, high float64
	workloads []classify.Workload
}

// measures are the benchmarks that are known; their ranges are those of the
// embedded catalog's models, rounded outwards. Any other benchmark counts for
// every workload, from 0 to 100.
var measures = []measure{
	{"livebench.coding", 50, 85, []classify.Workload{classify.Code}},
	// Long tasks in a repository, done by calling tools and reading their results.
	{"livebench.agentic_coding", 0, 65, []classify.Workload{classify.Code, classify.ToolUse}},
	{"livebench.agentic_coding_2026_06", 15, 55, []classify.Workload{classify.Code, classify.ToolUse}},
	{"livebench.reasoning", 20, 95, []classify.Workload{classify.Reasoning}},
	{"livebench.mathematics", 35, 100, []classify.Workload{classify.Reasoning}},
	// Tables that must come out in a given form.
	{"livebench.data_analysis", 35, 85, []classify.Workload{classify.Structured}},
	{"livebench.language", 40, 90, []classify.Workload{classify.Translation}},
	// Paraphrasing, simplifying and summarizing articles under conditions.
	{"livebench.instruction_following", 10, 80, []classify.Workload{classify.Summarization, classify.Structured}},
}

// measureOf finds a known benchmark.
func measureOf(id string) (measure, bool) {
	for i := range measures {
		if measures[i].id == id {
			return measures[i], true
		}
	}
	return measure{id: id, high: 100}, false
}

// stated is the capability of a model that a workload asks for; "" for none.
func stated(w classify.Workload) string {
	switch w {
	case classify.Reasoning, classify.Code:
		return "reasoning"
	case classify.ToolUse:
		return "tools"
	case classify.Structured:
		return "structured_output"
	default:
		return ""
	}
}

// parameterOf is the request's parameter that a trusted fact stands in.
func parameterOf(w classify.Workload) string {
	switch w {
	case classify.ToolUse:
		return "tools"
	case classify.Structured:
		return "response_format"
	default:
		return ""
	}
}
