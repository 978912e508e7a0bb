package cell

import "time"

// units is how many whole units a window spans. Together with the one that is
// under way they cover every true window: what was taken counts for up to one
// unit longer than the window, never shorter.
const units = 60

// maxBuckets is more than a gateway states: it takes at the end of the clock's
// range, and lets go at its beginning.
const maxBuckets = 2 * units

// taken is what a gateway took in the last minute.
type taken struct {
	unit    int64 // in nanoseconds; a window is 60 of them
	buckets []bucket
}

func newTaken(unit time.Duration) *taken { return &taken{unit: int64(unit)} }

// first is the oldest unit that may belong to a window that ends now. What is
// taken now is put down at hi and looked for from lo, so that a clock that is not
// known exactly never shortens a window.
func (t *taken) first(at instant) int64 { return at.lo/t.unit - units }

func (t *taken) label(at instant) int64 { return at.hi / t.unit }

func (t *taken) state(own *entry, at instant) {
	t.tend(at)
	own.buckets = append(own.buckets[:0], t.buckets...)
}

func (t *taken) judge(a *ask, others []entry, own *entry, at instant) verdict {
	first := t.first(at)
	mine := sum(own.buckets, first)
	used := mine
	for i := range others {
		used = add(used, sum(others[i].buckets, first))
	}
	v := verdict{used: used}
	if add(used, a.n) > a.most {
		v.wait = t.wait(a, others, own, at, used)
		return v
	}
	if n, until := wanting(others, at); n > 0 && mine > 0 && add(mine, a.n) > share(a.most, n) {
		v.wait = time.Duration(until - at.lo)
		return v
	}
	own.buckets = put(own.buckets, t.label(at), a.n)
	v.ok = true
	return v
}

// wait is how long it takes until enough of what is used has left the window.
func (t *taken) wait(a *ask, others []entry, own *entry, at instant, used int64) time.Duration {
	first := t.first(at)
	var leaving [maxBuckets]int64 // by unit, what lies ahead of the clock in the last
	count := func(list []bucket) {
		for _, b := range list {
			if b.unit >= first {
				i := min(b.unit-first, int64(len(leaving)-1))
				leaving[i] = add(leaving[i], b.n)
			}
		}
	}
	count(own.buckets)
	for i := range others {
		count(others[i].buckets)
	}
	last := first
	for i, n := range leaving {
		if n == 0 {
			continue
		}
		used, last = used-n, first+int64(i)
		if add(used, a.n) <= a.most {
			break
		}
	}
	return time.Duration((last+units+1)*t.unit - at.lo)
}

func (t *taken) grant(a *ask, at instant) { t.buckets = put(t.buckets, t.label(at), a.n) }

// giveBack takes n off what was taken last.
func (t *taken) giveBack(n int64) {
	for i := len(t.buckets) - 1; i >= 0 && n > 0; i-- {
		less := min(n, t.buckets[i].n)
		t.buckets[i].n -= less
		n -= less
	}
	t.drop(func(b bucket) bool { return b.n == 0 })
}

func (t *taken) adopt(e *entry, _ bool) {
	for _, b := range e.buckets {
		t.buckets = put(t.buckets, b.unit, b.n)
	}
}

func (t *taken) tend(at instant) condition {
	first := t.first(at)
	t.drop(func(b bucket) bool { return b.unit < first })
	return condition{empty: len(t.buckets) == 0}
}

func (t *taken) drop(gone func(bucket) bool) {
	kept := t.buckets[:0]
	for _, b := range t.buckets {
		if !gone(b) {
			kept = append(kept, b)
		}
	}
	t.buckets = kept
}

// sum is what buckets from a unit on hold.
func sum(list []bucket, first int64) (n int64) {
	for _, b := range list {
		if b.unit >= first {
			n = add(n, b.n)
		}
	}
	return n
}

// put adds n to the bucket of a unit. Buckets stay in order: what comes late goes
// where it belongs.
func put(list []bucket, unit, n int64) []bucket {
	if n <= 0 {
		return list
	}
	i := len(list)
	for i > 0 && list[i-1].unit > unit {
		i--
	}
	if i > 0 && list[i-1].unit == unit {
		list[i-1].n = add(list[i-1].n, n)
		return list
	}
	list = append(list, bucket{})
	copy(list[i+1:], list[i:])
	list[i] = bucket{unit: unit, n: n}
	return list
}
