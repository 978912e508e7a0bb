package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestModelNames(t *testing.T) {
	n := policy.NamesOf([]string{"acme/small", "zeta/*", "large", "b/c", "*-preview"})
	require.False(t, n.Empty())
	for _, m := range [][2]string{
		{"acme/small", "small"}, {"zeta/any", "any"}, {"acme/large", "large"}, {"acme/x-preview", "x-preview"}, {"b/c", "c"},
	} {
		require.True(t, n.List(m[0], m[1]), m)
	}
	for _, m := range [][2]string{
		{"zeta2/small", "small"},
		{"acme/smaller", "smaller"},
		{"large", ""},      // an id, were it one, and the entry is about bare names
		{"a/b/c", "b/c"},   // a bare name, and the entry is an id
		{"large/x", "x"},   // the entry has no slash
		{"preview/x", "x"}, // nor has this one
		{"acme/LARGE", "LARGE"},
	} {
		require.False(t, n.List(m[0], m[1]), m)
	}
	for _, none := range [][]string{nil, {}} {
		require.True(t, policy.NamesOf(none).Empty())
	}
	require.False(t, policy.NamesOf([]string{"acme/small"}).Empty())
	require.False(t, policy.NamesOf([]string{"*"}).Empty())
}
