package limits

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ends is when the window of an interval that at is in ends; zero for one that
// does not. Windows are UTC: they begin at midnight, on Monday, on the 1st.
func ends(i policy.Interval, at time.Time) time.Time {
	at = at.UTC()
	y, m, d := at.Date()
	switch i {
	case policy.Daily:
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	case policy.Weekly:
		return time.Date(y, m, d+7-(int(at.Weekday())+6)%7, 0, 0, 0, 0, time.UTC)
	case policy.Monthly:
		return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
	case policy.Lifetime:
	}
	return time.Time{}
}

// seconds are whole ones, at least one: who comes back then comes late enough.
func seconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}
