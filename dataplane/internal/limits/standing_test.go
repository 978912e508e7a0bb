package limits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A key is told of every limit that is held against its requests, also behind one
// that is reached, and looking takes nothing.
func TestStanding(t *testing.T) {
	a, w := everything(), newWorld()
	a.budget(7, policy.Budget{Interval: policy.Weekly, Limit: 5})
	a.key.Limits.SoftBlocked = true
	w.spend(wire.AccountWorkspace, policy.Weekly, wire.Spend{Cost: 9})
	w.spend(wire.KeyAccount(theKey), policy.Daily, wire.Spend{Requests: 3, Cost: 4})
	w.minutes["a-"+digits(theUser.String())] = rate.Minute{Used: 1_000}
	s := w.gate().Standing(t.Context(), a.key, a.view(t), noon)
	require.Empty(t, w.held())
	require.Zero(t, w.asked)
	require.True(t, s.SoftBlocked)
	require.Equal(t, []policy.Interval{policy.Daily, policy.Weekly, policy.Monthly}, []policy.Interval{s.Usage[0].Window, s.Usage[1].Window, s.Usage[2].Window})
	require.Equal(t, call.Used{Window: policy.Daily, Requests: 3, Cost: 4, Resets: time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC)}, s.Usage[0])
	require.Len(t, s.Limits, 1+1+4*3+4+5+1, "but for end users, of whom there is none")

	require.Equal(t, call.Left{LimitCheck: decide.LimitCheck{
		Scope: "member", ID: theUser.String(), Metric: "requests", Window: "minute", Used: 1_000, Limit: 100,
	}, Resets: noon.Add(time.Second)}, s.Limits[0], "when there is room again")
	require.Contains(t, s.Limits, call.Left{LimitCheck: decide.LimitCheck{
		Scope: "workspace", ID: a.key.Workspace.String(), Metric: "credit", Window: "lifetime", Limit: 9e9, OK: true,
	}})
	require.Contains(t, s.Limits, call.Left{LimitCheck: decide.LimitCheck{
		Scope: "workspace", ID: budgetID(7).String(), Metric: "cost", Window: "weekly", Used: 9, Limit: 5,
	}, Resets: time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)})
	require.Contains(t, s.Limits, call.Left{LimitCheck: decide.LimitCheck{
		Scope: "key", ID: theKey.String(), Metric: "cost", Window: "daily", Used: 4, Limit: 100e9, OK: true,
	}, Resets: time.Date(2026, 3, 12, 0, 0, 0, 0, time.UTC), Reserve: true})

	w.unknown = true
	s = w.gate().Standing(t.Context(), a.key, a.view(t), noon)
	require.Nil(t, s.Usage)
	for _, l := range s.Limits {
		require.True(t, l.Unknown)
	}

	a = ask(policy.Limits{})
	a.limits = nil
	s = newWorld().gate().Standing(t.Context(), a.key, a.view(t), noon)
	require.Len(t, s.Usage, 3)
	require.Empty(t, s.Limits)
}
