package publish_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// What NATS loses of one workspace is put back by the comparison, and nothing
// is written of another.
func TestWhatNATSLostOfAPolicyIsPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		model string // its length decides where the body lies
		lose  func(w *world, js jetstream.JetStream, ws id.Workspace, p policy.Pointer)
	}{
		"a body": {"acme/small", func(w *world, js jetstream.JetStream, _ id.Workspace, p policy.Pointer) {
			require.Equal(w.t, policy.InKV, p.Where)
			w.erase(js, p.Name)
		}},
		"a purged body": {"acme/small", func(w *world, js jetstream.JetStream, _ id.Workspace, p policy.Pointer) {
			kv, err := js.KeyValue(w.t.Context(), wire.BucketPolicy)
			require.NoError(w.t, err)
			require.NoError(w.t, kv.Purge(w.t.Context(), p.Name))
		}},
		"a large body": {"acme/" + strings.Repeat("x", wire.MaxKVBody), func(w *world, js jetstream.JetStream, _ id.Workspace, p policy.Pointer) {
			require.Equal(w.t, policy.InObject, p.Where)
			objects, err := js.ObjectStore(w.t.Context(), wire.ObjectSnapshots)
			require.NoError(w.t, err)
			require.NoError(w.t, objects.Delete(w.t.Context(), p.Name))
		}},
		"a pointer": {"acme/small", func(w *world, js jetstream.JetStream, ws id.Workspace, _ policy.Pointer) {
			w.erase(js, wire.PolicyPointer(ws))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(nil)
			ws, other := w.workspace(), w.workspace()
			pub := w.touch(ws, c.model)
			w.published(ws, pub.Revision)
			w.published(other, 1)
			w.eventually(func() bool { return w.waiting() == 0 }, "all must be marked")
			p.stop()
			pointer, _ := w.pointer(wire.BucketPolicy, wire.PolicyPointer(ws))
			c.lose(w, w.nats.Connect().JetStream(), ws, pointer)
			_, ok := w.snapshot(ws)
			require.False(t, ok)

			p = w.start(nil)
			w.eventually(func() bool { return p.Status().Reconciled > 0 }, "it must compare")
			s, ok := w.snapshot(ws)
			require.True(t, ok, "what was lost must be back")
			require.Equal(t, pub.Revision, s.Revision)
			require.EqualValues(t, 1, p.Status().Healed)
		})
	}
}

// erase loses a document without a trace.
func (w *world) erase(js jetstream.JetStream, key string) {
	w.t.Helper()
	s, err := js.Stream(w.t.Context(), "KV_"+wire.BucketPolicy)
	require.NoError(w.t, err)
	require.NoError(w.t, s.Purge(w.t.Context(), jetstream.WithPurgeSubject("$KV."+wire.BucketPolicy+"."+key)))
}

// The frequent comparison counts pointers, so that a lost one does not wait for
// the full one.
func TestTheFrequentComparisonMissesAPointer(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	w.eventually(func() bool { return w.waiting() == 0 && p.Status().Reconciled > 0 }, "all must be marked")
	compare := p.Comparisons(t.Context())
	require.NoError(t, compare())
	full := p.Status().Reconciled
	require.NoError(t, compare())
	require.Equal(t, full, p.Status().Reconciled, "nothing differs, so nothing is read")

	w.erase(w.nats.Connect().JetStream(), wire.PolicyPointer(ws))
	require.NoError(t, compare())
	require.Equal(t, full+1, p.Status().Reconciled)
	s, ok := w.snapshot(ws)
	require.True(t, ok, "the pointer must be back")
	require.EqualValues(t, 1, s.Revision)
}
