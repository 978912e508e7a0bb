package limits

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// metric is what a limit counts.
type metric string

const (
	requests   metric = "requests"
	tokens     metric = "tokens"
	concurrent metric = "concurrent"
	cost       metric = "cost"
	credit     metric = "credit"
)

// perMinute is the window of rates and allowances.
const perMinute = "minute"

// check is one gate's view of a request. What it is of is spelled out only for
// those who read it.
type check struct {
	scope   policy.LimitScope
	metric  metric
	window  policy.Interval
	rate    *policy.RatePolicy
	budget  *policy.Budget
	used    int64
	limit   int64
	clears  time.Duration // of tokens, until none is counted
	resets  time.Time     // of what is reached: when there is room again
	asked   int64         // of a hard limit that refused: what did not fit
	held    int64         // beside what others keep
	ok      bool
	unknown bool // what is used
}

// id is whose limit it is: the policy's, the budget's, or that of the key or user
// who has it.
func (a *admission) idOf(c *check) string {
	switch {
	case c.rate != nil:
		return c.rate.ID.String()
	case c.budget != nil:
		return c.budget.ID.String()
	case c.scope == policy.LimitsKey:
		return a.key.String()
	case c.scope == policy.LimitsMember:
		return a.user.String()
	}
	return a.ws.String()
}

// told are checks for the decision record.
func (a *admission) told(checks []check) []decide.LimitCheck {
	out := make([]decide.LimitCheck, len(checks))
	for i := range checks {
		c := &checks[i]
		out[i] = decide.LimitCheck{
			Scope: string(c.scope), ID: a.idOf(c), Metric: string(c.metric), Window: string(c.window),
			Used: c.used, Limit: c.limit, OK: c.ok, Asked: c.asked, Held: c.held, Unknown: c.unknown,
		}
		if c.metric == credit {
			out[i].Limit-- // what may be charged, of which the whole is no refusal yet
		}
	}
	return out
}
