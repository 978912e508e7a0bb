package feed_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/snapshot"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestThreeGatewaysFollowAKeyAndItsPolicy(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	var fleet []*gateway
	for range 3 {
		fleet = append(fleet, w.gateway(t.TempDir(), nil).following())
	}
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	for _, g := range fleet {
		require.Equal(t, policy.KeyActive, g.status(kid))
		require.EqualValues(t, 1, g.revision(w.ws))
	}
	w.key(kid, 2, policy.KeyRevoked)
	w.policy(2, 0)
	for _, g := range fleet {
		g.eventually(func() bool { return g.status(kid) == policy.KeyRevoked }, "a revoked key must be refused everywhere")
		g.eventually(func() bool { return g.revision(w.ws) == 2 }, "the policy must follow")
		g.eventually(reports.acknowledged(g, w.ws, kid, 2), "the key must be acknowledged")
		g.eventually(reports.acknowledged(g, w.ws, "", 2), "the policy must be acknowledged")
	}
}

// Whoever sees the receipt of a revocation must find the key refused.
func TestAReceiptIsNeverAheadOfWhatIsServed(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	kid := newKID(t)
	var early sync.Map
	w.listen(func(r wire.Receipt) {
		for _, a := range r.Applied {
			if k, err := g.keys.Lookup(t.Context(), kid); a.KID == kid && (err != nil || k.Revision < a.Revision) {
				early.Store(a.Revision, true)
			}
			if a.KID != "" || a.Workspace != w.ws {
				continue
			}
			if v, err := g.policies.Pin(t.Context(), w.ws, 0); err != nil || v.Revision() < a.Revision {
				early.Store(-a.Revision, true)
			}
		}
	})
	reports := w.listen(nil)
	const n = 100
	for r := int64(1); r <= n; r++ {
		w.key(kid, r, policy.KeyActive)
		w.policy(r, 0)
		if r == 1 {
			g.status(kid)
			g.revision(w.ws)
		}
	}
	g.eventually(reports.acknowledged(g, w.ws, "", n), "the last one must be acknowledged")
	early.Range(func(r, _ any) bool { t.Errorf("receipt %v came before it was applied", r); return true })
}

func TestWhatIsNotHeldIsDroppedAndAcknowledged(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), nil).following()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	g.eventually(reports.acknowledged(g, w.ws, kid, 1), "it saw the push")
	g.eventually(reports.acknowledged(g, w.ws, "", 1), "it saw the push")
	require.Zero(t, g.feed.Status().Keys.Held)
	require.Zero(t, g.feed.Status().Policies.Workspaces)
}

func TestLargePoliciesComeThroughTheObjectStore(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	w.policy(1, 0)
	require.EqualValues(t, 1, g.revision(w.ws))
	w.policy(2, 2*wire.MaxKVBody)
	g.eventually(func() bool { return g.revision(w.ws) == 2 }, "a large policy must arrive")
	v, err := g.policies.Pin(t.Context(), w.ws, 2)
	require.NoError(t, err)
	require.Len(t, v.Settings().DefaultModel, 2*wire.MaxKVBody)
}

func TestAnUnknownKeyIsUnknownOnlyWhereTheBucketIsComplete(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	_, err := g.keys.Lookup(t.Context(), newKID(t))
	require.ErrorIs(t, err, keyring.ErrUnknown)

	w.wipe()
	kid := newKID(t)
	lookup := func() error { _, err := g.keys.Lookup(t.Context(), kid); return err }
	require.Never(t, func() bool { return lookup() != nil && !isUndetermined(lookup()) }, 300*time.Millisecond, 20*time.Millisecond,
		"a bucket that lost its data proves nothing")
	w.complete()
	g.eventually(func() bool { return isUnknown(lookup()) }, "a complete one does")
}

func TestHeldKeysSurviveALossOfData(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	kid := newKID(t)
	w.key(kid, 3, policy.KeyActive)
	w.policy(3, 0)
	require.Equal(t, policy.KeyActive, g.status(kid))
	require.EqualValues(t, 3, g.revision(w.ws))

	w.wipe()
	before := g.feed.Status().CaughtUpAt
	g.eventually(func() bool { return g.feed.Status().CaughtUpAt.After(before) }, "it must look at the new stream")
	require.Equal(t, policy.KeyActive, g.status(kid), "what is held stays")
	require.EqualValues(t, 3, g.revision(w.ws))
	// Healed, with a change made meanwhile.
	w.key(kid, 4, policy.KeyRevoked)
	w.policy(4, 0)
	w.complete()
	g.eventually(func() bool { return g.status(kid) == policy.KeyRevoked }, "the healed document must be followed")
	g.eventually(func() bool { return g.revision(w.ws) == 4 }, "the healed policy must be followed")
}

// A stream that was made anew may be longer than the one before, so that the
// old position looks like one in it.
func TestANewStreamIsToldFromTheOldOne(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), func(o *feed.Options) { o.PollEvery = 50 * time.Millisecond }).following()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	g.status(kid)
	g.revision(w.ws)
	g.eventually(func() bool { h := reports.beat(g); return h.Keys.Sequence > 1 && h.Policy.Sequence > 1 }, "it must have a position")
	w.nats.Replace(func(conn *natsconn.Conn) {
		fill := &world{t: t, nats: w.nats, write: document.NewWriter(conn), ws: w.ws}
		fill.complete()
		fill.key(kid, 2, policy.KeyRevoked)
		fill.policy(2, 0)
		for range 20 {
			fill.ws = id.New[id.WorkspaceKind](ids)
			fill.key(newKID(t), 1, policy.KeyActive)
			fill.policy(1, 0)
		}
	})
	g.eventually(func() bool { return g.status(kid) == policy.KeyRevoked }, "the key must be read again")
	g.eventually(func() bool { return g.revision(w.ws) == 2 }, "the policy must be read again")
}

func TestChangesMadeWhileDisconnectedAreFound(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), nil).following()
	kid, unheld := newKID(t), newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	g.status(kid)
	g.revision(w.ws)
	for r := int64(2); r < 5; r++ {
		w.nats.Restart()
		require.Eventually(t, func() bool {
			_, err := w.write.Key(t.Context(), w.document(kid, r, policy.KeyActive))
			return err == nil
		}, soon, tick)
		w.policy(r, 0)
		seq, err := w.write.Key(t.Context(), w.document(unheld, r, policy.KeyActive))
		require.NoError(t, err)
		g.eventually(func() bool { k, _ := g.keys.Lookup(t.Context(), kid); return k.Revision == r }, "the key must follow")
		g.eventually(func() bool { return g.revision(w.ws) == r }, "the policy must follow")
		// The control plane may have been away when the receipt came; then the
		// position in a heartbeat tells it.
		told := reports.acknowledged(g, w.ws, unheld, r)
		g.eventually(func() bool { return told() || reports.beat(g).Keys.Sequence >= seq }, "what is not held must be told of too")
	}
}

// Pushes that a slow consumer or a broken route swallowed are found by the
// poll: the subscription is cut off here.
func TestThePollFindsWhatNoPushBrought(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), func(o *feed.Options) { o.PollEvery = 50 * time.Millisecond }).following()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	g.status(kid)
	g.revision(w.ws)
	g.feed.Deafen()
	w.key(kid, 2, policy.KeyRevoked)
	w.policy(2, 0)
	w.catalog(2)
	g.eventually(func() bool { return g.status(kid) == policy.KeyRevoked }, "the key must follow")
	g.eventually(func() bool { return g.revision(w.ws) == 2 }, "the policy must follow")
	g.eventually(func() bool { return g.policies.Catalog().Revision() == 2 }, "the catalog must follow")
	g.eventually(func() bool { h := reports.beat(g); return h.Keys.Sequence > 0 && h.Policy.Sequence > 0 }, "the heartbeat must tell")
	require.Zero(t, g.feed.Status().Unreadable)
}

func TestARemovedDocumentIsForgotten(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	g.status(kid)
	seq, err := w.write.Key(t.Context(), w.document(kid, 1, policy.KeyActive))
	require.NoError(t, err)
	require.NoError(t, w.write.Remove(t.Context(), wire.BucketKeys, kid, seq))
	g.eventually(func() bool { _, err := g.keys.Lookup(t.Context(), kid); return isUnknown(err) }, "it must be unknown")
}

func TestTheCatalogFollows(t *testing.T) {
	w := newWorld(t)
	g := w.gateway(t.TempDir(), nil).following()
	g.eventually(func() bool { return g.policies.Ready() == nil }, "a catalog must come")
	w.catalog(2)
	g.eventually(func() bool { return g.policies.Catalog().Revision() == 2 }, "the catalog must follow")
}

func TestAGatewayStartedWithoutNATSServesFromDisk(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	kid, other := newKID(t), newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.key(other, 1, policy.KeyActive)
	w.policy(1, 0)
	g := w.gateway(dir, nil).following()
	g.status(kid)
	g.status(other)
	g.revision(w.ws)
	g.eventually(func() bool { return g.policies.Ready() == nil }, "a catalog must come")
	g.stop()

	w.nats.Stop()
	damage(t, filepath.Join(dir, string(lastgood.Keys), other))
	g = w.gateway(dir, nil)
	g.eventually(func() bool { return g.policies.Ready() == nil }, "the catalog must come from disk")
	require.Equal(t, policy.KeyActive, g.status(kid))
	require.EqualValues(t, 1, g.revision(w.ws))
	_, err := g.keys.Lookup(t.Context(), newKID(t))
	require.ErrorIs(t, err, keyring.ErrUndetermined, "an unknown key must not be refused")
	_, err = g.keys.Lookup(t.Context(), other)
	require.ErrorIs(t, err, keyring.ErrUndetermined, "a damaged document must not be served")
	_, err = g.policies.Pin(t.Context(), id.New[id.WorkspaceKind](ids), 0)
	require.ErrorIs(t, err, snapshot.ErrUndetermined)
	status := g.feed.Status()
	require.True(t, status.Stale())
	require.EqualValues(t, 1, status.Disk.Corrupt)

	w.nats.Start()
	g.eventually(func() bool { return !g.feed.Status().Stale() }, "NATS must confirm what came from disk")
	g.eventually(func() bool { _, err := g.keys.Lookup(t.Context(), newKID(t)); return isUnknown(err) }, "it must recover by itself")
	require.Equal(t, policy.KeyActive, g.status(other))
}

// What was revoked while the gateway was off is refused once NATS is there.
func TestWhatTheDiskHasIsCorrectedByNATS(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	g := w.gateway(dir, nil).following()
	g.status(kid)
	g.stop()
	w.key(kid, 2, policy.KeyRevoked)
	w.nats.Stop()
	g = w.gateway(dir, nil)
	require.Equal(t, policy.KeyActive, g.status(kid))
	w.nats.Start()
	g.eventually(func() bool { return g.status(kid) == policy.KeyRevoked }, "the revocation must be found")
}

func TestHeartbeatsTellWhoAndHowFar(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), nil).following()
	kid := newKID(t)
	w.key(kid, 1, policy.KeyActive)
	w.policy(1, 0)
	g.status(kid)
	g.revision(w.ws)
	var h wire.Heartbeat
	g.eventually(func() bool {
		h = reports.beat(g) // one of between the key and the policy tells of the key alone
		return h.KeysHeld == 1 && h.CatalogRevision == 1 && len(h.Workspaces) == 1
	}, "it must beat")
	require.Equal(t, map[string]int64{w.ws.String(): 1}, h.Workspaces)
	require.Equal(t, "127.0.0.1:1", h.Address)
	require.EqualValues(t, 7, h.SpoolPending)
	require.False(t, h.Stopping)
	g.stop()
	g.eventually(func() bool { return reports.beat(g).Stopping }, "the last one must say so")
}

func damage(t *testing.T, path string) {
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	body[len(body)-2] ^= 1
	require.NoError(t, os.WriteFile(path, body, 0o600))
}
