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

// Asked is a subject, and the limit that a wait is for; of less than 1 none is.
type Asked struct {
	Name  Name
	Limit int64
}

// Minute is what a subject used in the last 60 seconds, over all gateways.
type Minute struct {
	// Known is false when what other gateways counted could not be learnt. The
	// rest is this gateway's own then.
	Known bool
	// Used is what was used. What is older than 60 seconds counts for up to
	// wire.RateSlot more; nothing that is not.
	Used int64
	// Wait is how long it takes until Used is below the limit, when nothing is
	// added; 0 when it is.
	Wait time.Duration
	// Clears is how long it takes until Used is 0, when nothing is added.
	Clears time.Duration
}

// counted are the slots of a minute, oldest first.
type counted [slots]int64

// until is how long it takes until less than limit is left of used, the sum of
// all. The oldest slot goes after left.
func (c *counted) until(limit, used int64, left time.Duration) (wait time.Duration) {
	for i, n := range c {
		if used < limit {
			break
		}
		used -= n
		wait = left + time.Duration(i)*wire.RateSlot
	}
	return wait
}

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
