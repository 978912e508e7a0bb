package rate

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Window is for how long a use counts at the latest: the slot that it fell into
// counts as a whole until none of it is in the last 60 seconds.
const Window = time.Minute + wire.RateSlot

// Slots of a minute: back from the present one, and one ahead, which a gateway
// whose clock is a moment early may have begun.
const (
	back  = int64(wire.RateSlots)
	slots = back + 2 // a power of two
)

// Minute is what a subject used in the last 60 seconds, over all gateways.
type Minute struct {
	// Known is false when what other gateways counted could not be learnt. The
	// counts are this gateway's own then.
	Known bool

	used   int64
	counts [slots]int64  // oldest first
	left   time.Duration // until the oldest no longer counts
}

// Used is what was used in the last 60 seconds. What is older than that counts
// for up to wire.RateSlot more; nothing that is not.
func (m *Minute) Used() int64 { return m.used }

// Until is how long it takes until Used is below limit, when nothing is added; 0
// when it is. A limit is at least 1.
func (m *Minute) Until(limit int64) time.Duration {
	used, wait := m.used, time.Duration(0)
	for i, n := range m.counts {
		if used < max(limit, 1) {
			break
		}
		used -= n
		wait = m.left + time.Duration(i)*wire.RateSlot
	}
	return wait
}

// Clears is how long it takes until Used is 0, when nothing is added.
func (m *Minute) Clears() time.Duration { return m.Until(1) }

// slotOf is the slot that t is in, counted from 1970.
func slotOf(t time.Time) int64 { return floorDiv(t.UnixNano(), int64(wire.RateSlot)) }

// leftOf is how much of its slot t leaves.
func leftOf(t time.Time) time.Duration {
	return time.Duration((slotOf(t)+1)*int64(wire.RateSlot) - t.UnixNano())
}

// minuteOf is the minute that a slot is in.
func minuteOf(slot int64) int64 { return floorDiv(slot, int64(wire.RateSlots)) }

func floorDiv(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}
