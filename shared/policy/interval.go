package policy

import "time"

// Interval is the kind of window that a limit is about. Days, weeks and months
// are UTC: they begin at midnight, on Monday, on the 1st.
type Interval string

// The intervals, shortest first. A lifetime has no end.
const (
	Daily    Interval = "daily"
	Weekly   Interval = "weekly"
	Monthly  Interval = "monthly"
	Lifetime Interval = "lifetime"
)

// Window is the time that at is in: from start on, before end. Of a lifetime both
// are zero.
func (i Interval) Window(at time.Time) (start, end time.Time) {
	today := at.UTC().Truncate(24 * time.Hour)
	switch i {
	case Daily:
		return today, today.AddDate(0, 0, 1)
	case Weekly:
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		return monday, monday.AddDate(0, 0, 7)
	case Monthly:
		first := today.AddDate(0, 0, 1-today.Day())
		return first, first.AddDate(0, 1, 0)
	case Lifetime:
	}
	return time.Time{}, time.Time{}
}
