package health

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// endpoint is what is known of one endpoint.
type endpoint struct {
	mu      sync.Mutex
	seen    time.Time // of the last news
	calls   *rolling  // nil until something was counted
	breaker breaker
	cool    cooldown

	own    origin
	others map[uuid.UUID]*origin
	sealed int64 // the newest bucket of which somebody's sum was taken over

	unsaid bool // own has buckets that the others have not heard
	turned bool // so is the standing
}

// turn says what became of an endpoint's standing.
type turn struct{ changed, opened, closed bool }

// observe counts one call of this gateway's.
func (e *endpoint) observe(o *Observation) turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = o.At
	var room [seriesKept]wire.HealthSample
	if c := o.counts(&room); c.Calls() > 0 {
		e.count(o, &c)
	}
	var t turn
	switch o.Verdict {
	case Succeeded:
		e.cool.step = 0
		t.closed = e.breaker.succeed(o.began(), o.At)
	case Failed:
		t.opened = e.breaker.fail(o.began(), o.At)
	case Unpaid:
		t.opened = e.breaker.fail(o.began(), o.At)
		t.changed = e.cool.limit(o.At, o.RetryAfter)
	case RateLimited:
		t.changed = e.cool.limit(o.At, o.RetryAfter)
	case Neutral, GeoBlocked, Refused:
	}
	t.changed = t.changed || t.opened || t.closed
	e.turned = e.turned || t.changed
	return t
}

// count adds one call of this gateway's: to the bucket in which it ended, or, if
// it says nothing of the endpoint since its breaker let requests through again,
// to the last one before that. So the others, who see buckets and no calls, do
// not take it for a probe either. Of a bucket that is closed by now they learn by
// its sum.
func (e *endpoint) count(o *Observation, c *counts) {
	now := slotOf(o.At)
	slot := now
	if since, stale := e.breaker.stale(o.began(), o.At); stale {
		slot = min(now, slotOf(since.Add(-time.Millisecond))-1)
	}
	e.advance(now)
	e.calls.add(slot, c)
	if slot <= max(now-openBuckets, e.sealed) {
		return
	}
	b := e.own.at(slot)
	add(&b.counts, c)
	b.unsaid, e.unsaid = true, true
}

// advance forgets what is too old at now, in a bucket's number.
func (e *endpoint) advance(now int64) {
	if e.calls == nil {
		e.calls = &rolling{head: now}
	}
	if now < e.calls.head-maxAhead { // the clock jumped back
		e.own, e.others, e.sealed = origin{}, nil, 0
	}
	e.calls.advance(now)
	e.own.close(now - openBuckets)
	for instance, o := range e.others {
		if o.close(now - openBuckets); len(o.open) == 0 {
			delete(e.others, instance)
		}
	}
}

// idle reports that nothing about the endpoint is worth keeping at now.
func (e *endpoint) idle(now time.Time) bool {
	return now.Sub(e.seen) > window && !runs(e.cool.until, now, coolLongest) && now.Sub(e.breaker.openUntil) > openMost
}

// told is the standing as the others hear it.
func (e *endpoint) told() wire.EndpointStanding {
	return wire.EndpointStanding{
		OpenUntil: e.breaker.openUntil, Opened: e.breaker.opened, ClosedThrough: e.breaker.closedThrough,
		CoolUntil: e.cool.until, CoolStep: e.cool.step,
	}
}
