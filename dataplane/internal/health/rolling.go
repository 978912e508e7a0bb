package health

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

const (
	buckets       = int(window / wire.HealthSlot)
	recentBuckets = int64(recentWindow / wire.HealthSlot)
)

// slotOf is the number of the bucket of a moment.
func slotOf(t time.Time) int64 { return t.UnixMilli() / wire.HealthSlot.Milliseconds() }

// endOf is the end of a bucket.
func endOf(slot int64) time.Time { return time.UnixMilli((slot + 1) * wire.HealthSlot.Milliseconds()) }

// rolling keeps what all gateways counted in the last 30 minutes, in buckets of
// 10 s, with its sum, so that reading the sum costs nothing.
type rolling struct {
	ring [buckets]counts
	head int64 // the newest bucket
	sum  counts
	all  spread
}

// advance drops what is older than the window at now. A clock that jumped back
// makes all of it worthless, beyond what gateways' clocks differ by.
func (r *rolling) advance(now int64) {
	if now-r.head >= int64(buckets) || now < r.head-maxAhead {
		r.reset(now)
		return
	}
	for r.head < now {
		r.head++
		r.empty(r.head)
	}
}

func (r *rolling) reset(now int64) {
	for i := range r.ring {
		r.ring[i] = counts{Samples: r.ring[i].Samples[:0]}
	}
	r.head, r.sum, r.all = now, counts{}, spread{}
}

// empty takes a bucket out of the sum. Its memory serves for what comes.
func (r *rolling) empty(slot int64) {
	b := r.at(slot)
	r.sum = minus(&r.sum, b)
	r.all.sub(b.Samples)
	*b = counts{Samples: b.Samples[:0]}
}

// at is a bucket of the window.
func (r *rolling) at(slot int64) *counts { return &r.ring[slot%int64(buckets)] }

// holds reports whether a slot is in the window.
func (r *rolling) holds(slot int64) bool {
	return slot > 0 && slot <= r.head && slot > r.head-int64(buckets)
}

// add counts in a slot. Of one ahead of the newest, as a clock of another
// gateway's may be, it makes the newest; one before the window is left out.
func (r *rolling) add(slot int64, c *counts) {
	if slot > r.head {
		r.advance(slot)
	}
	if !r.holds(slot) {
		return
	}
	add(r.at(slot), c)
	addTotals(&r.sum, c)
	r.all.add(c.Samples)
}

// replace puts c in the place of what was counted in a slot.
func (r *rolling) replace(slot int64, c *counts) {
	if r.holds(slot) {
		r.empty(slot)
		r.add(slot, c)
	}
}

// recent adds up the last RecentWindow before now.
func (r *rolling) recent(now int64, times *spread) (sum counts) {
	for slot := max(now-recentBuckets+1, 1); slot <= r.head; slot++ {
		if b := r.at(slot); r.holds(slot) && b.Calls() > 0 {
			addTotals(&sum, b)
			times.add(b.Samples)
		}
	}
	return sum
}
