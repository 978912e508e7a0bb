package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/outbox"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestPublicationRowsRoundTrip(t *testing.T) {
	for seed := 1; seed <= 2; seed++ {
		r := fill.Value[publication.Record](seed)
		r.Receipts.Pending = len(r.Receipts.PendingGateways) // the list says it
		r.Receipts.P50, r.Receipts.P99 = time.Duration(seed)*time.Millisecond, time.Duration(seed)*time.Second
		require.Equal(t, r, publicationRowOf(r).record())
		require.Empty(t, fill.Zero(publicationRowOf(r)))
	}
	for seed, state := range []gateway.State{gateway.Live, gateway.Stopped} {
		g := fill.Value[gateway.Gateway](seed + 1)
		g.State = state
		require.Equal(t, g, gatewayRowOf(g).gateway())
	}
	stopped := fill.Value[gateway.Gateway](1)
	stopped.State = gateway.Stopped
	require.Empty(t, fill.Zero(gatewayRowOf(stopped)))
}

func newMutator(db *DB) *deploy.Mutator {
	return deploy.New(db.Runner(), NewPublicationStore(), NewAuditStore(), testIDs, time.Now)
}

func testChange() *deploy.Change {
	return &deploy.Change{Actor: audit.Actor{Kind: audit.System}, Action: "test.change", TargetType: "test", KIDs: []string{"b", "a", "b"}}
}

func pending(t *testing.T, db *DB) []outbox.Batch {
	t.Helper()
	list, err := NewOutbox(db).Pending(t.Context(), 10, nil)
	require.NoError(t, err)
	return list
}

func TestAMutationHappensWholeOrNotAtAll(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	m := newMutator(db)
	failed := errors.New("no")
	_, err := m.Mutate(t.Context(), w.ID, testChange(), func(context.Context, int64) error { return failed })
	require.ErrorIs(t, err, failed)
	require.Empty(t, pending(t, db), "a failed change leaves nothing")

	p, err := m.Mutate(t.Context(), w.ID, testChange(), func(_ context.Context, revision int64) error {
		require.EqualValues(t, 1, revision, "the failed change used no revision")
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, p.KIDs)
	batches := pending(t, db)
	require.Len(t, batches, 1)
	require.Equal(t, p.ID, batches[0].Publications[0].ID)
	in(t, db, w.ID, func(ctx context.Context) error {
		events, err := NewAuditStore().List(ctx, w.ID, page.Query{}, audit.Filter{Action: "test.change"})
		require.Len(t, events.Items, 1)
		require.EqualValues(t, 1, events.Items[0].Revision)
		return err
	})
	_, err = m.Mutate(t.Context(), id.New[id.WorkspaceKind](testIDs), testChange(), func(context.Context, int64) error { return nil })
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
}

// A change that fails comes to nothing, whatever was made before it did.
func TestAMutationReturnsWhatItMade(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	failed := errors.New("no")
	made, p, err := deploy.Mutate(t.Context(), newMutator(db), w.ID, testChange(), func(context.Context, int64) (string, error) { return "half", failed })
	require.ErrorIs(t, err, failed)
	require.Empty(t, made)
	require.Zero(t, p)
	made, p, err = deploy.Mutate(t.Context(), newMutator(db), w.ID, testChange(), func(context.Context, int64) (string, error) { return "whole", nil })
	require.NoError(t, err)
	require.Equal(t, "whole", made)
	require.EqualValues(t, 1, p.Revision)
}

func TestConcurrentMutationsTakeTurns(t *testing.T) {
	db := openTest(t)
	w, _ := newWorkspace(t, db)
	m := newMutator(db)
	var mu sync.Mutex
	var order []int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := m.Mutate(context.Background(), w.ID, testChange(), func(_ context.Context, revision int64) error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, revision)
				return nil
			})
			if err != nil {
				t.Errorf("mutate: %v", err)
			}
		})
	}
	wg.Wait()
	require.Len(t, order, 20)
	require.True(t, slices.IsSorted(order), "the revision row is locked first: %v", order)
}

func TestPublicationsOfOthersAreNotFound(t *testing.T) {
	db := openTest(t)
	mine, _ := newWorkspace(t, db)
	other, _ := newWorkspace(t, db)
	p, err := newMutator(db).Mutate(t.Context(), other.ID, testChange(), func(context.Context, int64) error { return nil })
	require.NoError(t, err)
	in(t, db, mine.ID, func(ctx context.Context) error {
		_, err := NewPublicationStore().Get(ctx, mine.ID, p.ID)
		require.True(t, fault.Is(err, fault.NotFound))
		list, err := NewPublicationStore().List(ctx, mine.ID, page.Query{})
		require.Empty(t, list.Items)
		return err
	})
	err = db.Runner().InTx(t.Context(), mine.ID, func(ctx context.Context) error {
		foreign := p
		foreign.ID, foreign.Revision = id.New[id.PublicationKind](testIDs), 99
		row := publicationRowOf(publication.Record{Publication: foreign})
		return tenant(ctx, mine.ID).Create(&row).Error
	})
	require.ErrorContains(t, err, "row-level security")
}

func TestTheOutboxMarksRowsOneByOne(t *testing.T) {
	db := openTest(t)
	a, _ := newWorkspace(t, db)
	b, _ := newWorkspace(t, db)
	m, o := newMutator(db), NewOutbox(db)
	for _, ws := range []id.Workspace{a.ID, a.ID, b.ID, a.ID} {
		_, err := m.Mutate(t.Context(), ws, testChange(), func(context.Context, int64) error { return nil })
		require.NoError(t, err)
	}
	batches := pending(t, db)
	require.Len(t, batches, 2)
	require.Equal(t, a.ID, batches[0].Workspace, "who waits longest comes first")
	require.Len(t, batches[0].Publications, 3)
	skipped, err := o.Pending(t.Context(), 10, []id.Workspace{a.ID})
	require.NoError(t, err)
	require.Len(t, skipped, 1)

	done := outbox.Done{Workspace: a.ID, Revision: 2, At: epoch, Keys: wire.Position{Stream: 1, Sequence: 2}, Policy: wire.Position{Stream: 3, Sequence: 4}}
	covered, err := o.Done(t.Context(), done)
	require.NoError(t, err)
	require.NotEmpty(t, covered)
	for _, p := range covered {
		require.LessOrEqual(t, p.Revision, done.Revision)
	}
	covered, err = o.Done(t.Context(), done)
	require.NoError(t, err, "twice is as good as once")
	require.Empty(t, covered)
	left := pending(t, db)
	require.Len(t, left, 2)
	require.Equal(t, b.ID, left[0].Workspace, "now it waits longest")
	require.Len(t, left[1].Publications, 1)
	require.EqualValues(t, 3, left[1].Publications[0].Revision)

	open, err := o.Open(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, open, 2)
	require.Equal(t, done.Keys, open[0].Keys)
	require.Equal(t, done.Policy, open[0].Policy)
	settled := open[0].Publication
	settled.Receipts = publication.Receipts{
		Gateways: 3, Applied: 2, Pending: 1, P50: time.Millisecond, P99: time.Second,
		PendingGateways: []id.Gateway{id.New[id.GatewayKind](testIDs)},
	}
	require.NoError(t, o.Settle(t.Context(), []publication.Publication{settled}, epoch))
	in(t, db, a.ID, func(ctx context.Context) error {
		got, err := NewPublicationStore().Get(ctx, a.ID, settled.ID)
		require.Equal(t, settled.Receipts, got.Receipts)
		require.NotNil(t, got.SettledAt)
		return err
	})
	require.NoError(t, o.Prune(t.Context(), epoch.Add(time.Second), 10))
	open, err = o.Open(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, open, 1, "only settled ones are deleted")
}

// The database's formula and the publisher's are one.
func TestTheLedgerSumsAsThePublisherDoes(t *testing.T) {
	db := openTest(t)
	ctx := t.Context()
	keys, policies := publish.Sums{}, publish.Sums{}
	var all []policy.Key
	for range 3 {
		w, owner := newWorkspace(t, db)
		var revision int64
		for seed := 1; seed <= 4; seed++ {
			k := filledKey(t, owner, seed)
			_, err := newMutator(db).Mutate(ctx, w.ID, testChange(), func(ctx context.Context, r int64) error {
				revision, k.Revision, k.MinRevision = r, r, 0
				return NewAPIKeyStore().Create(ctx, w.ID, k)
			})
			require.NoError(t, err)
			keys.Add(publish.KeyRange(k.KID), k.KID, k.Revision)
			all = append(all, apikey.Document(k))
		}
		policies.Add(publish.PolicyRange(w.ID), w.ID.UUID().String(), revision)
	}
	newWorkspace(t, db) // revision 0: nothing to publish yet
	l := NewLedger(db)
	got, err := l.KeyRanges(ctx)
	require.NoError(t, err)
	require.Equal(t, keys, got)
	got, err = l.PolicyRanges(ctx)
	require.NoError(t, err)
	require.Equal(t, policies, got)
	for _, k := range all {
		list, err := l.Keys(ctx, publish.KeyRange(k.KID))
		require.NoError(t, err)
		require.Contains(t, list, k)
		own, err := l.Policies(ctx, publish.PolicyRange(k.Workspace))
		require.NoError(t, err)
		require.EqualValues(t, 4, own[k.Workspace])
	}
}

func TestTheCompilerReadsWhatChangedSince(t *testing.T) {
	db := openTest(t)
	w, owner := newWorkspace(t, db)
	c := NewCompiler(db)
	add := func(seed int) apikey.Key {
		k := filledKey(t, owner, seed)
		k.MinRevision = 0
		_, err := newMutator(db).Mutate(t.Context(), w.ID, testChange(), func(ctx context.Context, r int64) error {
			k.Revision = r
			return NewAPIKeyStore().Create(ctx, w.ID, k)
		})
		require.NoError(t, err)
		return k
	}
	first := add(1)
	got, err := c.Compile(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, []policy.Key{apikey.Document(first)}, got.Keys)
	require.Equal(t, policy.Snapshot{
		Schema: policy.Schema, Workspace: w.ID, Revision: 1, Status: policy.WorkspaceActive,
		Tags: []string{"a", "b,{\"}"}, Settings: policy.DefaultSettings(), Profiles: []policy.Profile{profileOf(w.ID).Published()},
		Departments: []policy.Department{departmentOf(w.ID).Published()},
	}, got.Snapshot)
	_, err = NewOutbox(db).Done(t.Context(), outbox.Done{Workspace: w.ID, Revision: 1, At: epoch})
	require.NoError(t, err)
	second := add(2)
	got, err = c.Compile(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, []policy.Key{apikey.Document(second)}, got.Keys)
}

func TestGatewaysAreStoredByTheirLatestHeartbeat(t *testing.T) {
	s := NewGatewayStore(openTest(t))
	g := gateway.Gateway{ID: id.New[id.GatewayKind](testIDs), Instance: "one", StartedAt: epoch, LastSeenAt: epoch.Add(time.Minute), State: gateway.Live}
	earlier := g
	earlier.Instance, earlier.LastSeenAt = "zero", epoch
	for _, list := range [][]gateway.Gateway{{earlier}, {g}, {earlier}} {
		require.NoError(t, s.Put(t.Context(), list))
	}
	got, err := s.All(t.Context())
	require.NoError(t, err)
	require.Equal(t, []gateway.Gateway{g}, got)
	require.NoError(t, s.Prune(t.Context(), g.LastSeenAt.Add(time.Second)))
	got, err = s.All(t.Context())
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestCatalogRevisionsRise(t *testing.T) {
	c := NewCatalogRevisions(openTest(t))
	one, two := policy.Digest([]byte("1")), policy.Digest([]byte("2"))
	for i, step := range []struct {
		digest string
		floor  int64
		want   int64
	}{
		{one, 0, 1}, {one, 1, 1}, {two, 1, 2}, {one, 2, 3}, {one, 9, 10}, {one, 10, 10}, {two, 0, 11},
	} {
		got, err := c.Of(t.Context(), step.digest, step.floor, epoch)
		require.NoError(t, err)
		require.Equal(t, step.want, got, "step %d", i)
	}
}

// A gateway that stays behind is not forgotten with the account that it left
// open: where the change lies stays known.
func TestHowFarAChangeHasComeIsKnownAfterItsAccountIsClosed(t *testing.T) {
	db := openTest(t)
	first, _ := newWorkspace(t, db)
	second, _ := newWorkspace(t, db)
	m, o, progress := newMutator(db), NewOutbox(db), NewPublicationProgress(db)
	change := func(ws id.Workspace, action string) publication.Publication {
		t.Helper()
		c := testChange()
		c.Action = action
		p, err := m.Mutate(t.Context(), ws, c, func(context.Context, int64) error { return nil })
		require.NoError(t, err)
		return p
	}
	published := func(p publication.Publication, at wire.Position) {
		t.Helper()
		_, err := o.Done(t.Context(), outbox.Done{Workspace: p.Workspace, Revision: p.Revision, At: epoch, Policy: at})
		require.NoError(t, err)
	}
	is := func(open int, reach ...wire.Position) {
		t.Helper()
		n, at, err := progress.Progress(t.Context(), "test.far")
		require.NoError(t, err)
		require.Equal(t, open, n)
		require.Equal(t, reach, at)
	}
	is(0)
	one, two := change(first.ID, "test.far"), change(second.ID, "test.far")
	is(2)
	published(one, wire.Position{Stream: 7, Sequence: 4})
	published(two, wire.Position{Stream: 7, Sequence: 9})
	published(change(first.ID, "test.other"), wire.Position{Stream: 7, Sequence: 30})
	is(2, wire.Position{Stream: 7, Sequence: 9})
	require.NoError(t, o.Settle(t.Context(), []publication.Publication{one, two}, epoch))
	is(0, wire.Position{Stream: 7, Sequence: 9})
}
