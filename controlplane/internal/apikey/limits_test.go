package apikey

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A patch that sets everything makes of nothing what it says, one that sets
// nothing changes nothing.
func TestLimitsPatchForgetsNothing(t *testing.T) {
	all := fill.Value[policy.KeyLimits](1)
	of := func(w *policy.KeyWindow) WindowPatch { return WindowPatch{&w.Requests, &w.Cost} }
	p := LimitsPatch{
		Daily: of(&all.Daily), Weekly: of(&all.Weekly), Monthly: of(&all.Monthly),
		Reserve: &all.Reserve, IncludeBYOK: &all.IncludeBYOK, SoftBlocked: &all.SoftBlocked,
	}
	require.Equal(t, all, p.New())
	require.Equal(t, all, LimitsPatch{}.apply(all))
	require.Empty(t, fill.Zero(p))

	k := Patch{Limits: &p, Agent: new("bot")}.apply(Key{})
	require.Equal(t, &all, k.Limits)
	require.Equal(t, "bot", k.Agent)
	require.Equal(t, k, Patch{}.apply(k))
	var zero int64
	var none money.Nanos
	free := WindowPatch{&zero, &none}
	k = Patch{Limits: &LimitsPatch{
		Daily: free, Weekly: free, Monthly: free, Reserve: new(false), IncludeBYOK: new(false), SoftBlocked: new(false),
	}, Agent: new("")}.apply(k)
	require.Equal(t, Key{}, k, "what says nothing is none")
}

func TestTheDiffShowsEveryLimit(t *testing.T) {
	limits := fill.Value[policy.KeyLimits](1)
	require.Len(t, diff(Key{}, Key{Limits: &limits, Agent: "bot"}), 10)
	require.Empty(t, diff(Key{Limits: &limits}, Key{Limits: &limits}))
}

func TestBadLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits policy.KeyLimits
		agent  string
		paths  []string
	}{
		"good": {policy.KeyLimits{Daily: policy.KeyWindow{Requests: 1, Cost: 1}, Weekly: policy.KeyWindow{Requests: 1e12}}, strings.Repeat("a", 128), nil},
		"negative": {
			policy.KeyLimits{Daily: policy.KeyWindow{Requests: -1, Cost: -1}, Monthly: policy.KeyWindow{Cost: -1}},
			"",
			[]string{"limits.daily.requests", "limits.daily.cost_usd", "limits.monthly.cost_usd"},
		},
		"absurd": {
			policy.KeyLimits{Weekly: policy.KeyWindow{Requests: math.MaxInt64, Cost: math.MaxInt64}},
			"",
			[]string{"limits.weekly.requests", "limits.weekly.cost_usd"},
		},
		"an agent": {policy.KeyLimits{}, strings.Repeat("a", 129), []string{"agent"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Patch{Agent: &c.agent, Limits: &LimitsPatch{
				Daily: WindowPatch{&c.limits.Daily.Requests, &c.limits.Daily.Cost}, Weekly: WindowPatch{&c.limits.Weekly.Requests, &c.limits.Weekly.Cost},
				Monthly: WindowPatch{&c.limits.Monthly.Requests, &c.limits.Monthly.Cost},
			}}
			for _, err := range []error{NewKey{Name: "x", Limits: c.limits, Agent: c.agent}.Validate(time.Time{}), p.Validate(time.Time{})} {
				if c.paths == nil {
					require.NoError(t, err)
					continue
				}
				require.True(t, fault.Is(err, fault.ValidationError))
				var paths []string
				for _, v := range fault.Of(err).Violations {
					paths = append(paths, v.Path)
				}
				require.Equal(t, c.paths, paths)
			}
		})
	}
}
