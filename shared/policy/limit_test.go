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
