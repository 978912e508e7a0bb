package main

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Windows and limits as docs/routing.md states them for gateways.
const (
	bucketWidth = 10 * time.Second
	window      = 30 * time.Minute
	buckets     = int(window / bucketWidth)
	recent      = int(decide.RecentWindow / bucketWidth)

	tripWindow = time.Minute
	tripCalls  = 8
	openFirst  = 30 * time.Second
	openMost   = 15 * time.Minute
	probeShare = 0.05
	closeAfter = 5
	coolFirst  = 10 * time.Second
	coolMost   = 5 * time.Minute
)

// classes of times and rates, a sixteenth of an octave wide.
const (
	perOctave = 16
	classes   = 24 * perOctave
)

type histogram [classes]int32

func (h *histogram) add(v float64) {
	h[min(max(int(math.Log2(v*4096)*perOctave), 0), classes-1)]++
}

// quantile is 0 without samples.
func (h *histogram) quantile(q float64) float64 {
	n := int32(0)
	for _, c := range h {
		n += c
	}
	left := int32(q * float64(n))
	for i, c := range h {
		if left -= c; left < 0 {
			return math.Exp2((float64(i)+0.5)/perOctave) / 4096
		}
	}
	return 0
}

type bucket struct {
	answered, failed, limited int64
	input, output             int64
	firstByte, rate           histogram
}

// endpoint is what a gateway remembers of one provider.
type endpoint struct {
	ring  [buckets]bucket
	last  int // number of the newest bucket
	known decide.EndpointHealth

	calls     []call // of the last tripWindow
	openUntil time.Duration
	open      bool
	opened    int
	successes int
	coolUntil time.Duration
	coolStep  time.Duration
}

type call struct {
	at     time.Duration
	failed bool
}

func (e *endpoint) advance(now time.Duration) {
	for n := int(now / bucketWidth); e.last < n; {
		e.last++
		e.ring[e.last%buckets] = bucket{}
	}
}

func (e *endpoint) observe(now time.Duration, q request, o outcome) {
	e.advance(now)
	b := &e.ring[e.last%buckets]
	switch o.verdict {
	case answered:
		b.answered++
		b.input += int64(q.input)
		b.output += int64(q.output)
		b.firstByte.add(o.firstByte)
		b.rate.add(o.rate)
		e.coolStep = 0
		e.trip(now, false)
	case failed:
		b.failed++
		e.trip(now, true)
	case limited:
		b.limited++
		if now >= e.coolUntil {
			e.coolStep = min(max(2*e.coolStep, coolFirst), coolMost)
			e.coolUntil = now + e.coolStep
		}
	}
}

// trip is the breaker.
func (e *endpoint) trip(now time.Duration, failed bool) {
	if e.open {
		switch {
		case now < e.openUntil:
		case failed:
			e.openUntil = now + min(openFirst<<e.opened, openMost)
			e.opened, e.successes = e.opened+1, 0
		default:
			if e.successes++; e.successes == closeAfter {
				e.open, e.opened, e.successes, e.calls = false, 0, 0, nil
			}
		}
		return
	}
	e.calls = append(e.calls, call{now, failed})
	for len(e.calls) > 0 && now-e.calls[0].at > tripWindow {
		e.calls = e.calls[1:]
	}
	bad := 0
	for _, c := range e.calls {
		if c.failed {
			bad++
		}
	}
	if failed && len(e.calls) >= tripCalls && 2*bad >= len(e.calls) {
		e.open, e.openUntil = true, now+openFirst
		e.opened, e.successes = 1, 0
	}
}

// summarize works out what routing reads.
func (e *endpoint) summarize(now time.Duration, sluggish bool) {
	e.advance(now)
	all, fresh := e.sum(buckets), e.sum(recent)
	timed := fresh
	if fresh.answered <= decide.FewRecent || sluggish {
		timed = all
	}
	h := decide.EndpointHealth{
		Calls: all.answered + all.failed, Recent: fresh.answered + fresh.failed + fresh.limited,
		FirstByte: seconds(timed.firstByte.quantile(0.5)), FirstByteP95: seconds(timed.firstByte.quantile(0.95)),
		Throughput: timed.rate.quantile(0.5),
	}
	if h.Calls > 0 {
		h.Success = float64(all.answered) / float64(h.Calls)
	}
	if all.answered > 0 {
		h.InputTokens, h.OutputTokens = all.input/all.answered, all.output/all.answered
	}
	if h.Recent > 0 {
		h.Errors = float64(fresh.failed) / float64(h.Recent)
		h.RateLimited = float64(fresh.limited) / float64(h.Recent)
	}
	e.known = h
}

// sum adds up the newest n buckets.
func (e *endpoint) sum(n int) *bucket {
	var out bucket
	for i := range n {
		b := &e.ring[(e.last-i+buckets)%buckets]
		out.answered += b.answered
		out.failed += b.failed
		out.limited += b.limited
		out.input += b.input
		out.output += b.output
		if b.answered == 0 {
			continue
		}
		for j := range classes {
			out.firstByte[j] += b.firstByte[j]
			out.rate[j] += b.rate[j]
		}
	}
	return &out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// view is what one request may know.
type view struct {
	endpoints []*endpoint
	index     map[string]int // by endpoint id
	now       time.Duration
	seed      uint64
}

// Endpoint implements decide.Health.
func (v view) Endpoint(id string) decide.EndpointHealth {
	i := v.index[id]
	h := v.endpoints[i].known
	h.Open = v.behind(i)
	return h
}

// Credential implements decide.Health: the scene has the platform's alone.
func (view) Credential(id.Credential) decide.CredentialHealth { return decide.CredentialHealth{} }

// behind reports that provider i is open or cooling for this request.
func (v view) behind(i int) bool {
	e := v.endpoints[i]
	if e.coolUntil > v.now || e.open && e.openUntil > v.now {
		return true
	}
	return e.open && rand.New(rand.NewPCG(v.seed, uint64(100+i))).Float64() >= probeShare
}
