package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// What binds a request is there once, by the widest scope, in a fixed order.
func TestGuardrailsOfARequest(t *testing.T) {
	member, other := id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y7z"), id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y70")
	k, free := key().ID, id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y70")
	s := snapshot()
	s.Guardrails = []policy.Guardrail{
		{Name: "key", Keys: []id.Key{k}},
		{Name: "all three", Workspace: true, Members: []id.User{member}, Keys: []id.Key{k}},
		{Name: "member and key", Members: []id.User{other, member}, Keys: []id.Key{k}},
		{Name: "nothing"},
		{Name: "member", Members: []id.User{member}},
	}
	v, err := policy.Compile(s)
	require.NoError(t, err)
	bound := func(k id.Key, owner id.User) (names []string) {
		for _, b := range v.Guardrails(k, owner) {
			names = append(names, string(b.Scope)+": "+b.Name)
		}
		return names
	}
	require.Equal(t, []string{"workspace: all three", "member: member and key", "member: member", "key: key"}, bound(k, member))
	require.Equal(t, []string{"workspace: all three", "member: member and key"}, bound(free, other))
	require.Equal(t, []string{"workspace: all three", "key: key", "key: member and key"}, bound(k, id.User{}))
	require.Equal(t, []string{"workspace: all three"}, bound(id.Key{}, id.User{}))
	require.Equal(t, []string{"workspace: all three", "member: member and key", "member: member", "key: key"}, bound(k, member), "asking changes nothing")
}

// A gateway of the version before guardrails ignores members that it does not
// know and reads schema 1 alone: what it could serve without them is not for it.
func TestGuardrailsAreKeptFromWhoDoesNotKnowThem(t *testing.T) {
	old := func(s policy.Snapshot) bool {
		body, digest, err := policy.Encode(s.Versioned())
		require.NoError(t, err)
		_, err = policy.DecodeSnapshot(body, digest)
		require.NoError(t, err, "this version reads both")
		var seen struct {
			Schema int `json:"schema"`
		}
		require.NoError(t, json.Unmarshal(body, &seen))
		return seen.Schema == 1
	}
	s := snapshot()
	require.True(t, old(s), "without guardrails nothing is kept from it")
	s.Guardrails = []policy.Guardrail{{ID: fill.Value[id.Guardrail](1), Workspace: true}}
	require.False(t, old(s))
	s.Guardrails = nil
	require.True(t, old(s.Versioned()), "and it goes on once they are gone")
}

func TestGuardrailsArePublishedWhole(t *testing.T) {
	s := snapshot()
	s.Guardrails = []policy.Guardrail{fill.Value[policy.Guardrail](1), {ID: fill.Value[id.Guardrail](2), Name: "bare"}}
	body, digest, err := policy.Encode(s)
	require.NoError(t, err)
	back, err := policy.DecodeSnapshot(body, digest)
	require.NoError(t, err)
	require.Equal(t, s, back)
}
