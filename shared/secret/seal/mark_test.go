package seal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// What an older key sealed is stale; what a newer one sealed, which another
// process promoted already, is not, or two processes would seal back and forth.
func TestOnlyWhatAnOlderKeySealedIsStale(t *testing.T) {
	first, err := seal.New()
	require.NoError(t, err)
	appended, err := first.Append()
	require.NoError(t, err)
	promoted, err := appended.Promote()
	require.NoError(t, err)
	require.Equal(t, []uint32{first.PrimaryID(), promoted.PrimaryID()}, promoted.IDs(), "the oldest first")
	old, err := appended.Seal(secret.NewString("x"))
	require.NoError(t, err)
	fresh, err := promoted.Seal(secret.NewString("x"))
	require.NoError(t, err)

	require.False(t, appended.IsStale(old))
	require.False(t, appended.IsStale(fresh), "a newer key's")
	require.True(t, promoted.IsStale(old))
	require.False(t, promoted.IsStale(fresh))
	require.True(t, first.IsStale(fresh), "a key that is not there")
	require.True(t, promoted.IsStale(nil))
	require.Len(t, appended.Marks(), 2)
	require.Equal(t, [][]byte{promoted.Mark()}, promoted.Marks())

	by, ok := seal.SealedBy(fresh)
	require.True(t, ok)
	require.Equal(t, promoted.PrimaryID(), by)
	_, err = first.Open(fresh)
	require.ErrorIs(t, err, seal.ErrUnknownKey)
	_, err = promoted.Open(fresh, "for another")
	require.ErrorIs(t, err, seal.ErrOpen)
	require.NotErrorIs(t, err, seal.ErrUnknownKey)
	require.False(t, first.Equal(appended))
	require.False(t, appended.Equal(promoted))
	require.True(t, promoted.Equal(promoted))
}

// What is appended and not promoted yet may be in use elsewhere, and is nowhere
// else.
func TestDroppingTakesTheOlderKeysAlone(t *testing.T) {
	first, err := seal.New()
	require.NoError(t, err)
	second, err := first.Rotate()
	require.NoError(t, err)
	appended, err := second.Append()
	require.NoError(t, err)
	promoted, err := appended.Promote()
	require.NoError(t, err)
	old, err := first.Seal(secret.NewString("old"))
	require.NoError(t, err)
	ahead, err := promoted.Seal(secret.NewString("ahead"))
	require.NoError(t, err)

	dropped, err := appended.Drop()
	require.NoError(t, err)
	require.Equal(t, []uint32{second.PrimaryID(), promoted.PrimaryID()}, dropped.IDs())
	require.Equal(t, second.PrimaryID(), dropped.PrimaryID())
	plain, err := dropped.Open(ahead)
	require.NoError(t, err)
	require.Equal(t, "ahead", plain.Reveal())
	_, err = dropped.Open(old)
	require.ErrorIs(t, err, seal.ErrUnknownKey)

	only, err := first.Append()
	require.NoError(t, err)
	same, err := only.Drop()
	require.NoError(t, err)
	require.Equal(t, only.IDs(), same.IDs(), "none is older")
}
