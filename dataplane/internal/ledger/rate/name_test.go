package rate

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestNamesAreTokens of NATS, each name its own.
func TestNamesAreTokens(t *testing.T) {
	one := uuid.MustParse("01932f5a-0000-7000-8000-000000000001")
	require.Equal(t, "a", Name{Kind: 'a'}.Token())
	require.Equal(t, "r-01jcqnm000e008000000000001", Name{Kind: 'r', IDs: [...]uuid.UUID{one, {}, {}}}.Token())
	ids := rapid.SampledFrom([]uuid.UUID{{}, one, {15: 1}, {0: 255}})
	names := rapid.Custom(func(r *rapid.T) Name {
		return Name{
			Kind: byte(rapid.IntRange('a', 'z').Draw(r, "kind")),
			IDs:  [...]uuid.UUID{ids.Draw(r, "first"), ids.Draw(r, "second"), ids.Draw(r, "third")},
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		n, other := names.Draw(r, "name"), names.Draw(r, "other")
		require.Empty(r, strings.Trim(n.Token(), "abcdefghijklmnopqrstuvwxyz0123456789-"))
		require.Equal(r, n == other, n.Token() == other.Token())
	})
}
