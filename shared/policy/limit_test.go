package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Who does not know a limit would serve without it.
func TestLimitsAreKeptFromWhoDoesNotKnowThem(t *testing.T) {
	s := snapshot()
	require.Equal(t, policy.Schema, s.Versioned().Schema)
	s.Limits = &policy.Limits{}
	require.Equal(t, 4, s.Versioned().Schema)

	k := key()
	require.Equal(t, policy.Schema, k.Versioned().Schema)
	k.Agent = "support"
	require.Equal(t, 3, k.Versioned().Schema)
	k.Agent, k.Limits = "", &policy.KeyLimits{SoftBlocked: true}
	require.Equal(t, 3, k.Versioned().Schema)
}

func TestWhatAKeyCountsToward(t *testing.T) {
	own, theirs, user := fill.Value[id.Department](1), fill.Value[id.Department](2), fill.Value[id.User](3)
	s := snapshot()
	s.Members = []policy.Membership{{User: user, Departments: []id.Department{own, theirs}}}
	v, err := policy.Compile(s)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		key  policy.Key
		want []id.Department
	}{
		"a key of a department":       {policy.Key{Department: theirs, CreatedBy: user}, []id.Department{theirs}},
		"a key of a member":           {policy.Key{CreatedBy: user}, []id.Department{own, theirs}},
		"a key of somebody else":      {policy.Key{CreatedBy: fill.Value[id.User](4)}, nil},
		"a key that nobody has":       {policy.Key{}, nil},
		"that of a member, elsewhere": {policy.Key{Department: own, CreatedBy: fill.Value[id.User](4)}, []id.Department{own}},
	} {
		require.Equal(t, c.want, v.CountsToward(&c.key), name)
	}
}

func TestWhoABudgetIsAbout(t *testing.T) {
	for want, b := range map[policy.LimitScope]policy.Budget{
		policy.LimitsWorkspace:  {},
		policy.LimitsDepartment: {Department: fill.Value[id.Department](1)},
		policy.LimitsGuardrail:  {Guardrail: fill.Value[id.Guardrail](1)},
		policy.LimitsAgent:      {Agent: "support"},
	} {
		require.Equal(t, want, b.Scope())
	}
}

// Everything that is about something is found by it, once, and nothing else is.
func TestLimitsAreFoundByWhatTheyAreAbout(t *testing.T) {
	key, user, dept, rail := fill.Value[id.Key](1), fill.Value[id.User](2), fill.Value[id.Department](3), fill.Value[id.Guardrail](4)
	s := snapshot()
	v, err := policy.Compile(s)
	require.NoError(t, err)
	require.Nil(t, v.Limited())

	s.Limits = &policy.Limits{
		RatePolicies: []policy.RatePolicy{
			{Name: "of each", Keys: []id.Key{key, key}, Members: []id.User{user}, Departments: []id.Department{dept}, Guardrails: []id.Guardrail{rail}, EndUsers: true},
			{Name: "of none"},
			{Name: "of the key", Keys: []id.Key{key}},
		},
		Budgets:   []policy.Budget{{Limit: 1}, {Department: dept, Limit: 2}, {Guardrail: rail, Limit: 3}, {Agent: "support", Limit: 4}, {Limit: 5}},
		Allowance: policy.Allowance{PerMinute: 10, Users: []policy.MemberAllowance{{User: user, PerMinute: 0}}},
	}
	v, err = policy.Compile(s)
	require.NoError(t, err)
	l := v.Limited()
	names := func(policies []*policy.RatePolicy) (out []string) {
		for _, p := range policies {
			out = append(out, p.Name)
		}
		return out
	}
	require.Equal(t, []string{"of each", "of the key"}, names(l.Keys[key]))
	for _, found := range [][]*policy.RatePolicy{l.Members[user], l.Departments[dept], l.Guardrails[rail], l.EndUsers} {
		require.Equal(t, []string{"of each"}, names(found))
	}
	require.Empty(t, l.Keys[fill.Value[id.Key](9)])
	limits := func(budgets []*policy.Budget) (out []int64) {
		for _, b := range budgets {
			out = append(out, int64(b.Limit))
		}
		return out
	}
	require.Equal(t, []int64{1, 5}, limits(l.Workspace))
	require.Equal(t, []int64{2}, limits(l.OfDepartments[dept]))
	require.Equal(t, []int64{3}, limits(l.OfGuardrails[rail]))
	require.Equal(t, []int64{4}, limits(l.OfAgents["support"]))
	require.True(t, l.ByGuardrail())
	require.Zero(t, l.PerMinute(user), "their own, which is none")
	require.EqualValues(t, 10, l.PerMinute(fill.Value[id.User](9)))
	require.EqualValues(t, 10, l.PerMinute(id.User{}))
}
