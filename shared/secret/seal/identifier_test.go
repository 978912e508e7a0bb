package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

func identifiers(t require.TestingT, k *seal.Keyring) *seal.Identifiers {
	i, err := k.Identifiers()
	require.NoError(t, err)
	return i
}

func TestIdentifiersStandForTheirValue(t *testing.T) {
	ring, err := seal.New()
	require.NoError(t, err)
	i := identifiers(t, ring)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOf(rapid.Byte()).Draw(t, "value")
		made, err := i.Make(value, "job", "ws_1")
		require.NoError(t, err)
		again, err := identifiers(t, ring).Make(value, "job", "ws_1")
		require.NoError(t, err)
		require.Equal(t, made, again, "the same each time, in every process")
		require.Regexp(t, `^[A-Za-z0-9_-]+$`, made)
		back, err := i.Read(made, "job", "ws_1")
		require.NoError(t, err)
		require.Equal(t, string(value), string(back))

		_, err = i.Read(made, "job", "ws_2")
		require.ErrorIs(t, err, seal.ErrOpen, "nobody else's")
		at := rapid.IntRange(0, len(made)-1).Draw(t, "at")
		letter := byte('A')
		if made[at] == letter {
			letter = 'B'
		}
		changed := made[:at] + string(letter) + made[at+1:]
		_, err = i.Read(changed, "job", "ws_1")
		require.ErrorIs(t, err, seal.ErrOpen)
	})
}

func TestIdentifiersSurviveRotation(t *testing.T) {
	old, err := seal.New()
	require.NoError(t, err)
	made, err := identifiers(t, old).Make([]byte("value"), "job")
	require.NoError(t, err)
	rotated, err := old.Rotate()
	require.NoError(t, err)
	back, err := identifiers(t, rotated).Read(made, "job")
	require.NoError(t, err)
	require.Equal(t, "value", string(back))
	anew, err := identifiers(t, rotated).Make([]byte("value"), "job")
	require.NoError(t, err)
	require.NotEqual(t, made, anew)

	other, err := seal.New()
	require.NoError(t, err)
	_, err = identifiers(t, other).Read(made, "job")
	require.ErrorIs(t, err, seal.ErrOpen)
	for _, garbage := range []string{"", "a", "!!!!", "AAAA", made + "A", "%2e%2e"} {
		_, err = identifiers(t, old).Read(garbage, "job")
		require.ErrorIs(t, err, seal.ErrOpen, garbage)
	}
}
