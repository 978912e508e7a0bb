package main

import (
	"container/heap"
	"time"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// simulation runs one scene under one policy after the other.
type simulation struct {
	scene    scene
	all      []request
	policy   *policy.View
	catalogs map[string]*catalog.View
	waiting  weights
}

// weights are the kernel's price of waiting, in nano-USD per second, as its
// own record states them.
type weights struct{ firstByte, total float64 }

// giveUp is how long a caller whose request nobody answered is taken to have
// waited for nothing.
const giveUp = time.Minute

func newSimulation(s scene) *simulation {
	sim := &simulation{scene: s, all: s.requests(), policy: workspacePolicy(), catalogs: map[string]*catalog.View{}}
	plan := decide.Decide(decide.Input{
		Policy: sim.policy, Catalog: sim.catalogAt(0),
		Facts: decide.Facts{Now: epoch, Surface: catalog.Chat, Model: modelID},
	})
	for _, f := range plan.Record.Candidates[0].Factors {
		switch f.Name {
		case decide.FactorFirstByte:
			sim.waiting.firstByte = f.Weight
		case decide.FactorTotal:
			sim.waiting.total = f.Weight
		}
	}
	return sim
}

// cost is what an answer costs: its tokens and the time that it took.
func (s *simulation) cost(q request, c condition, o outcome) float64 {
	tokens := (float64(q.input)*c.input + float64(q.output)*c.output) * 1000 // USD per million is 1000 nano-USD each
	return tokens + s.waiting.firstByte*o.firstByte + s.waiting.total*o.took
}

// perSecondLost is the price of a second before the attempt that answers.
func (s *simulation) perSecondLost() float64 { return s.waiting.firstByte + s.waiting.total }

// result is what one policy did.
type result struct {
	policy     string
	first      []int     // the provider of each request's first attempt
	costs      []float64 // nano-USD of each request
	attempts   int
	unanswered int
	spent      float64 // nano-USD for tokens
	waited     float64 // seconds until the last byte, over all requests
}

// run plays the scene. What an attempt shows is known when it has ended.
func (s *simulation) run(name string) result {
	r := result{policy: name, first: make([]int, len(s.all)), costs: make([]float64, len(s.all))}
	choose := s.chooser(name)
	v := view{index: map[string]int{}}
	for i, slug := range s.scene.providers {
		v.endpoints = append(v.endpoints, &endpoint{})
		v.index[endpointID(slug)] = i
	}
	var pending ending
	second := time.Duration(-1)
	for i, q := range s.all {
		for len(pending) > 0 && pending[0].at <= q.at {
			e := heap.Pop(&pending).(end)
			v.endpoints[e.provider].observe(e.at, e.request, e.outcome)
		}
		if now := q.at.Truncate(time.Second); now != second {
			second = now
			for _, e := range v.endpoints {
				e.summarize(now, name == sluggish)
			}
		}
		v.now, v.seed = q.at, q.seed
		order := choose(q, v)
		r.first[i] = order[0]
		at := q.at
		done := false
		for _, p := range order {
			o := s.scene.attempt(q, p, at)
			r.attempts++
			started := at
			at += seconds(o.took)
			heap.Push(&pending, end{at: at, provider: p, request: q, outcome: o})
			if o.verdict == answered {
				c := s.scene.at(p, started)
				r.costs[i] = s.cost(q, c, o) + (started-q.at).Seconds()*s.perSecondLost()
				r.spent += (float64(q.input)*c.input + float64(q.output)*c.output) * 1000
				done = true
				break
			}
		}
		r.waited += (at - q.at).Seconds()
		if !done {
			r.unanswered++
			r.costs[i] = (at - q.at + giveUp).Seconds() * s.perSecondLost()
		}
	}
	return r
}

// end is an attempt that will have ended at a moment.
type end struct {
	at       time.Duration
	provider int
	request  request
	outcome  outcome
}

type ending []end

func (e ending) Len() int           { return len(e) }
func (e ending) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ending) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ending) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ending) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}
