package health

import "time"

const tripBuckets = int(tripWindow / time.Second)

// recent keeps calls and failures of the last 60 s by the second, over all
// gateways, for the breaker. What is added is at most 60 s old.
type recent struct {
	ring [tripBuckets]struct{ calls, failed uint32 }
	slot int64
}

func (r *recent) add(at time.Time, calls, failed int64) {
	slot := at.Unix()
	if slot-r.slot >= int64(tripBuckets) || r.slot-slot >= int64(tripBuckets) { // or the clock jumped back
		*r = recent{slot: slot}
	}
	for r.slot < slot {
		r.slot++
		r.ring[r.slot%int64(tripBuckets)] = struct{ calls, failed uint32 }{}
	}
	b := &r.ring[slot%int64(tripBuckets)]
	b.calls += uint32(calls)
	b.failed += uint32(failed)
}

// trips reports whether half or more of enough calls failed.
func (r *recent) trips() bool {
	var calls, failed uint64
	for i := range r.ring {
		calls += uint64(r.ring[i].calls)
		failed += uint64(r.ring[i].failed)
	}
	return calls >= tripMinCalls && 2*failed >= calls
}
