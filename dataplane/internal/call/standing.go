package call

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Standing is what a key has used, and what is left of the limits that apply to
// its requests.
type Standing struct {
	SoftBlocked bool
	Usage       []Used // daily, weekly, monthly; nil when it cannot be told
	Limits      []Left
}

// Used is what a key has used in a window of now.
type Used struct {
	Window   policy.Interval
	Requests int64
	Cost     money.Nanos
	Resets   time.Time
}

// Left is a limit and what is used of it.
type Left struct {
	decide.LimitCheck
	Resets  time.Time // zero: not at one time, or never
	Reserve bool      // the worst case of each request has to fit
}
