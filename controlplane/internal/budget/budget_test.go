package budget

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/spending"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestPublishedForgetsNothing(t *testing.T) {
	b := fill.Value[Budget](1)
	p := b.Published()
	require.Empty(t, fill.Zero(p))
	require.Equal(t, policy.Budget{
		ID: b.ID, Interval: b.Interval, Limit: b.Limit, Reserve: b.Reserve, IncludeBYOK: b.IncludeBYOK,
		Department: b.Target.Department, Guardrail: b.Target.Guardrail, Agent: b.Target.Agent,
	}, p)
}

func TestPatchForgetsNothing(t *testing.T) {
	all := fill.Value[Budget](1)
	fixed := all
	fixed.Limit, fixed.Reserve, fixed.IncludeBYOK = 0, false, false
	require.Equal(t, all, (&Patch{Limit: &all.Limit, Reserve: &all.Reserve, IncludeBYOK: &all.IncludeBYOK}).apply(fixed))
	require.Equal(t, all, (&Patch{}).apply(all))
}

// The audit diff shows every field that a caller gives.
func TestTheDiffForgetsNothing(t *testing.T) {
	require.Len(t, diff(Budget{}, fill.Value[Budget](1)), 7)
	require.Empty(t, diff(fill.Value[Budget](1), fill.Value[Budget](1)))
}

func TestTargetsHaveAccounts(t *testing.T) {
	d, g := fill.Value[id.Department](1), fill.Value[id.Guardrail](2)
	for account, target := range map[wire.Account]Target{
		wire.AccountWorkspace:     {},
		wire.DepartmentAccount(d): {Department: d},
		wire.GuardrailAccount(g):  {Guardrail: g},
		wire.AgentAccount("a b"):  {Agent: "a b"},
	} {
		require.Equal(t, account, target.Account())
	}
}

func TestStandings(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	today := spending.History{
		Days:     []spending.Day{{Start: now.Truncate(24 * time.Hour), Spend: wire.Spend{Cost: 100, BYOK: 40}}},
		Lifetime: wire.Spend{Cost: 1000, BYOK: 999},
	}
	for name, c := range map[string]struct {
		budget    Budget
		spent     money.Nanos
		remaining money.Nanos
		exceeded  bool
		share     float64
	}{
		"part of it":                {Budget{Interval: policy.Daily, Limit: 600}, 60, 540, false, 0.1},
		"with own credentials":      {Budget{Interval: policy.Daily, Limit: 600, IncludeBYOK: true}, 100, 500, false, 0.1666},
		"reached":                   {Budget{Interval: policy.Daily, Limit: 60}, 60, 0, true, 1},
		"passed":                    {Budget{Interval: policy.Weekly, Limit: 30}, 60, 0, true, 2},
		"nearly reached":            {Budget{Interval: policy.Monthly, Limit: 61}, 60, 1, false, 0.9836},
		"a lifetime":                {Budget{Interval: policy.Lifetime, Limit: 10}, 1, 9, false, 0.1},
		"a lifetime, all of it":     {Budget{Interval: policy.Lifetime, Limit: 10, IncludeBYOK: true}, 1000, 0, true, 100},
		"the most that a limit is":  {Budget{Interval: policy.Daily, Limit: math.MaxInt64}, 60, math.MaxInt64 - 60, false, 0},
		"a limit below a cent of a": {Budget{Interval: policy.Daily, Limit: 1}, 60, 0, true, 60},
	} {
		t.Run(name, func(t *testing.T) {
			s := standing(c.budget, today, now)
			require.Equal(t, c.spent, s.Spent)
			require.Equal(t, c.remaining, s.Remaining())
			require.Equal(t, c.exceeded, s.Exceeded())
			require.InDelta(t, c.share, s.Share(), 1e-9)
		})
	}
	all := Standing{Budget: Budget{Limit: math.MaxInt64}, Spent: math.MaxInt64 - 1}
	require.Less(t, all.Share(), 1.0, "only what is reached shows as whole")
	require.Zero(t, standing(Budget{Interval: policy.Daily, Limit: 5}, spending.History{}, now).Share())
}

func TestDrafts(t *testing.T) {
	dept, guard := fill.Value[id.Department](1), fill.Value[id.Guardrail](2)
	for name, c := range map[string]struct {
		draft       Draft
		departments bool
		paths       []string
	}{
		"good":                {Draft{Interval: policy.Lifetime, Limit: 1, Reserve: true}, false, nil},
		"good of a guardrail": {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Guardrail: guard}}, false, nil},
		"good of an agent":    {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Agent: strings.Repeat("é", 64)}}, false, nil},
		"good of departments": {Draft{Interval: policy.Monthly, Limit: 1, Target: Target{Department: dept}}, true, nil},
		"nothing":             {Draft{}, false, []string{"limit_usd", "interval"}},
		"zero":                {Draft{Interval: policy.Daily}, false, []string{"limit_usd"}},
		"negative":            {Draft{Interval: policy.Daily, Limit: -1}, false, []string{"limit_usd"}},
		"absurd":              {Draft{Interval: policy.Daily, Limit: math.MaxInt64}, false, []string{"limit_usd"}},
		"unknown interval":    {Draft{Interval: "dayly", Limit: 1}, false, []string{"interval"}},
		"two targets":         {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Guardrail: guard, Agent: "a"}}, false, []string{"agent"}},
		"agent too long":      {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Agent: strings.Repeat("é", 65)}}, false, []string{"agent"}},
		"agent of blanks":     {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Agent: "  "}}, false, []string{"agent"}},
		"agent with a line":   {Draft{Interval: policy.Daily, Limit: 1, Target: Target{Agent: "a\nb"}}, false, []string{"agent"}},
		"lifetime of a department": {
			Draft{Interval: policy.Lifetime, Limit: 1, Target: Target{Department: dept}}, true, []string{"interval"},
		},
		"reserve of a department": {
			Draft{Interval: policy.Daily, Limit: 1, Reserve: true, Target: Target{Department: dept}}, true, []string{"enforcement"},
		},
		"no department": {Draft{Interval: policy.Daily, Limit: 1}, true, []string{"department_id"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.draft.validate(c.departments)
			if c.paths == nil {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.Is(err, fault.ValidationError))
			var paths []string
			for _, v := range fault.Of(err).Violations {
				paths = append(paths, v.Path)
				require.NotContains(t, v.Message, "dayly")
			}
			require.Equal(t, c.paths, paths)
		})
	}
}
