package feed_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// newer is a snapshot that a gateway of this version cannot read, as one with
// limits is for the version before them.
func (w *world) newer(revision int64) {
	s := w.snapshot(revision)
	s.Limits = &policy.Limits{}
	s = s.Versioned()
	s.Schema++
	w.snapshotAs(s)
}

// What a gateway cannot read it neither serves nor says to have, by a receipt
// or by its position, until there is something that it can read.
func TestAPolicyOfANewerSchemaStaysPending(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), often).following()
	w.policy(1, 0)
	require.EqualValues(t, 1, g.revision(w.ws))
	g.eventually(func() bool { return reports.beat(g).Policy.Sequence > 0 }, "it must have a position")

	w.newer(2)
	written := w.end(wire.BucketPolicy)
	failures := g.feed.Status().Failures
	g.eventually(func() bool { return g.feed.Status().Failures > failures+3 }, "it must try, and catch up in vain")
	require.EqualValues(t, 1, g.revision(w.ws), "the last good one is served")
	require.False(t, reports.acknowledged(g, w.ws, "", 2)())
	require.Less(t, reports.beat(g).Policy.Sequence, written)

	w.policy(3, 0)
	g.eventually(reports.acknowledged(g, w.ws, "", 3), "it goes on")
	g.eventually(func() bool { return reports.beat(g).Policy.Sequence > written }, "and so does its position")
	require.EqualValues(t, 3, g.revision(w.ws))
}

// The same for a pointer.
func TestAPointerOfANewerSchemaIsNotPassedOver(t *testing.T) {
	w := newWorld(t)
	reports := w.listen(nil)
	g := w.gateway(t.TempDir(), often).following()
	w.policy(1, 0)
	require.EqualValues(t, 1, g.revision(w.ws))
	p, err := json.Marshal(policy.Pointer{Schema: policy.Schema + 1, Revision: 2})
	require.NoError(t, err)
	require.NoError(t, w.write.Mark(t.Context(), wire.BucketPolicy, wire.PolicyPointer(w.ws), p))
	written := w.end(wire.BucketPolicy)
	failures := g.feed.Status().Failures
	g.eventually(func() bool { return g.feed.Status().Failures > failures+3 }, "it must try, and catch up in vain")
	require.EqualValues(t, 1, g.revision(w.ws))
	require.Less(t, reports.beat(g).Policy.Sequence, written)
}

func often(o *feed.Options) { o.PollEvery = 10 * tick }

func (w *world) end(bucket string) uint64 {
	state, err := document.NewReader(w.nats.Ready()).State(w.t.Context(), bucket)
	require.NoError(w.t, err)
	return state.End.Sequence
}
