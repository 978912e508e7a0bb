package health

import (
	"sync"
	"time"
)

// endpoint is what is known of one endpoint.
type endpoint struct {
	mu    sync.Mutex
	seen  time.Time // of the last observation
	calls rolling
	trip  recent

	firstByte  median // microseconds
	throughput median // thousandths of a token per second

	openUntil time.Time // zero: the breaker is closed
	opened    int       // times in a row that it opened
	successes int       // since it is half open

	coolUntil time.Time
	coolStep  time.Duration // of the last cool-down without a retry-after
	cooledAt  time.Time
}

// observe counts one call and reports whether the endpoint's standing in
// routing changed.
func (e *endpoint) observe(o *Observation) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = o.At
	e.calls.add(o.At, o.Verdict)
	switch o.Verdict {
	case Succeeded:
		e.time(o)
		e.coolStep = 0
		return e.succeed(o.At)
	case Failed:
		return e.fail(o.At)
	case RateLimited:
		return e.cool(o.At, o.RetryAfter)
	case Neutral, GeoBlocked, Refused:
	}
	return false
}

func (e *endpoint) time(o *Observation) {
	if o.FirstByte > 0 {
		e.firstByte.add(o.At, o.FirstByte.Microseconds())
	}
	if o.Generation > 0 && o.OutputTokens > 0 {
		perSecond := float64(o.OutputTokens) / o.Generation.Seconds()
		e.throughput.add(o.At, int64(perSecond*1000))
	}
}

// succeed moves a half-open breaker towards closed. While it is open nothing
// counts: such calls were made for want of another endpoint.
func (e *endpoint) succeed(at time.Time) bool {
	e.trip.add(at, false)
	if e.openUntil.IsZero() || at.Before(e.openUntil) {
		return false
	}
	e.successes++
	if e.successes < closeAfter {
		return false
	}
	e.openUntil, e.opened, e.successes = time.Time{}, 0, 0
	e.trip = recent{}
	return true
}

func (e *endpoint) fail(at time.Time) bool {
	e.trip.add(at, true)
	switch {
	case e.openUntil.IsZero():
		if !e.trip.trips() {
			return false
		}
	case at.Before(e.openUntil):
		return false
	}
	e.openUntil = at.Add(doubled(openFirst, e.opened, openMost))
	e.opened++
	e.successes = 0
	return true
}

// cool ranks the endpoint last until a deadline that only moves forward. The
// step doubles from one cool-down to the next, not with each 429 of a burst.
func (e *endpoint) cool(at time.Time, retryAfter time.Duration) bool {
	var wait time.Duration
	e.coolStep, wait = coolDown(at, e.cooledAt, e.coolUntil, e.coolStep, retryAfter)
	e.cooledAt = at
	until := at.Add(wait)
	if !until.After(e.coolUntil) {
		return false
	}
	e.coolUntil = until
	return true
}

// coolDown is how long a 429 at a moment cools, and the step that the next one
// without a retry-after goes on from. last and until are of the 429 before.
func coolDown(at, last, until time.Time, step, retryAfter time.Duration) (next, wait time.Duration) {
	if at.Sub(last) > coolForget+step {
		step = 0
	}
	switch {
	case retryAfter > 0:
		return step, retryAfter
	case step == 0:
		step = coolFirst
	case !at.Before(until):
		step = min(2*step, coolMost)
	}
	return step, step
}

// idle reports that nothing about the endpoint is worth keeping at now.
func (e *endpoint) idle(now time.Time) bool {
	return now.Sub(e.seen) > window && now.After(e.coolUntil) && now.Sub(e.openUntil) > openMost
}

// doubled is first·2ⁿ, at most most.
func doubled(first time.Duration, n int, most time.Duration) time.Duration {
	for range n {
		if first *= 2; first >= most {
			return most
		}
	}
	return first
}
