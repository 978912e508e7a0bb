package department

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// Every field of the published form is set, each from the field of the same
// name.
func TestPublishedForgetsNothing(t *testing.T) {
	d := fill.Value[Department](1)
	published := d.Published()
	require.Empty(t, fill.Zero(published))
	from, to := reflect.ValueOf(d), reflect.ValueOf(published)
	for i := range to.NumField() {
		name := to.Type().Field(i).Name
		require.Equal(t, from.FieldByName(name).Interface(), to.Field(i).Interface(), name)
	}
	require.Len(t, diff(Department{}, d), 2)
	require.Empty(t, diff(d, d))
}

func TestInUseNamesWhatUsesIt(t *testing.T) {
	ids := id.SystemSource()
	key, member, policy := id.New[id.KeyKind](ids), id.New[id.UserKind](ids), id.New[id.RatePolicyKind](ids)
	err := fault.Of(inUse(Uses{Keys: []id.Key{key}, Members: []id.User{member}, Policies: []id.RatePolicy{policy}}))
	require.Equal(t, fault.Conflict, err.Code)
	require.Equal(t, "The department has the API key "+key.String()+", the member "+member.String()+", the rate-limit policy "+policy.String()+
		". Take keys and members out of it first (signalbox departments remove-key KEY_ID, signalbox departments members remove DEPARTMENT USER_ID), "+
		"and policies off it (signalbox rate-limits assignments delete ASSIGNMENT_ID).", err.Message)
	err = fault.Of(inUse(Uses{Keys: []id.Key{key, key, key, key}, More: 2}))
	require.Len(t, err.Violations, 4)
	require.Contains(t, err.Message, "and 3 more")
}

// A person reads from the audit log how somebody belonged to it and does now.
func TestTheDiffOfAMembership(t *testing.T) {
	user := id.New[id.UserKind](id.SystemSource())
	ordinary, lead := &Member{Membership: Membership{Position: Ordinary}}, &Member{Membership: Membership{Position: Lead, Override: true}}
	path := "members." + user.String()
	require.Equal(t, []audit.Change{{Path: path, After: "member"}}, memberDiff(user, nil, ordinary))
	require.Equal(t, []audit.Change{{Path: path, Before: "member", After: "lead, override"}}, memberDiff(user, ordinary, lead))
	require.Equal(t, []audit.Change{{Path: path, Before: "lead, override"}}, memberDiff(user, lead, nil))
	require.Empty(t, memberDiff(user, lead, lead))
}
