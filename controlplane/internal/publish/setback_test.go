package publish_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// setBack makes the database forget the revisions of ws after to, as a backup
// does that was taken then.
func (w *world) setBack(ws id.Workspace, to int64) {
	w.t.Helper()
	conn, err := w.db.Direct(w.t.Context())
	require.NoError(w.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range []string{
		"ALTER TABLE workspace_revisions DISABLE TRIGGER workspace_revisions_rise",
		"UPDATE workspace_revisions SET revision = $2 WHERE workspace_id = $1",
		"ALTER TABLE workspace_revisions ENABLE TRIGGER workspace_revisions_rise",
		"UPDATE published_policies SET revision = $2 WHERE workspace_id = $1",
		"DELETE FROM outbox WHERE workspace_id = $1 AND revision > $2",
		"DELETE FROM publications WHERE workspace_id = $1 AND revision > $2",
		"UPDATE api_keys SET revision = $2 WHERE workspace_id = $1 AND revision > $2",
	} {
		var args []any
		if statement[0] != 'A' {
			args = []any{ws.UUID(), to}
		}
		_, err := conn.Exec(w.t.Context(), statement, args...)
		require.NoError(w.t, err, statement)
	}
}

// aged is a workspace with a key, published up to a revision and then set back
// by steps. NATS, and what the control plane remembers of receipts, are not.
func (w *world) aged(p *plane, steps int64) (ws id.Workspace, k apikey.Key, published int64) {
	ws = w.workspace()
	k, _ = w.key(ws)
	var last publication.Publication
	for range 4 {
		k, last = w.alter(k, func(k *apikey.Key) { k.Name += "+" })
	}
	got, err := p.service.Wait(w.t.Context(), ws, last.ID, soon)
	require.NoError(w.t, err)
	require.True(w.t, got.Done())
	// A database that is set back cuts off whoever is at work on it. Here nobody
	// is: neither the publisher nor the first comparison, which publishes too.
	w.eventually(func() bool { return w.waiting() == 0 && p.Status().Reconciled > 0 }, "all must have been done")
	w.setBack(ws, last.Revision-steps)
	k.Revision = min(k.Revision, last.Revision-steps)
	return ws, k, last.Revision
}

// TestADatabaseThatWasSetBackPublishesAboveWhatIsThere is over how many changes
// wait at once, fewer than were lost, as many, or more.
func TestADatabaseThatWasSetBackPublishesAboveWhatIsThere(t *testing.T) {
	for name, c := range map[string]struct{ lost, changes int64 }{
		"far behind": {4, 1}, "the same number": {1, 1}, "as many": {3, 3}, "overtaken": {1, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(nil)
			g := w.gateway()
			w.known(p, 1)
			ws, k, published := w.aged(p, c.lost)
			p.stop() // so that the changes wait together
			var pubs []publication.Publication
			for range c.changes {
				pubs = append(pubs, w.touch(ws, "acme/new"))
			}
			k, revoked := w.alter(k, func(k *apikey.Key) { k.Status = policy.KeyRevoked })
			pubs = append(pubs, revoked)

			g.silent.Store(true)
			p = w.start(nil)
			w.known(p, 1)
			for r := int64(1); r <= published; r++ { // as who heard them when they came
				p.tracker.Acknowledge(wire.Receipt{Gateway: g.id, Applied: []wire.AppliedEntry{
					{Workspace: ws, Revision: r}, {Workspace: ws, KID: k.KID, Revision: r},
				}}, time.Now())
			}
			w.published(ws, published+c.changes+1)
			s, _ := w.snapshot(ws)
			require.Equal(t, "acme/new", s.Settings.DefaultModel)
			require.Equal(t, policy.KeyRevoked, w.document(k.KID).Status)
			require.Equal(t, s.Revision, w.document(k.KID).Revision, "the key stays with its change")
			for i, pub := range pubs {
				got, err := p.service.Wait(t.Context(), ws, pub.ID, 200*time.Millisecond)
				require.NoError(t, err)
				require.Equal(t, s.Revision-c.changes+int64(i), got.Revision, "they keep their order")
				require.Greater(t, got.Revision, published)
				require.Equal(t, 1, got.Receipts.Pending, "a receipt of what was lost must not count")
			}
			g.silent.Store(false)
			last := w.touch(ws, "acme/newer")
			got, err := p.service.Wait(t.Context(), ws, last.ID, soon)
			require.NoError(t, err)
			require.True(t, got.Done())
			require.Equal(t, s.Revision+1, got.Revision, "what follows is in order")
			require.EqualValues(t, 1, p.Status().Raised)
		})
	}
}

// A workspace may be deleted as the first change after the database was set back.
func TestADeletedWorkspaceIsNumberedAnewToo(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws, _, published := w.aged(p, 3)
	_, err := w.deploy.Mutate(t.Context(), ws, change("workspace.delete"), func(ctx context.Context, _ int64) error {
		gone, err := postgres.NewWorkspaceStore().Get(ctx, ws)
		if err != nil {
			return err
		}
		gone.Status = policy.WorkspaceDeleted
		gone.Version++
		return postgres.NewWorkspaceStore().Update(ctx, gone)
	})
	require.NoError(t, err)
	w.published(ws, published+1)
	s, _ := w.snapshot(ws)
	require.Equal(t, policy.WorkspaceDeleted, s.Status)
}
