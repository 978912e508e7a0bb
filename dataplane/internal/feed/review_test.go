package feed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// A key is used, the gateway stops, the key is revoked, the gateway starts and
// nobody uses the key. When NATS then goes away, the disk must know.
func TestWhatOnlyTheDiskHasFollowsToo(t *testing.T) {
	w := newWorld(t)
	revoked, removed, kept := newKID(t), newKID(t), newKID(t)
	dir := t.TempDir()
	g := w.gateway(dir, nil).following()
	for _, kid := range []string{revoked, removed, kept} {
		w.key(kid, 1, policy.KeyActive)
		require.Equal(t, policy.KeyActive, g.status(kid))
	}
	w.policy(1, 0)
	require.EqualValues(t, 1, g.revision(w.ws))
	g.stop()

	w.key(revoked, 2, policy.KeyRevoked)
	seq, err := w.write.Key(t.Context(), w.document(removed, 1, policy.KeyActive))
	require.NoError(t, err)
	require.NoError(t, w.write.Remove(t.Context(), wire.BucketKeys, removed, seq))
	w.policy(2, 0)
	g = w.gateway(dir, nil).following()
	onDisk := func(kid string) policy.KeyStatus {
		disk, err := lastgood.Open(dir, lastgood.Options{Log: natstest.Discard()})
		require.NoError(t, err)
		body, err := disk.Load(lastgood.Keys, kid)
		if err != nil {
			return ""
		}
		k, err := policy.DecodeKey(body)
		require.NoError(t, err)
		return k.Status
	}
	g.eventually(func() bool {
		return onDisk(revoked) == policy.KeyRevoked && onDisk(removed) == "" && policyOnDisk(t, dir, w.ws) == 2
	}, "the disk must follow")
	require.Equal(t, policy.KeyActive, onDisk(kept))
	require.Empty(t, g.keys.Held(false), "nobody used them")

	w.nats.Stop()
	g.eventually(func() bool { return !g.feed.Status().Connected }, "NATS must be away")
	require.Equal(t, policy.KeyRevoked, g.status(revoked))
	require.Equal(t, policy.KeyActive, g.status(kept))
	_, err = g.keys.Lookup(t.Context(), removed)
	require.ErrorIs(t, err, keyring.ErrUndetermined)
	require.EqualValues(t, 2, g.revision(w.ws))
}

func policyOnDisk(t *testing.T, dir string, ws id.Workspace) int64 {
	disk, err := lastgood.Open(dir, lastgood.Options{Log: natstest.Discard()})
	require.NoError(t, err)
	body, err := disk.Load(lastgood.Workspaces, ws.String())
	require.NoError(t, err)
	s, err := policy.DecodeSnapshot(body, policy.Digest(body))
	require.NoError(t, err)
	return s.Revision
}
