package conversation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/dataplane/internal/translate/conversation"
)

var anyOrigin = rapid.SampledFrom([]conversation.Origin{conversation.OpenAI, conversation.Anthropic, conversation.Google})

// A proof comes back as what it is and whose it is, through any format.
func TestSealedComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.StringN(1, 20, -1), rapid.SampledFrom([]string{"a.b.c", ".", "sb1", "sb1x.", "EqoB=="})).
			Filter(func(s string) bool { return !strings.HasPrefix(s, "sb1.") }).Draw(t, "value")
		of, home := anyOrigin.Draw(t, "of"), anyOrigin.Draw(t, "home")
		sealed := conversation.Seal(value, of, home)
		got, origin := conversation.Unseal(sealed, home)
		require.Equal(t, value, got)
		require.Equal(t, of, origin)
		require.Equal(t, of == home, sealed == value, "at home it stays as it is")
		if of != home {
			require.NotEqual(t, value, sealed)
			_, other := conversation.Unseal(sealed, of)
			require.Equal(t, of, other, "it says itself whose it is")
		}
	})
}

func TestUnsealOfWhatIsNotSealed(t *testing.T) {
	for _, value := range []string{"", "sig", "sb1.", "sb1.google", "sb1.elsewhere.x", "sb2.google.x", "SB1.google.x"} {
		got, origin := conversation.Unseal(value, conversation.Anthropic)
		require.Equal(t, value, got)
		require.Equal(t, conversation.Anthropic, origin)
	}
	got, origin := conversation.Unseal("sb1.google.", conversation.Anthropic)
	require.Empty(t, got)
	require.Equal(t, conversation.Google, origin)
	require.Empty(t, conversation.Seal("", conversation.Google, conversation.OpenAI), "nothing is sealed of nothing")
	require.Equal(t, "x", conversation.Seal("x", "", conversation.OpenAI), "nor of nobody's")
}
