package health

import "time"

const buckets = int(window / bucketWidth)

// counts are outcomes in some stretch of time.
type counts struct {
	succeeded, failed, limited, geo int64
}

func (c *counts) add(v Verdict, n int64) {
	switch v {
	case Succeeded:
		c.succeeded += n
	case Failed:
		c.failed += n
	case RateLimited:
		c.limited += n
	case GeoBlocked:
		c.geo += n
	case Neutral, Refused:
	}
}

func (c *counts) sub(o counts) {
	c.succeeded -= o.succeeded
	c.failed -= o.failed
	c.limited -= o.limited
	c.geo -= o.geo
}

// rolling keeps counts of the last 30 minutes in buckets of 10 s with their
// sum, so that reading the sum costs nothing.
type rolling struct {
	ring [buckets]counts
	slot int64 // of the newest bucket, in units of bucketWidth since the epoch
	sum  counts
}

// advance drops what is older than the window at now. A clock that jumps back
// goes on counting in the newest bucket.
func (r *rolling) advance(now time.Time) {
	slot := now.UnixNano() / int64(bucketWidth)
	if slot <= r.slot {
		return
	}
	if slot-r.slot >= int64(buckets) {
		*r = rolling{slot: slot}
		return
	}
	for r.slot < slot {
		r.slot++
		b := &r.ring[r.slot%int64(buckets)]
		r.sum.sub(*b)
		*b = counts{}
	}
}

func (r *rolling) add(now time.Time, v Verdict) {
	r.advance(now)
	r.ring[r.slot%int64(buckets)].add(v, 1)
	r.sum.add(v, 1)
}

const tripBuckets = int(tripWindow / time.Second)

// recent keeps calls and failures of the last 60 s by the second, for the
// breaker.
type recent struct {
	ring [tripBuckets]struct{ calls, failed uint32 }
	slot int64
}

func (r *recent) add(now time.Time, failed bool) {
	slot := now.Unix()
	if slot-r.slot >= int64(tripBuckets) {
		*r = recent{slot: slot}
	}
	for r.slot < slot {
		r.slot++
		r.ring[r.slot%int64(tripBuckets)] = struct{ calls, failed uint32 }{}
	}
	b := &r.ring[r.slot%int64(tripBuckets)]
	b.calls++
	if failed {
		b.failed++
	}
}

// trips reports whether half or more of enough calls failed.
func (r *recent) trips() bool {
	var calls, failed uint32
	for i := range r.ring {
		calls += r.ring[i].calls
		failed += r.ring[i].failed
	}
	return calls >= tripMinCalls && 2*failed >= calls
}
