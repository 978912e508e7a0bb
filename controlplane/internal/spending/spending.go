// Package spending owns what an account spent in windows of time, and what that
// comes to by their ends. It knows nothing of SQL or HTTP, and not what limits
// there are; the reckoning is pure.
package spending

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// day is a UTC day; those have no other length.
const day = 24 * time.Hour

// Day is what was spent on a UTC day, which Start begins.
type Day struct {
	Start time.Time
	wire.Spend
}

// History is what an account spent.
type History struct {
	Days     []Day      // those on which it did, from Since on, in their order
	Lifetime wire.Spend // zero for accounts whose lifetime is not counted
}

// Window is the time that a limit is about, from Start until before End; of a
// lifetime both are zero.
type Window struct{ Start, End time.Time }

// WindowOf is the window of now.
func WindowOf(i policy.Interval, now time.Time) Window {
	start, end := i.Window(now)
	return Window{start, end}
}

// Endless reports a lifetime.
func (w Window) Endless() bool { return w.End.IsZero() }

// Since is the day from which on a History serves every window of now and every
// projection.
func Since(now time.Time) time.Time {
	since, month := now.UTC().Truncate(day).Add(-lookback), WindowOf(policy.Monthly, now).Start
	if month.Before(since) {
		return month
	}
	return since
}

// In is what was spent in the window.
func (h History) In(w Window) wire.Spend {
	if w.Endless() {
		return h.Lifetime
	}
	var sum wire.Spend
	for _, d := range h.Days {
		if !d.Start.Before(w.Start) && d.Start.Before(w.End) {
			sum = sum.Add(d.Spend)
		}
	}
	return sum
}
