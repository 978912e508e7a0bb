package policy_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A gateway of the version before dynamic routes ignores members that it does
// not know and reads schema 1 alone: a key that it would serve past its route is
// not for it.
func TestRoutesAreKeptFromWhoDoesNotKnowThem(t *testing.T) {
	schema := func(k policy.Key) int {
		body, _, err := policy.Encode(k.Versioned())
		require.NoError(t, err)
		back, err := policy.DecodeKey(body)
		require.NoError(t, err, "this version reads both")
		require.Equal(t, k.Route, back.Route)
		var seen struct {
			Schema int `json:"schema"`
		}
		require.NoError(t, json.Unmarshal(body, &seen))
		return seen.Schema
	}
	k := key()
	k.Route = id.Route{}
	require.Equal(t, policy.Schema, schema(k), "without a route nothing is kept from it")
	k.Route = fill.Value[id.Route](1)
	require.Equal(t, policy.Schema+1, schema(k))
	attached := k.Versioned()
	attached.Route = id.Route{}
	require.Equal(t, policy.Schema, schema(attached), "and it goes on once the route is taken off")

	for _, unread := range []int{0, -1, policy.Schema + 3} {
		k.Schema = unread
		body, _, err := policy.Encode(k)
		require.NoError(t, err)
		_, err = policy.DecodeKey(body)
		require.ErrorIs(t, err, policy.ErrSchema)
	}
}
