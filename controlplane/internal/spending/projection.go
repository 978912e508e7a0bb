package spending

import (
	"math"
	"math/bits"
	"time"

	"github.com/signalbox-dev/signalbox/shared/money"
)

const (
	// lookback is how far back the usual spending of a weekday is looked for: four
	// of each.
	lookback = 28 * day
	// earliest is how much of a window must have passed before it is drawn on.
	earliest = time.Hour
)

// Projection is what will have been spent when a window ends, in two ways of
// reckoning; nil where nothing can be said.
type Projection struct {
	// Linear goes on at the pace of the window so far. nil in its first hour.
	Linear *money.Nanos
	// Weekday adds to what was spent what the rest of the window's days usually
	// cost: the mean of the same weekday in the 28 days before today, and of today
	// the part that is left. nil while one of those weekdays was never seen whole
	// since the account first spent anything.
	Weekday *money.Nanos
}

// Project is the projection of what counts in the window at now, which lies in
// it. A lifetime has none.
func (h History) Project(w Window, now time.Time, includeBYOK bool) Projection {
	var p Projection
	if w.Endless() {
		return p
	}
	spent := h.In(w).Counted(includeBYOK)
	if elapsed := now.Sub(w.Start); elapsed >= earliest {
		linear := share(spent, w.End.Sub(w.Start), elapsed)
		p.Linear = &linear
	}
	if rest, known := h.rest(w, now, includeBYOK); known {
		weekday := spent.Add(rest)
		p.Weekday = &weekday
	}
	return p
}

// rest is what the days of the window from now on usually cost.
func (h History) rest(w Window, now time.Time, includeBYOK bool) (money.Nanos, bool) {
	today := now.UTC().Truncate(day)
	usual := h.usual(today, includeBYOK)
	var sum money.Nanos
	for d := today; d.Before(w.End); d = d.Add(day) {
		mean, known := usual[d.Weekday()]
		if !known {
			return 0, false
		}
		if d.Equal(today) {
			mean = share(mean, d.Add(day).Sub(now), day)
		}
		sum = sum.Add(mean)
	}
	return sum, true
}

// usual is the mean of what counts on each weekday that was seen whole before
// today. A day without spending counts from the first one with some on.
func (h History) usual(today time.Time, includeBYOK bool) map[time.Weekday]money.Nanos {
	counted := make(map[time.Time]money.Nanos, len(h.Days))
	for _, d := range h.Days {
		counted[d.Start.UTC()] = d.Counted(includeBYOK)
	}
	from := today.Add(-lookback)
	if len(h.Days) == 0 {
		return nil
	}
	if first := h.Days[0].Start.UTC(); first.After(from) {
		from = first
	}
	sums, days := make(map[time.Weekday]money.Nanos), make(map[time.Weekday]int64)
	for d := from; d.Before(today); d = d.Add(day) {
		sums[d.Weekday()] = sums[d.Weekday()].Add(counted[d])
		days[d.Weekday()]++
	}
	for weekday, n := range days {
		sums[weekday] /= money.Nanos(n)
	}
	return sums
}

// share is n × part ÷ whole in 128 bits, rounded half up, saturating. What is
// below zero, as after a correction, is drawn on as nothing.
func share(n money.Nanos, part, whole time.Duration) money.Nanos {
	if n <= 0 || part <= 0 || whole <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	hi += carry
	if hi >= uint64(whole) {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return money.Nanos(min(quotient, math.MaxInt64))
}
