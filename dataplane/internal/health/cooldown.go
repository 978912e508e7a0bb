package health

import "time"

// cooldown ranks what a provider has limited last, until a deadline that only
// moves forward.
type cooldown struct {
	until time.Time
	step  time.Duration // of the last one without a retry-after
	last  time.Time     // when it began
	told  time.Time     // the deadline that the others know
}

// limit counts a 429 and reports whether the others are to hear of it. The step
// doubles from one cool-down to the next, not with each 429 of a burst.
func (c *cooldown) limit(at time.Time, retryAfter time.Duration) bool {
	if at.Sub(c.last) > coolForget+c.step {
		c.step = 0
	}
	c.last = at
	if retryAfter > 0 {
		return c.extend(at, milli(at.Add(min(retryAfter, coolLongest))))
	}
	switch {
	case c.step == 0:
		c.step = coolFirst
	case !runs(c.until, at, coolLongest):
		c.step = min(2*c.step, coolMost)
	}
	return c.extend(at, milli(at.Add(c.step)))
}

// extend moves the deadline and reports whether the others are to hear of it.
func (c *cooldown) extend(at, until time.Time) bool {
	if !until.After(c.until) && runs(c.until, at, coolLongest) {
		return false
	}
	c.until = until
	if runs(c.told, at, coolLongest) && until.Sub(c.told) < retold {
		return false
	}
	c.told = until
	return true
}

// merge takes another gateway's deadline when it is later, and reports whether
// it was.
func (c *cooldown) merge(now, until time.Time, step time.Duration) bool {
	if !runs(until, now, coolLongest) || runs(c.until, now, coolLongest) && !until.After(c.until) {
		return false
	}
	c.until, c.told, c.step = until, until, max(c.step, min(step, coolMost))
	if c.last.Before(now) {
		c.last = now
	}
	return true
}
