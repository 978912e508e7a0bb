package rollout

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

func TestPlansThatCannotBe(t *testing.T) {
	good := func() Plan { r := running(); return Plan{Steps: r.Steps, Guard: r.Guard} }
	require.NoError(t, good().check())
	tests := map[string]struct {
		change func(p *Plan)
		want   []string
	}{
		"nothing":              {func(p *Plan) { *p = Plan{} }, []string{"steps out_of_range", "guard required", "guard.min_requests out_of_range"}},
		"too many steps":       {func(p *Plan) { p.Steps = many(21) }, []string{"steps out_of_range"}},
		"as many as there may": {func(p *Plan) { p.Steps = many(20) }, nil},
		"no rise":              {func(p *Plan) { p.Steps[1].Percent = 1000 }, []string{"steps[1].percent not_allowed"}},
		"a percent too small":  {func(p *Plan) { p.Steps[0].Percent = 0 }, []string{"steps[0].percent out_of_range"}},
		"a percent too large":  {func(p *Plan) { p.Steps[1].Percent = 10_001 }, []string{"steps[1].percent out_of_range"}},
		"holds": {
			func(p *Plan) { p.Steps[0].Hold, p.Steps[1].Hold = time.Second-1, MaxHold+1 },
			[]string{"steps[0].hold out_of_range", "steps[1].hold out_of_range"},
		},
		"limits": {
			func(p *Plan) { *p.Guard.MaxErrorRate, *p.Guard.MaxLatencyRatio, *p.Guard.MaxCostRatio = 1, 0, 1001 },
			[]string{"guard.max_error_rate out_of_range", "guard.max_p95_latency_ratio out_of_range", "guard.max_cost_ratio out_of_range"},
		},
		"no numbers": {
			func(p *Plan) { *p.Guard.MaxErrorRate, *p.Guard.MaxLatencyRatio = math.NaN(), math.NaN() },
			[]string{"guard.max_error_rate out_of_range", "guard.max_p95_latency_ratio out_of_range"},
		},
		"no failure at all is allowed": {func(p *Plan) { *p.Guard.MaxErrorRate = 0 }, nil},
		"too many requests":            {func(p *Plan) { p.Guard.MinRequests = MaxRequests + 1 }, []string{"guard.min_requests out_of_range"}},
		"nothing to compare with":      {func(p *Plan) { p.Steps = p.Steps[1:] }, []string{"steps[0].percent not_allowed"}},
		"everyone at once, by errors":  {func(p *Plan) { p.Steps, p.Guard.MaxLatencyRatio, p.Guard.MaxCostRatio = p.Steps[1:], nil, nil }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := good()
			tt.change(&p)
			var got []string
			if e, ok := errors.AsType[*fault.Error](p.check()); ok {
				for _, v := range e.Violations {
					got = append(got, v.Path+" "+v.Code)
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func many(n int) (steps []Step) {
	for i := range n {
		steps = append(steps, Step{Percent: flow.Percent(i + 1), Hold: time.Second})
	}
	return steps
}

func TestHoldsAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]time.Duration{"10m": 10 * time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "1m1s": 61 * time.Second, "1h0m1s": time.Hour + time.Second, "1s": time.Second} {
		require.Equal(t, want, ParseHold(text))
		require.Equal(t, text, FormatHold(want))
	}
	for _, text := range []string{"", "10", "ten", "1d", "-"} {
		require.Zero(t, ParseHold(text))
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(MaxHold)).Draw(t, "hold"))
		require.Equal(t, d, ParseHold(FormatHold(d)))
	})
}
