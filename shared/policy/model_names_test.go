package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/policy"
)

func TestModelNames(t *testing.T) {
	n := policy.NamesOf([]string{"acme/small", "acme/*", "small", "*"})
	require.False(t, n.Empty())
	require.True(t, n.Lists("acme/small"))
	for _, pattern := range []string{"acme/*", "small", "*", "acme/big"} {
		require.False(t, n.Lists(pattern), pattern)
	}
	require.Equal(t, []string{"acme/*", "small", "*"}, n.Patterns())
	for _, none := range [][]string{nil, {}} {
		require.True(t, policy.NamesOf(none).Empty())
	}
	require.False(t, policy.NamesOf([]string{"acme/small"}).Empty())
	require.False(t, policy.NamesOf([]string{"*"}).Empty())
}
