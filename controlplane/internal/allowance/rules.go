package allowance

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
)

// Bounds of what operators may set.
const (
	MaxPerMinute  = 1_000_000
	MaxFreePerDay = 100_000_000
	MaxUsers      = 500
)

// Validate reports every violation.
func (o Overrides) Validate() error {
	var v rule.Violations
	if o.PerMinute != nil && (*o.PerMinute < 1 || *o.PerMinute > MaxPerMinute) {
		v.Add("requests_per_minute", rule.OutOfRange, fmt.Sprintf("must be from 1 to %d", MaxPerMinute))
	}
	if o.FreePerDay != nil && (*o.FreePerDay < 1 || *o.FreePerDay > MaxFreePerDay) {
		v.Add("free_requests_per_day", rule.OutOfRange, fmt.Sprintf("must be from 1 to %d", MaxFreePerDay))
	}
	if len(o.Users) > MaxUsers {
		v.Add("users", rule.TooLong, fmt.Sprintf("must have at most %d entries", MaxUsers))
	}
	for _, n := range o.Users {
		if n < 1 || n > MaxPerMinute {
			v.Add("users", rule.OutOfRange, fmt.Sprintf("each must be from 1 to %d", MaxPerMinute))
			break
		}
	}
	return v.Err()
}
