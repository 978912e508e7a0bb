package dialect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/dialect"
)

// A choice that ended does not stand for another: not even the 65th for the
// first.
func TestChoices(t *testing.T) {
	var c dialect.Choices
	require.False(t, c.Complete(), "a reply without choices is not complete")
	for _, index := range []int64{0, 64, 127} {
		c.Begin(index)
		require.True(t, c.Any())
		require.False(t, c.Complete(), index)
		c.End(index)
		require.True(t, c.Complete(), index)
	}
	c.Begin(1 << 62)
	c.End(1 << 62)
	require.True(t, c.Complete(), "nonsense has a place too")
}

func TestIsGatewayOnly(t *testing.T) {
	for _, name := range []string{"models", "provider", "routing", "session_id", "preset", "provider_options"} {
		require.True(t, dialect.IsGatewayOnly(name), name)
	}
	for _, name := range []string{"model", "metadata", "stream", ""} {
		require.False(t, dialect.IsGatewayOnly(name), name)
	}
}
