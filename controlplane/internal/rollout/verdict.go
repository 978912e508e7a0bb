package rollout

import (
	"math"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
)

// Act is what is to be done about a rollout.
type Act string

// The acts.
const (
	Wait     Act = "wait"
	Advance  Act = "advance"
	Complete Act = "complete"
	RollBack Act = "roll_back"
)

// Waiting says what a rollout waits for.
type Waiting string

// What a rollout may wait for.
const (
	ForResume         Waiting = "resume" // it is paused
	ForHold           Waiting = "hold"
	ForRequests       Waiting = "requests"        // of the candidate, at this step
	ForStableRequests Waiting = "stable_requests" // to compare with
)

// Verdict is what comes of judging a rollout.
type Verdict struct {
	Act      Act
	Waiting  Waiting  // with Wait
	Evidence Evidence // with any act
}

// armsOf sums up what counts for r now.
func armsOf(r Rollout, cells []tally.Cell) Arms {
	a := Arms{
		Candidate: tally.Sum(cells, func(c tally.Cell) bool { return c.Candidate && c.Step == r.Step }),
		Stable:    tally.Sum(cells, func(c tally.Cell) bool { return !c.Candidate && c.Step == r.Step }),
	}
	if a.Stable.Successes() < r.Guard.MinRequests {
		a.Stable = tally.Sum(cells, func(c tally.Cell) bool { return !c.Candidate })
	}
	return a
}

// judge says what is to be done about an open rollout whose arms came to a. A
// broken guard comes first, whether the rollout runs or is paused; a step that
// is not judged yet is never left.
func judge(now time.Time, r Rollout, a Arms) Verdict {
	v := Verdict{Act: Wait, Evidence: Evidence{Arms: a}}
	if broken, ok := r.Guard.broken(a); ok {
		v.Act, v.Evidence = RollBack, broken
		return v
	}
	switch {
	case r.State != Running:
		v.Waiting = ForResume
	case now.Sub(r.StepBegan) < r.Steps[r.Step].Hold:
		v.Waiting = ForHold
	case a.Candidate.Requests < r.Guard.MinRequests || r.Guard.Compares() && a.Candidate.Successes() < r.Guard.MinRequests:
		v.Waiting = ForRequests
	case r.Guard.Compares() && a.Stable.Successes() < r.Guard.MinRequests:
		v.Waiting = ForStableRequests
	case r.Last():
		v.Act = Complete
	default:
		v.Act = Advance
	}
	return v
}

// broken is the first limit that a breaks, with what was measured.
func (g Guard) broken(a Arms) (Evidence, bool) {
	breaks := func(limit Limit, measured float64, allowed *float64) (Evidence, bool) {
		if allowed == nil || measured <= *allowed {
			return Evidence{}, false
		}
		return Evidence{Broken: limit, Measured: measured, Allowed: *allowed, Arms: a}, true
	}
	if a.Candidate.Requests >= g.MinRequests {
		if e, ok := breaks(ErrorRate, a.Candidate.ErrorRate(), g.MaxErrorRate); ok {
			return e, true
		}
	}
	if min(a.Candidate.Successes(), a.Stable.Successes()) < g.MinRequests {
		return Evidence{}, false
	}
	if e, ok := breaks(LatencyRatio, ratio(float64(a.Candidate.P95), float64(a.Stable.P95)), g.MaxLatencyRatio); ok {
		return e, true
	}
	return breaks(CostRatio, costRatio(a.Candidate, a.Stable), g.MaxCostRatio)
}

// costRatio compares what a success costs on average.
func costRatio(candidate, stable tally.Arm) float64 {
	mean := func(a tally.Arm) float64 { return float64(a.Cost) / float64(a.Successes()) }
	return ratio(mean(candidate), mean(stable))
}

// ratio is 1 of nothing to nothing, and more than any limit of something to
// nothing.
func ratio(a, b float64) float64 {
	switch {
	case b > 0:
		return a / b
	case a > 0:
		return math.MaxFloat64
	}
	return 1
}
