package rollout

import (
	"fmt"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// Plan is what a caller gives to begin a rollout.
type Plan struct {
	Steps []Step
	Guard Guard
}

// check returns every violation of p.
func (p Plan) check() error {
	var v rule.Violations
	v.Between("steps", len(p.Steps), 1, MaxSteps)
	var former flow.Percent
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		if s.Percent <= 0 || s.Percent > flow.Whole {
			v.Add(at+".percent", rule.OutOfRange, "must be more than 0 and at most 100, with at most 2 decimals")
		} else if s.Percent <= former {
			v.Add(at+".percent", rule.NotAllowed, "must be more than that of the step before")
		}
		former = max(former, s.Percent)
		if s.Hold < MinHold || s.Hold > MaxHold {
			v.Add(at+".hold", rule.OutOfRange, "must be from 1s to 720h")
		}
	}
	p.Guard.check(&v)
	if len(p.Steps) > 0 && p.Steps[0].Percent == flow.Whole && p.Guard.Compares() {
		v.Add("steps[0].percent", rule.NotAllowed, "must be less than 100 where the guard compares with the stable version")
	}
	return v.Err()
}

func (g Guard) check(v *rule.Violations) {
	if g.MaxErrorRate == nil && !g.Compares() {
		v.Add("guard", rule.Required, "must have at least one limit: max_error_rate, max_p95_latency_ratio or max_cost_ratio")
	}
	if r := g.MaxErrorRate; r != nil && !(*r >= 0 && *r < 1) {
		v.Add("guard."+string(ErrorRate), rule.OutOfRange, "must be at least 0 and less than 1")
	}
	ratio := func(limit Limit, allowed *float64) {
		if allowed != nil && !(*allowed > 0 && *allowed <= MaxRatio) {
			v.Add("guard."+string(limit), rule.OutOfRange, fmt.Sprintf("must be more than 0 and at most %d", MaxRatio))
		}
	}
	ratio(LatencyRatio, g.MaxLatencyRatio)
	ratio(CostRatio, g.MaxCostRatio)
	if g.MinRequests < 1 || g.MinRequests > MaxRequests {
		v.Add("guard.min_requests", rule.OutOfRange, fmt.Sprintf("must be from 1 to %d", MaxRequests))
	}
}

// FormatHold writes what ParseHold reads, without what is zero: 10m, not 10m0s.
func FormatHold(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// ParseHold reads how long a step is held: a text such as 10m or 1h30m. It is 0
// for what is none, which no step may have.
func ParseHold(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}
