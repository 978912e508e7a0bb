// Package tally counts what the requests of a rollout's two arms came to. It
// knows neither where the requests come from nor what is made of the counts.
package tally

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// Cell is how often one thing happened.
type Cell struct {
	Step      int // of the rollout, from 0
	Candidate bool
	Bucket    int // Failed, or the bucket of how long a success took
	Requests  int64
	Cost      money.Nanos
}

// Arm is what the requests through one of the two versions came to.
type Arm struct {
	Requests int64 // judged: successes and failures
	Failures int64
	P95      time.Duration // of the successes; 0 without one
	Cost     money.Nanos   // of all requests
}

// Successes is how many requests succeeded.
func (a Arm) Successes() int64 { return a.Requests - a.Failures }

// ErrorRate is the share of failures, from 0 to 1; 0 without a request.
func (a Arm) ErrorRate() float64 {
	if a.Requests == 0 {
		return 0
	}
	return float64(a.Failures) / float64(a.Requests)
}

// MeanCost is what a success cost, rounded down; 0 without one.
func (a Arm) MeanCost() money.Nanos {
	if a.Successes() == 0 {
		return 0
	}
	return a.Cost / money.Nanos(a.Successes())
}

// Sum adds up the cells that keep chooses.
func Sum(cells []Cell, keep func(Cell) bool) Arm {
	var a Arm
	var took [buckets]int64
	for _, c := range cells {
		if !keep(c) {
			continue
		}
		a.Requests += c.Requests
		a.Cost = a.Cost.Add(c.Cost)
		if c.Bucket == Failed {
			a.Failures += c.Requests
		} else if c.Bucket > 0 && c.Bucket < buckets {
			took[c.Bucket] += c.Requests
		}
	}
	a.P95 = percentile(&took, a.Successes(), 95)
	return a
}
