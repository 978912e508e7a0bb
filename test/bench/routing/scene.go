package main

import (
	"math"
	"math/rand/v2"
	"time"
)

// condition is how a provider does at one moment.
type condition struct {
	input, output float64 // USD per million tokens
	firstByte     float64 // seconds, median
	rate          float64 // output tokens per second, median
	fails         float64 // share of calls
	limited       float64 // share of calls answered with 429
}

// event changes a provider's condition for a while.
type event struct {
	provider int
	from, to time.Duration
	name     string
	worse    bool // policies ought to leave the provider meanwhile
	change   func(*condition)
}

// scene is what happens, the same for every policy.
type scene struct {
	providers []string
	normal    []condition
	events    []event
	length    time.Duration
	perSecond float64 // requests
	seed      uint64
}

// The providers of the built-in scene.
const (
	alder = iota // cheap and sound
	birch        // a little dearer and quicker
	cedar        // the cheapest, and slow
	larch        // dear and fast
)

func builtIn(seed uint64) scene {
	trouble := func(from, to float64, name string, change func(*condition)) event {
		return event{provider: alder, from: minutes(from), to: minutes(to), name: name, change: change, worse: true}
	}
	return scene{
		providers: []string{"alder", "birch", "cedar", "larch"},
		normal: []condition{
			alder: {input: 1.0, output: 4.0, firstByte: 0.6, rate: 70, fails: 0.005},
			birch: {input: 1.15, output: 4.6, firstByte: 0.4, rate: 90, fails: 0.005},
			cedar: {input: 0.8, output: 3.2, firstByte: 1.6, rate: 30, fails: 0.01},
			larch: {input: 2.5, output: 10, firstByte: 0.25, rate: 160, fails: 0.002},
		},
		events: []event{
			trouble(5, 9, "alder is down", func(c *condition) { c.fails = 0.95 }),
			trouble(15, 21, "alder fails a third", func(c *condition) { c.fails = 0.33 }),
			trouble(27, 34, "alder is slow", func(c *condition) { c.firstByte, c.rate = 6, 12 }),
			{provider: birch, from: minutes(40), to: minutes(47), name: "birch at half price", change: func(c *condition) { c.input, c.output = c.input/2, c.output/2 }},
			trouble(52, 56, "alder limits half", func(c *condition) { c.limited = 0.5 }),
		},
		length: time.Hour, perSecond: 10, seed: seed,
	}
}

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

// at is provider p's condition at a moment.
func (s *scene) at(p int, now time.Duration) condition {
	c := s.normal[p]
	for _, e := range s.events {
		if e.provider == p && now >= e.from && now < e.to {
			e.change(&c)
		}
	}
	return c
}

// request is one call with its luck, which is the same whatever the policy.
type request struct {
	at            time.Duration
	input, output int
	seed          uint64
}

// requests come at random moments; their sizes are log-normal.
func (s *scene) requests() []request {
	r := rand.New(rand.NewPCG(s.seed, 1))
	var all []request
	for at := 0.0; ; {
		at += r.ExpFloat64() / s.perSecond
		if at >= s.length.Seconds() {
			return all
		}
		all = append(all, request{
			at: time.Duration(at * float64(time.Second)), seed: r.Uint64(),
			input:  1 + int(1200*math.Exp(0.6*r.NormFloat64())),
			output: 1 + int(300*math.Exp(0.5*r.NormFloat64())),
		})
	}
}

// outcome is how one attempt goes.
type outcome struct {
	verdict         verdict
	firstByte, rate float64 // of an answer
	took            float64 // seconds
}

type verdict int

const (
	answered verdict = iota
	failed
	limited
)

// attempt is what happens when a request reaches provider p at a moment.
func (s *scene) attempt(q request, p int, now time.Duration) outcome {
	r := rand.New(rand.NewPCG(q.seed, uint64(p)))
	c := s.at(p, now)
	chance, firstByte, rate := r.Float64(), c.firstByte*math.Exp(0.3*r.NormFloat64()), c.rate*math.Exp(0.15*r.NormFloat64())
	switch {
	case chance < c.limited:
		return outcome{verdict: limited, took: 0.1}
	case chance < c.limited+c.fails:
		return outcome{verdict: failed, took: firstByte}
	}
	return outcome{firstByte: firstByte, rate: rate, took: firstByte + float64(q.output)/rate}
}
