package publish_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// known waits until the control plane counts n live gateways.
func (w *world) known(p *plane, n int) {
	w.t.Helper()
	w.eventually(func() bool {
		list, err := p.fleet.List(w.t.Context())
		live := 0
		for _, g := range list {
			if g.State == gateway.Live {
				live++
			}
		}
		return err == nil && live == n
	}, "the gateways must be known")
}

func TestWaitReturnsWhenEveryLiveGatewayApplied(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	w.gateway()
	w.gateway()
	slow := w.gateway()
	w.known(p, 3)
	slow.silent.Store(true)

	k, pub := w.key(ws)
	got, err := p.service.Wait(t.Context(), ws, pub.ID, 2*time.Second)
	require.NoError(t, err)
	require.NotNil(t, got.PublishedAt)
	require.Equal(t, publication.Receipts{
		Gateways: 3, Applied: 2, Pending: 1, P50: got.Receipts.P50, P99: got.Receipts.P99,
		PendingGateways: got.Receipts.PendingGateways,
	}, got.Receipts)
	require.Equal(t, slow.id, got.Receipts.PendingGateways[0])
	require.Positive(t, got.Receipts.P50)
	require.GreaterOrEqual(t, got.Receipts.P99, got.Receipts.P50)

	slow.silent.Store(false)
	_, pub = w.alter(k, func(k *apikey.Key) { k.Status = policy.KeyRevoked })
	got, err = p.service.Wait(t.Context(), ws, pub.ID, soon)
	require.NoError(t, err)
	require.True(t, got.Done())
	require.Equal(t, 3, got.Receipts.Applied)
}

// The missed push of a gateway is settled by the position in its heartbeat.
func TestAHeartbeatBeyondThePublicationCounts(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	g := w.gateway()
	w.known(p, 1)
	g.silent.Store(true)
	_, pub := w.key(ws)
	w.published(ws, pub.Revision)
	got, err := p.service.Wait(t.Context(), ws, pub.ID, 100*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, 1, got.Receipts.Pending)

	keys, err := w.reader.State(t.Context(), wire.BucketKeys)
	require.NoError(t, err)
	policies, err := w.reader.State(t.Context(), wire.BucketPolicy)
	require.NoError(t, err)
	g.beating.Store(false)
	h := g.base
	h.Keys = keys.End // the policy's is missing: not enough
	g.beat(h)
	got, err = p.service.Wait(t.Context(), ws, pub.ID, 100*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, 1, got.Receipts.Pending)
	h.Policy = policies.End
	g.beat(h)
	got, err = p.service.Wait(t.Context(), ws, pub.ID, soon)
	require.NoError(t, err)
	require.True(t, got.Done())
	require.Equal(t, 1, got.Receipts.Applied)
	require.Zero(t, got.Receipts.P50, "a heartbeat tells no latency")
}

func TestAStoppedGatewayIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	g := w.gateway()
	w.known(p, 1)
	g.silent.Store(true)
	g.beating.Store(false)
	h := g.base
	h.Stopping = true
	g.beat(h)
	w.known(p, 0)
	got, err := p.service.Wait(t.Context(), ws, w.touch(ws, "acme/small").ID, soon)
	require.NoError(t, err)
	require.True(t, got.Done())
	require.Zero(t, got.Receipts.Gateways)
}

// A control plane that did not lead, or just started, gives the same answer.
func TestReceiptsOutliveTheControlPlane(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	w.gateway()
	w.known(p, 1)
	_, pub := w.key(ws)
	got, err := p.service.Wait(t.Context(), ws, pub.ID, soon)
	require.NoError(t, err)
	w.eventually(func() bool { return p.tracker.Len() == 0 }, "the account must be closed")
	p.stop()

	next := w.start(nil)
	again, err := next.service.Get(t.Context(), ws, pub.ID)
	require.NoError(t, err)
	require.Equal(t, got.Receipts.Applied, again.Receipts.Applied)
	require.InDelta(t, got.Receipts.P99, again.Receipts.P99, float64(time.Microsecond))
	list, err := next.service.List(t.Context(), ws, page.Query{})
	require.NoError(t, err)
	require.Equal(t, pub.ID, list.Items[0].ID, "newest first")
	require.Equal(t, []string{"key.create"}, list.Items[0].Changes)
}

func TestAFollowerWaitsForWhatTheLeaderPublishes(t *testing.T) {
	w := newWorld(t)
	a, b := w.start(nil), w.start(nil)
	w.eventually(func() bool { return a.Status().Leading != b.Status().Leading }, "one must lead")
	follower := a
	if a.Status().Leading {
		follower = b
	}
	ws := w.workspace()
	w.published(ws, 1)
	w.gateway()
	w.known(follower, 1)
	_, pub := w.key(ws)
	got, err := follower.service.Wait(t.Context(), ws, pub.ID, soon)
	require.NoError(t, err)
	require.True(t, got.Done())
	require.Equal(t, 1, got.Receipts.Applied)
}
