package publication

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

var (
	ids     = id.SystemSource()
	ws      = id.New[id.WorkspaceKind](ids)
	a, b    = id.New[id.GatewayKind](ids), id.New[id.GatewayKind](ids)
	start   = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	keysAt  = wire.Position{Stream: 1, Sequence: 10}
	polAt   = wire.Position{Stream: 2, Sequence: 20}
	nowhere = wire.Position{}
)

type fleet []Standing

func (f *fleet) Live() []Standing { return *f }

func living(list ...id.Gateway) *fleet {
	f := &fleet{}
	for _, g := range list {
		*f = append(*f, Standing{Gateway: g})
	}
	return f
}

func pub(revision int64, kids ...string) Publication {
	slices.Sort(kids)
	return Publication{ID: id.New[id.PublicationKind](ids), Workspace: ws, Revision: revision, KIDs: kids, CreatedAt: start}
}

func ack(t *Tracker, g id.Gateway, kid string, revision int64, after time.Duration) {
	t.Acknowledge(wire.Receipt{Gateway: g, Applied: []wire.AppliedEntry{{Workspace: ws, KID: kid, Revision: revision}}}, start.Add(after))
}

// follow opens p and tells that it is in NATS.
func follow(tr *Tracker, p Publication) {
	tr.Open(p)
	tr.Published(p.Workspace, p.Revision, start, nowhere, nowhere)
}

func receipts(t *testing.T, tr *Tracker, p Publication) Receipts {
	t.Helper()
	got, ok := tr.Receipts(p)
	require.True(t, ok)
	return got.Receipts
}

func TestAppliedMeansThePolicyAndEveryKey(t *testing.T) {
	tr := NewTracker(living(a))
	p := pub(5, "k1", "k2")
	follow(tr, p)
	for i, step := range []struct {
		kid      string
		revision int64
	}{{"", 5}, {"k1", 5}, {"other", 9}, {"k2", 4}} {
		ack(tr, a, step.kid, step.revision, time.Second)
		require.Equal(t, 0, receipts(t, tr, p).Applied, "step %d", i)
	}
	ack(tr, a, "k2", 7, 3*time.Second)
	got := receipts(t, tr, p)
	require.Equal(t, Receipts{Gateways: 1, Applied: 1, P50: 3 * time.Second, P99: 3 * time.Second}, got)
	ack(tr, a, "k2", 8, 9*time.Second)
	require.Equal(t, 3*time.Second, receipts(t, tr, p).P99, "the first time counts")
}

func TestAReceiptCoversEarlierRevisionsOnly(t *testing.T) {
	tr := NewTracker(living(a, b))
	early, late := pub(3), pub(6)
	follow(tr, late)
	follow(tr, early)
	ack(tr, a, "", 4, time.Second)
	require.Equal(t, 1, receipts(t, tr, early).Applied)
	got := receipts(t, tr, late)
	require.Equal(t, 0, got.Applied)
	require.Equal(t, 2, got.Pending)
	require.ElementsMatch(t, []id.Gateway{a, b}, got.PendingGateways)
}

func TestReceiptsThatCameBeforeTheTrackerKnewCount(t *testing.T) {
	tr := NewTracker(living(a))
	ack(tr, a, "k", 5, time.Second)
	ack(tr, a, "", 5, time.Second)
	p := pub(5, "k")
	follow(tr, p)
	require.Equal(t, 1, receipts(t, tr, p).Applied)
}

func TestWhoLeftCountsOnlyWhenItApplied(t *testing.T) {
	f := living(a, b)
	tr := NewTracker(f)
	p := pub(1, "k")
	follow(tr, p)
	ack(tr, a, "", 1, time.Second)
	ack(tr, a, "k", 1, time.Second)
	ack(tr, b, "k", 1, time.Second)
	*f = nil
	got := receipts(t, tr, p)
	require.Equal(t, 1, got.Gateways)
	require.Equal(t, 1, got.Applied)
	require.Zero(t, got.Pending)
}

func TestAPositionCountsForWhatIsPublishedInTheSameStream(t *testing.T) {
	for name, c := range map[string]struct {
		keys, policy       wire.Position // of the publication
		standKeys, standAt wire.Position // of the gateway
		want               int
	}{
		"passed both":        {keysAt, polAt, keysAt, polAt, 1},
		"before the keys":    {keysAt, polAt, wire.Position{Stream: 1, Sequence: 9}, polAt, 0},
		"before the policy":  {keysAt, polAt, keysAt, wire.Position{Stream: 2, Sequence: 19}, 0},
		"no keys in it":      {nowhere, polAt, nowhere, polAt, 1},
		"another stream":     {keysAt, polAt, wire.Position{Stream: 7, Sequence: 99}, polAt, 0},
		"gateway knows none": {keysAt, polAt, nowhere, nowhere, 0},
		"not published":      {nowhere, nowhere, keysAt, polAt, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tr := NewTracker(&fleet{{Gateway: a, Keys: c.standKeys, Policy: c.standAt}})
			p := pub(5)
			tr.Open(p)
			if name != "not published" {
				tr.Published(ws, 5, start, c.keys, c.policy)
			}
			require.Equal(t, c.want, receipts(t, tr, p).Applied)
		})
	}
}

func TestSettledWhenNobodyIsBehindOrTimeIsUp(t *testing.T) {
	f := living(a)
	tr := NewTracker(f)
	p := pub(1)
	tr.Open(p)
	require.Empty(t, tr.Settled(start.Add(time.Hour)), "an unpublished one is never settled")
	tr.Published(ws, 1, start, nowhere, polAt)
	require.Empty(t, tr.Settled(start.Add(SettleAfter)))
	require.Len(t, tr.Settled(start.Add(SettleAfter+time.Second)), 1)
	ack(tr, a, "", 1, time.Second)
	list := tr.Settled(start.Add(2 * time.Second))
	require.Len(t, list, 1)
	require.Equal(t, 1, list[0].Receipts.Applied)
	tr.Close(list...)
	require.Zero(t, tr.Len())
}

func TestTheTrackerIsBounded(t *testing.T) {
	tr := NewTracker(living())
	for i := range maxOpen + 10 {
		p := pub(int64(i + 1))
		p.Workspace = id.New[id.WorkspaceKind](ids)
		p.CreatedAt = start.Add(time.Duration(i))
		tr.count = max(tr.count, maxOpen-20) // as if many were open
		tr.Open(p)
		if i > 50 {
			break
		}
	}
	require.LessOrEqual(t, tr.Len(), maxOpen)
	tr.Sweep(start.Add(3 * SettleAfter))
	require.Empty(t, tr.open)
}

func TestSweepForgetsOldMarks(t *testing.T) {
	tr := NewTracker(living(a))
	ack(tr, a, "k", 5, time.Second)
	tr.Sweep(start.Add(time.Minute))
	require.Equal(t, 1, tr.marked)
	tr.Sweep(start.Add(2 * SettleAfter))
	require.Zero(t, tr.marked)
	require.Empty(t, tr.marks)
}

// Whatever the order of receipts and openings, the account is the same.
func TestTheOrderOfReceiptsAndOpeningsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := NewTracker(living(a, b))
		policy, key := map[id.Gateway]int64{}, map[id.Gateway]int64{}
		var open []Publication
		opened := map[int64]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			r := rapid.Int64Range(1, 6).Draw(t, "revision")
			if rapid.Bool().Draw(t, "open") {
				p := pub(r, "k")
				if !opened[r] {
					follow(tr, p)
					open, opened[r] = append(open, p), true
				}
				continue
			}
			g := rapid.SampledFrom([]id.Gateway{a, b}).Draw(t, "gateway")
			if rapid.Bool().Draw(t, "of the key") {
				ack(tr, g, "k", r, time.Second)
				key[g] = max(key[g], r)
			} else {
				ack(tr, g, "", r, time.Second)
				policy[g] = max(policy[g], r)
			}
		}
		for _, p := range open {
			want := 0
			for _, g := range []id.Gateway{a, b} {
				if min(policy[g], key[g]) >= p.Revision {
					want++
				}
			}
			got, _ := tr.Receipts(p)
			require.Equal(t, want, got.Receipts.Applied)
			require.Equal(t, 2-want, got.Receipts.Pending)
		}
	})
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	var all []time.Duration
	for i := 100; i >= 1; i-- {
		all = append(all, time.Duration(i))
	}
	require.EqualValues(t, 50, percentile(all, 50))
	require.EqualValues(t, 99, percentile(all, 99))
	require.EqualValues(t, 7, percentile([]time.Duration{7}, 99))
	require.Zero(t, percentile(nil, 50))
}

// TestALateLookInventsNoLatency opens a publication that was published long
// ago, when only later receipts are remembered.
func TestALateLookInventsNoLatency(t *testing.T) {
	tr := NewTracker(living(a))
	ack(tr, a, "", 5, time.Second)
	ack(tr, a, "", 9, 20*time.Second)
	old, last := pub(5), pub(9)
	published := start.Add(10 * time.Millisecond)
	old.PublishedAt, last.PublishedAt = &published, &published
	tr.Open(old)
	tr.Open(last)
	require.Equal(t, Receipts{Gateways: 1, Applied: 1}, receipts(t, tr, old))
	require.Equal(t, 20*time.Second, receipts(t, tr, last).P99, "its own receipt is remembered")
}

// A receipt for the revision of a change that is not in NATS is of another one.
func TestNobodyHasWhatIsNotPublished(t *testing.T) {
	tr := NewTracker(living(a, b))
	ack(tr, a, "", 8, time.Second)
	p := pub(5)
	tr.Open(p)
	ack(tr, b, "", 5, time.Second)
	require.Equal(t, Receipts{Gateways: 2, Pending: 2, PendingGateways: receipts(t, tr, p).PendingGateways}, receipts(t, tr, p))
	tr.Published(ws, 5, start, nowhere, polAt)
	require.Equal(t, 2, receipts(t, tr, p).Applied)
}

func TestAPublicationThatIsNumberedAnewLeavesItsReceiptsBehind(t *testing.T) {
	tr := NewTracker(living(a))
	lost, p := pub(6), pub(5)
	follow(tr, lost)
	tr.Open(p)
	ack(tr, a, "", 6, time.Second)
	early := p
	p.Revision = 9
	tr.Open(p)
	tr.Open(early) // by one who read before the number changed
	tr.Published(ws, 9, start, nowhere, polAt)
	require.Equal(t, 1, receipts(t, tr, p).Pending)
	require.Equal(t, 2, tr.Len())
	ack(tr, a, "", 9, time.Second)
	require.Equal(t, 1, receipts(t, tr, p).Applied)

	again := pub(6) // another change by the number of the one that is lost
	tr.Open(again)
	require.Equal(t, again.ID, tr.open[ws][0].p.ID)
}
