package publish_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestCommittedPolicyReachesNATS(t *testing.T) {
	w := newWorld(t)
	w.start(nil)
	ws := w.workspace()
	k, _ := w.key(ws)
	p := w.touch(ws, "acme/large")
	w.published(ws, p.Revision)
	s, _ := w.snapshot(ws)
	require.Equal(t, "acme/large", s.Settings.DefaultModel)
	require.Equal(t, policy.WorkspaceActive, s.Status)
	require.Equal(t, apikey.Document(k), w.document(k.KID))
}

func TestEveryWayAKeyChangesReachesItsDocument(t *testing.T) {
	w := newWorld(t)
	w.start(nil)
	ws := w.workspace()
	for name, what := range map[string]func(*apikey.Key){
		"pause":  func(k *apikey.Key) { k.Status = policy.KeyPaused },
		"revoke": func(k *apikey.Key) { k.Status = policy.KeyRevoked },
		"rotate": func(k *apikey.Key) { k.SecretHash = secret.Hash{1, 2, 3} },
		"expire": func(k *apikey.Key) { at := time.Now().UTC().Truncate(time.Microsecond); k.ExpiresAt = &at },
	} {
		t.Run(name, func(t *testing.T) {
			k, _ := w.key(ws)
			k, p := w.alter(k, what)
			w.eventually(func() bool { return w.document(k.KID).Revision == p.Revision }, "the document must follow")
			require.Equal(t, apikey.Document(k), w.document(k.KID))
		})
	}
}

func TestBurstsCoalesceAndNothingIsLeftBehind(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	list := []id.Workspace{w.workspace(), w.workspace(), w.workspace()}
	var last int64
	for range 20 {
		for _, ws := range list {
			last = w.touch(ws, "acme/small").Revision
		}
	}
	for _, ws := range list {
		w.published(ws, last)
	}
	require.Less(t, p.Status().Published, int64(63), "bursts must be published as one")
	w.eventually(func() bool { return w.waiting() == 0 }, "the outbox must run empty")
}

func (w *world) waiting() int {
	conn, err := w.db.Direct(w.t.Context())
	require.NoError(w.t, err)
	defer func() { _ = conn.Close(w.t.Context()) }()
	var n int
	require.NoError(w.t, conn.QueryRow(w.t.Context(), "SELECT count(*) FROM outbox").Scan(&n))
	return n
}

// Ids are given out before commit, so a row with a lower id may appear after
// rows with higher ones were published.
func TestOutboxRowsThatCommitOutOfOrderAreAllPublished(t *testing.T) {
	w := newWorld(t)
	w.start(nil)
	early, late := w.workspace(), w.workspace()
	held, release := make(chan struct{}), make(chan struct{})
	var slow sync.WaitGroup
	slow.Go(func() {
		_, err := w.deploy.Mutate(context.Background(), early, change("settings.update"), func(context.Context, int64) error { return nil })
		if err != nil {
			t.Errorf("mutate: %v", err)
		}
	})
	slow.Wait()
	slow.Go(func() {
		err := w.db.Runner().InTx(context.Background(), early, func(ctx context.Context) error {
			_, err := w.deploy.Mutate(ctx, early, change("settings.update"), func(context.Context, int64) error { return nil })
			close(held) // its rows and ids exist, uncommitted
			<-release
			return err
		})
		if err != nil {
			t.Errorf("mutate: %v", err)
		}
	})
	<-held
	p := w.touch(late, "acme/small") // a higher id, committed first
	w.published(late, p.Revision)
	w.eventually(func() bool { return w.waiting() == 0 }, "what is committed must be published")
	close(release)
	slow.Wait()
	w.published(early, 3)
	w.eventually(func() bool { return w.waiting() == 0 }, "the late row must be found")
}

// slowCompiler holds back its results, as a leader that lost its lead while
// it was compiling.
type slowCompiler struct {
	publish.Compiler
	compiled chan publish.Compiled
	release  chan struct{}
}

func (c *slowCompiler) Compile(ctx context.Context, ws id.Workspace) (publish.Compiled, error) {
	r, err := c.Compiler.Compile(ctx, ws)
	select {
	case c.compiled <- r:
		<-c.release
	default:
	}
	return r, err
}

// alwaysLead lets two publishers work at once.
type alwaysLead struct{}

func (alwaysLead) Lead(ctx context.Context, work func(context.Context, <-chan struct{}) error) error {
	return work(ctx, nil)
}

func TestALatePublisherCannotGoBack(t *testing.T) {
	w := newWorld(t)
	ws := w.workspace()
	k, _ := w.key(ws)
	slow := &slowCompiler{compiled: make(chan publish.Compiled, 1), release: make(chan struct{})}
	late := w.start(func(d *publish.Deps) {
		slow.Compiler = d.Compiler
		d.Compiler, d.Elector = slow, alwaysLead{}
	})
	stale := <-slow.compiled // compiled, and held before it writes
	w.eventually(func() bool { _, ok := w.pointer(wire.BucketCatalog, wire.CatalogPointer); return ok }, "the topology must be there")

	k, p := w.alter(k, func(k *apikey.Key) { k.Status = policy.KeyRevoked })
	require.Less(t, stale.Snapshot.Revision, p.Revision)
	w.start(func(d *publish.Deps) { d.Elector = alwaysLead{} })
	w.published(ws, p.Revision)
	w.eventually(func() bool { return w.document(k.KID).Status == policy.KeyRevoked }, "the key must be revoked")

	close(slow.release)
	w.eventually(func() bool { return late.Status().Published > 0 }, "the late publisher must have tried")
	s, _ := w.snapshot(ws)
	require.Equal(t, p.Revision, s.Revision, "the pointer must not go back")
	require.Equal(t, policy.KeyRevoked, w.document(k.KID).Status, "a revoked key must not come back")
}

func TestOnlyOneControlPlaneLeads(t *testing.T) {
	w := newWorld(t)
	a, b := w.start(nil), w.start(nil)
	leaders := func() int {
		n := 0
		for _, p := range []*plane{a, b} {
			if p.Status().Leading {
				n++
			}
		}
		return n
	}
	w.eventually(func() bool { return leaders() == 1 }, "one must lead")
	require.Never(t, func() bool { return leaders() > 1 }, time.Second, tick, "two must not")

	first, second := a, b
	if b.Status().Leading {
		first, second = b, a
	}
	first.stop()
	w.eventually(func() bool { return second.Status().Leading }, "the other must take over")
	ws := w.workspace()
	w.published(ws, 1)
}

func TestALostConnectionIsLostLeadership(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	w.eventually(func() bool { return p.Status().Leading }, "it must lead")
	conn, err := w.db.Direct(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`)
	require.NoError(t, err)
	w.eventually(func() bool { return !p.Status().Leading }, "it must notice")
	w.eventually(func() bool { return p.Status().Leading }, "it must stand again")
	w.published(w.workspace(), 1)
}

func TestTheOutboxWaitsWhileNATSIsAway(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	w.published(ws, 1)
	w.eventually(func() bool { return w.waiting() == 0 }, "the first publication must be marked")
	w.nats.Stop()
	pub := w.touch(ws, "acme/small")
	got, err := p.service.Wait(t.Context(), ws, pub.ID, 200*time.Millisecond)
	require.NoError(t, err)
	require.Nil(t, got.PublishedAt, "it must show as pending")
	require.Equal(t, 1, w.waiting())
	w.nats.Start()
	w.published(ws, pub.Revision)
}

func TestWipedNATSIsHealed(t *testing.T) {
	w := newWorld(t)
	p := w.start(nil)
	ws := w.workspace()
	k, _ := w.key(ws)
	other, _ := w.key(ws)
	pub := w.touch(ws, "acme/large")
	w.published(ws, pub.Revision)
	complete := func() bool {
		_, err := w.reader.Leader(t.Context(), wire.BucketKeys, wire.KeysComplete)
		return err == nil
	}
	w.eventually(complete, "the bucket must be marked complete")

	w.nats.Wipe()
	w.published(ws, pub.Revision)
	w.eventually(complete, "the bucket must be marked complete again")
	require.Equal(t, apikey.Document(k), w.document(k.KID))
	require.Equal(t, apikey.Document(other), w.document(other.KID))
	w.eventually(func() bool { c, ok := w.pointer(wire.BucketCatalog, wire.CatalogPointer); return ok && c.Revision == 1 },
		"the catalog must be back at its revision")
	w.eventually(func() bool { return p.Status().Healed >= 3 }, "healing must be counted")
}

func TestTheReconcilerRemovesAndRewrites(t *testing.T) {
	w := newWorld(t)
	w.nats.Ensure(w.nats.Connect())
	ws := w.workspace()
	k, _ := w.key(ws)
	unknown := apikey.Document(k)
	unknown.KID, unknown.Revision = "zzzzzzzzzzzzzzzz", 9
	stranger := id.New[id.WorkspaceKind](ids)
	_, err := w.writer.Key(t.Context(), unknown)
	require.NoError(t, err)
	_, err = w.writer.Pointer(t.Context(), wire.BucketPolicy, wire.PolicyPointer(stranger), policy.Pointer{Schema: 1, Revision: 3})
	require.NoError(t, err)
	require.NoError(t, w.writer.Mark(t.Context(), wire.BucketKeys, k.KID, []byte(`{"damaged`)))

	p := w.start(nil)
	w.eventually(func() bool { return p.Status().Reconciled > 0 }, "it must compare")
	require.Zero(t, w.document(unknown.KID), "a document that the database does not know must go")
	_, there := w.pointer(wire.BucketPolicy, wire.PolicyPointer(stranger))
	require.False(t, there, "a workspace that the database does not know must go")
	require.Equal(t, apikey.Document(k), w.document(k.KID), "a damaged document must be rewritten")
}

func TestTheCatalogKeepsItsRevisionWhileItsContentStays(t *testing.T) {
	w := newWorld(t)
	content := anyCatalog()
	revision := func() int64 { p, _ := w.pointer(wire.BucketCatalog, wire.CatalogPointer); return p.Revision }
	run := func() *plane {
		return w.start(func(d *publish.Deps) { d.Catalog = sourceFunc(func() catalog.Catalog { return content }) })
	}
	p := run()
	w.eventually(func() bool { return revision() == 1 }, "it must be published")
	p.stop()
	p = run()
	w.eventually(func() bool { return p.Status().Reconciled > 0 }, "it must lead again")
	require.Equal(t, int64(1), revision(), "the same content keeps its revision")
	p.stop()
	content.Providers = []catalog.Provider{{Slug: "acme", Type: catalog.OpenAI, BaseURL: "https://acme.example/v1"}}
	p = run()
	w.eventually(func() bool { return revision() == 2 }, "other content gets the next")
	p.stop()
	content = anyCatalog()
	run()
	w.eventually(func() bool { return revision() == 3 }, "content that comes back gets a new one")
}
