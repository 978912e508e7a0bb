package keyring

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// A revocation that came while the key was not held has been acknowledged. The
// disk, which has the key from an earlier use, must not bring it back when NATS
// is away.
func TestTheDiskDoesNotBringARevokedKeyBack(t *testing.T) {
	s := &source{any: gives(doc(1, policy.KeyActive), nil)}
	first, _, disk := newRing(t, s, nil)
	_, err := first.Lookup(t.Context(), kid)
	require.NoError(t, err)

	// The gateway starts again, and the key was not used since.
	again, _, _ := newRing(t, s, func(o *Options) { o.Disk = disk })
	require.False(t, again.Apply(doc(2, policy.KeyRevoked)))
	for range recentPushes + 10 { // what is remembered in memory is bounded
		again.Apply(policy.Key{Schema: policy.Schema, KID: randomKID(), Revision: 3})
	}
	s.any = gives(policy.Key{}, errAway)
	got, err := again.Lookup(t.Context(), kid)
	require.NoError(t, err)
	require.Equal(t, policy.KeyRevoked, got.Status)
}

// Where the disk cannot keep up, memory still knows.
func TestADocumentOlderThanAPushIsNotServedFromDisk(t *testing.T) {
	s := &source{any: gives(policy.Key{}, errAway)}
	k, _, _ := newRing(t, s, func(o *Options) { o.Disk = oldDisk{} })
	_, err := k.Lookup(t.Context(), kid)
	require.NoError(t, err, "before the push it is what there is")

	k, _, _ = newRing(t, s, func(o *Options) { o.Disk = oldDisk{} })
	require.False(t, k.Apply(doc(2, policy.KeyRevoked)))
	_, err = k.Lookup(t.Context(), kid)
	require.ErrorIs(t, err, ErrUndetermined)
}

// oldDisk has an old document and keeps nothing.
type oldDisk struct{}

func (oldDisk) Load(lastgood.Kind, string) ([]byte, error) {
	return []byte(`{"schema":1,"kid":"` + kid + `","revision":1,"status":"active"}`), nil
}
func (oldDisk) Save(lastgood.Kind, string, []byte)    {}
func (oldDisk) Refresh(lastgood.Kind, string, []byte) {}
func (oldDisk) Remove(lastgood.Kind, string)          {}
