package limits

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

// ends is when the window of an interval that at is in ends; zero for one that
// does not.
func ends(i policy.Interval, at time.Time) time.Time {
	_, end := i.Window(at)
	return end
}

// seconds are whole ones, at least one: who comes back then comes late enough.
func seconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}
