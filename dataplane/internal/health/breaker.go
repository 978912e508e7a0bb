package health

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// breaker takes an endpoint that fails out of the way. All its times grow only,
// and so does the state of all gateways' breakers together: the later opening
// wins, and a closing ends the openings up to it and no later one.
type breaker struct {
	trip      recent
	openUntil time.Time
	opened    int // times in a row that it opened
	// closedThrough closes every opening that ends up to then.
	closedThrough time.Time
	closedAt      time.Time // by this gateway's clock; what failed before is forgotten
	successes     int       // since it is half open, over all gateways
}

// closed reports that the endpoint is used as if there were no breaker.
func (b *breaker) closed() bool { return !b.openUntil.After(b.closedThrough) }

// halfOpen reports that a small part of the requests probes.
func (b *breaker) halfOpen(at time.Time) bool { return !b.closed() && !runs(b.openUntil, at, openMost) }

// runs reports whether a deadline is ahead. One that is further ahead than any
// that was ever set is left over from before the clock jumped back.
func runs(until, at time.Time, most time.Duration) bool {
	left := until.Sub(at)
	return left > 0 && left <= most+maxSkew
}

// stale reports whether a call began before the breaker last let requests
// through again, and when that was. Such a call is no probe, however late it
// ends: it says how the endpoint was.
func (b *breaker) stale(began, at time.Time) (since time.Time, stale bool) {
	since = later(b.openUntil, b.closedThrough)
	return since, began.Before(since) && !since.After(at.Add(openMost+maxSkew)) // else the clock jumped back
}

// succeed counts a success and reports whether it closed a half-open breaker.
// While it is open nothing counts: such calls were made for want of another
// endpoint.
func (b *breaker) succeed(began, at time.Time) bool {
	if _, stale := b.stale(began, at); stale {
		return false
	}
	b.trip.add(at, 1, 0)
	return b.probed(at, 1)
}

func (b *breaker) probed(at time.Time, n int64) bool {
	if !b.halfOpen(at) {
		return false
	}
	b.successes += int(n)
	if b.successes < closeAfter {
		return false
	}
	b.close(at, b.openUntil)
	return true
}

func (b *breaker) close(at, through time.Time) {
	b.closedThrough, b.closedAt = through, at
	b.opened, b.successes, b.trip = 0, 0, recent{}
}

// fail counts a failure and reports whether it opened the breaker.
func (b *breaker) fail(began, at time.Time) bool {
	if _, stale := b.stale(began, at); stale {
		return false
	}
	b.trip.add(at, 1, 1)
	if b.halfOpen(at) || b.closed() && b.trip.trips() {
		b.open(at)
		return true
	}
	return false
}

func (b *breaker) open(at time.Time) {
	b.openUntil = milli(at.Add(doubled(openFirst, b.opened, openMost)))
	if !b.openUntil.After(b.closedThrough) { // the clock jumped back
		b.closedThrough = time.Time{}
	}
	b.opened++
	b.successes = 0
}

// merge takes what another gateway's breaker says and reports whether this one
// opened or closed by it.
func (b *breaker) merge(now time.Time, s *wire.EndpointStanding) bool {
	limit := now.Add(openMost + maxSkew)
	was := b.closed()
	if s.OpenUntil.After(b.openUntil) && !s.OpenUntil.After(limit) {
		b.openUntil, b.opened, b.successes = s.OpenUntil, max(s.Opened, 1), 0
	}
	if s.ClosedThrough.After(b.closedThrough) && !s.ClosedThrough.After(limit) {
		if s.ClosedThrough.Before(b.openUntil) {
			b.closedThrough = s.ClosedThrough
		} else {
			b.close(now, s.ClosedThrough)
		}
	}
	return was != b.closed()
}

// milli is t in whole milliseconds, not earlier: what gateways tell each other.
func milli(t time.Time) time.Time {
	if whole := t.Truncate(time.Millisecond); !whole.Equal(t) {
		return whole.Add(time.Millisecond)
	}
	return t
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
