package health

import (
	"sort"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// origin is what one gateway counted of an endpoint in the newest buckets, so
// that what it tells again is not counted again.
type origin struct{ open []openBucket } // ascending

type openBucket struct {
	slot int64
	counts
	unsaid bool // of this gateway's own: the others have not heard it
}

// at is the bucket of a slot, made when it is not there.
func (o *origin) at(slot int64) *openBucket {
	n := len(o.open)
	if n > 0 && o.open[n-1].slot == slot { // nearly always
		return &o.open[n-1]
	}
	i := sort.Search(n, func(i int) bool { return o.open[i].slot >= slot })
	if i < n && o.open[i].slot == slot {
		return &o.open[i]
	}
	var spare openBucket
	if cap(o.open) > n {
		spare = o.open[:n+1][n] // its samples' memory serves again
	}
	o.open = append(o.open, openBucket{})
	copy(o.open[i+1:], o.open[i:n])
	o.open[i] = openBucket{slot: slot, counts: counts{Samples: spare.Samples[:0]}}
	return &o.open[i]
}

// close forgets the buckets up to a slot: they are in the sum alone.
func (o *origin) close(through int64) {
	for len(o.open) > 0 && o.open[0].slot <= through {
		first, n := o.open[0], len(o.open)-1
		copy(o.open, o.open[1:])
		o.open[n] = first
		o.open = o.open[:n]
	}
}

// cells are the open buckets after a slot that are wanted, as they are told.
func (o *origin) cells(to []wire.HealthCell, after int64, want func(*openBucket) bool) []wire.HealthCell {
	for i := range o.open {
		if b := &o.open[i]; b.slot > after && b.Calls() > 0 && want(b) {
			to = append(to, wire.HealthCell{Slot: b.slot, HealthCounts: copyOf(&b.counts)})
		}
	}
	return to
}
