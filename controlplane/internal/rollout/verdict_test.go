package rollout

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/money"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// running is at the first of two steps of a minute, with every limit set.
func running() Rollout {
	return Rollout{
		State: Running, StepBegan: began, Steps: []Step{{Percent: 1000, Hold: time.Minute}, {Percent: 10_000, Hold: time.Minute}},
		Guard: Guard{MaxErrorRate: new(0.05), MaxLatencyRatio: new(1.5), MaxCostRatio: new(2.0), MinRequests: 100},
	}
}

// arm has n requests of which some failed; a success costs cost.
func arm(n, failed int64, p95 time.Duration, cost money.Nanos) tally.Arm {
	return tally.Arm{Requests: n, Failures: failed, P95: p95, Cost: cost * money.Nanos(n-failed)}
}

func TestVerdicts(t *testing.T) {
	good := arm(200, 2, time.Second, 10)
	tests := map[string]struct {
		after   time.Duration
		change  func(r *Rollout)
		a       Arms
		act     Act
		waiting Waiting
		broken  Limit
		at      float64
	}{
		"nothing happened yet":           {0, nil, Arms{}, Wait, ForHold, "", 0},
		"held, without a request":        {time.Hour, nil, Arms{}, Wait, ForRequests, "", 0},
		"just before the hold":           {time.Minute - 1, nil, Arms{good, good}, Wait, ForHold, "", 0},
		"held and good":                  {time.Minute, nil, Arms{good, good}, Advance, "", "", 0},
		"held and good at the last step": {time.Minute, func(r *Rollout) { r.Step = 1 }, Arms{good, good}, Complete, "", "", 0},
		"paused":                         {time.Hour, func(r *Rollout) { r.State = Paused }, Arms{good, good}, Wait, ForResume, "", 0},
		"one request short":              {time.Hour, nil, Arms{arm(99, 0, time.Second, 10), good}, Wait, ForRequests, "", 0},
		"one success short":              {time.Hour, nil, Arms{arm(100, 1, time.Second, 10), good}, Wait, ForRequests, "", 0},
		"a success short does not matter without a comparison": {time.Hour, func(r *Rollout) {
			r.Guard.MaxCostRatio, r.Guard.MaxLatencyRatio = nil, nil
		}, Arms{arm(100, 1, time.Second, 10), tally.Arm{}}, Advance, "", "", 0},
		"nothing to compare with":         {time.Hour, nil, Arms{good, arm(99, 0, time.Second, 10)}, Wait, ForStableRequests, "", 0},
		"99 failures are too few":         {time.Hour, nil, Arms{arm(99, 99, 0, 0), good}, Wait, ForRequests, "", 0},
		"all of the first 100 failed":     {0, nil, Arms{arm(100, 100, 0, 0), tally.Arm{}}, RollBack, "", ErrorRate, 1},
		"as many failures as are allowed": {0, nil, Arms{arm(100, 5, time.Second, 10), good}, Wait, ForHold, "", 0},
		"one failure more":                {0, nil, Arms{arm(100, 6, time.Second, 10), good}, RollBack, "", ErrorRate, 0.06},
		"paused and failing":              {0, func(r *Rollout) { r.State = Paused }, Arms{arm(100, 100, 0, 0), good}, RollBack, "", ErrorRate, 1},
		"failing at the end of the hold":  {time.Hour, func(r *Rollout) { r.Step = 1 }, Arms{arm(100, 100, 0, 0), good}, RollBack, "", ErrorRate, 1},
		"slow":                            {0, nil, Arms{arm(100, 0, 1600*time.Millisecond, 10), good}, RollBack, "", LatencyRatio, 1.6},
		"as slow as is allowed":           {0, nil, Arms{arm(100, 0, 1500*time.Millisecond, 10), good}, Wait, ForHold, "", 0},
		"slow, but by too few":            {0, nil, Arms{arm(99, 0, time.Hour, 10), good}, Wait, ForHold, "", 0},
		"slow, beside too few":            {0, nil, Arms{arm(100, 0, time.Hour, 10), arm(99, 0, time.Second, 10)}, Wait, ForHold, "", 0},
		"dear":                            {0, nil, Arms{arm(100, 0, time.Second, 25), good}, RollBack, "", CostRatio, 2.5},
		"failures do not make it cheap":   {0, func(r *Rollout) { r.Guard.MaxErrorRate = nil }, Arms{arm(200, 100, time.Second, 25), good}, RollBack, "", CostRatio, 2.5},
		"dear beside what costs nothing":  {0, nil, Arms{arm(100, 0, time.Second, 1), arm(100, 0, time.Second, 0)}, RollBack, "", CostRatio, math.MaxFloat64},
		"free beside what costs nothing":  {time.Hour, nil, Arms{arm(100, 0, time.Second, 0), arm(100, 0, time.Second, 0)}, Advance, "", "", 0},
		"the clock went back":             {-time.Hour, nil, Arms{good, good}, Wait, ForHold, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := running()
			if tt.change != nil {
				tt.change(&r)
			}
			v := judge(began.Add(tt.after), r, tt.a)
			require.Equal(t, []any{tt.act, tt.waiting, tt.broken}, []any{v.Act, v.Waiting, v.Evidence.Broken})
			require.InDelta(t, tt.at, v.Evidence.Measured, 1e-9)
			require.Equal(t, tt.a, v.Evidence.Arms)
		})
	}
}

func TestTheStableArmIsOfTheStepWhereItHasEnough(t *testing.T) {
	r := running()
	r.Step = 1
	slow, fast := tally.Bucket(time.Minute), tally.Bucket(time.Second)
	cells := []tally.Cell{
		{Step: 0, Bucket: slow, Requests: 500},
		{Step: 0, Candidate: true, Bucket: slow, Requests: 500},
		{Step: 1, Bucket: fast, Requests: 100},
		{Step: 1, Candidate: true, Bucket: fast, Requests: 7},
	}
	a := armsOf(r, cells)
	require.Equal(t, []int64{7, 100}, []int64{a.Candidate.Requests, a.Stable.Requests})
	require.Equal(t, a.Candidate.P95, a.Stable.P95)
	cells[2].Requests = 99
	a = armsOf(r, cells)
	require.Equal(t, []int64{7, 599}, []int64{a.Candidate.Requests, a.Stable.Requests}, "the candidate's are always those of the step")
}

// However a rollout went, it goes on only where the hold is over, enough was
// judged, and no limit is exceeded; and it is rolled back exactly where one is.
func TestVerdictsKeepTheirPromises(t *testing.T) {
	limit := func(t *rapid.T, name string, most float64) *float64 {
		if !rapid.Bool().Draw(t, "has "+name) {
			return nil
		}
		return new(rapid.Float64Range(0, most).Draw(t, name))
	}
	arms := rapid.Custom(func(t *rapid.T) tally.Arm {
		n := rapid.Int64Range(0, 50).Draw(t, "requests")
		return tally.Arm{
			Requests: n, Failures: rapid.Int64Range(0, n).Draw(t, "failures"),
			P95: time.Duration(rapid.Int64Range(0, 5000).Draw(t, "p95")), Cost: money.Nanos(rapid.Int64Range(0, 5000).Draw(t, "cost")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		r := running()
		r.Step, r.State = rapid.IntRange(0, 1).Draw(t, "step"), rapid.SampledFrom([]State{Running, Paused}).Draw(t, "state")
		r.Guard = Guard{
			MaxErrorRate: limit(t, "rate", 1), MaxLatencyRatio: limit(t, "latency", 3), MaxCostRatio: limit(t, "cost", 3),
			MinRequests: rapid.Int64Range(1, 30).Draw(t, "least"),
		}
		a := Arms{Candidate: arms.Draw(t, "candidate"), Stable: arms.Draw(t, "stable")}
		after := time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "after"))
		v := judge(began.Add(after), r, a)
		g, enough := r.Guard, a.Candidate.Requests >= r.Guard.MinRequests
		both := min(a.Candidate.Successes(), a.Stable.Successes()) >= g.MinRequests
		failing := enough && g.MaxErrorRate != nil && a.Candidate.ErrorRate() > *g.MaxErrorRate
		slow := both && g.MaxLatencyRatio != nil && float64(a.Candidate.P95) > *g.MaxLatencyRatio*float64(a.Stable.P95)
		switch v.Act {
		case Advance, Complete:
			require.True(t, r.State == Running && after >= time.Minute && enough && !failing)
			require.True(t, both || !g.Compares(), "what is compared has been")
			require.Equal(t, r.Last(), v.Act == Complete)
		case RollBack:
			require.True(t, enough, "never on too few")
			require.NotEmpty(t, v.Evidence.Broken)
			require.Greater(t, v.Evidence.Measured, v.Evidence.Allowed)
		case Wait:
			require.False(t, failing)
			require.NotEmpty(t, v.Waiting)
		}
		if failing {
			require.Equal(t, RollBack, v.Act)
			require.Equal(t, ErrorRate, v.Evidence.Broken)
		}
		if slow && a.Stable.P95 > 0 && float64(a.Candidate.P95)/float64(a.Stable.P95) > *g.MaxLatencyRatio {
			require.Equal(t, RollBack, v.Act)
		}
	})
}
