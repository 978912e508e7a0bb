package spool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	// A publisher that ends right after its first publish leaves this goroutine
	// behind, when it was not scheduled before (nats.go v1.55.0, newAsyncReply).
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

var (
	ids = id.SystemSource()
	ws  = id.New[id.WorkspaceKind](ids)
)

func open(t *testing.T, dir string, opts Options) *Spool {
	t.Helper()
	s, err := Open(dir, opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func newRequest() id.Request { return id.New[id.RequestKind](ids) }

func intentOf(req id.Request) Intent {
	return Intent{
		ID: req, Workspace: ws, Surface: "chat", StartedAt: req.Time(),
		DecidedModel: "acme/large", Provider: "acme", Usage: meter.Usage{Input: 7}, Cost: meter.Cost{Total: 21},
	}
}

func eventOf(req id.Request) wire.UsageEvent {
	return wire.UsageEvent{
		Schema: wire.UsageSchema, ID: req, PrimaryID: req, Workspace: ws, Surface: "chat",
		StartedAt: req.Time(), Outcome: wire.Success, Status: 200, DecidedModel: "acme/large", Attempts: 1,
		Usage: meter.Usage{Input: 5, Output: 9}, Decision: json.RawMessage(`{"sequence":0}`),
	}
}

// stored reads every event of the directory, as the shipper does.
func stored(t *testing.T, s *Spool) []wire.UsageEvent {
	t.Helper()
	s.flush()
	c := cursor{s: s}
	defer c.close()
	var list []wire.UsageEvent
	for {
		e, ok, err := c.next()
		require.NoError(t, err)
		if !ok {
			return list
		}
		if e.lost {
			list = append(list, wire.UsageEvent{Sequence: e.seq, Reason: string(e.body), Attempts: int(e.last - e.seq + 1), Outcome: "lost"})
			continue
		}
		var ev wire.UsageEvent
		require.NoError(t, json.Unmarshal(e.body, &ev))
		require.Equal(t, e.seq, ev.Sequence, "the body must hold the frame's sequence")
		require.Equal(t, e.id, ev.ID)
		require.Equal(t, e.unknown, ev.Outcome == wire.Unknown)
		list = append(list, ev)
	}
}

func TestCompleteKeepsTheEventWithTheNextSequence(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	first, second, third := newRequest(), newRequest(), newRequest()
	require.NoError(t, s.Intent(intentOf(first)))
	require.Equal(t, 1, s.Status().Open)
	fallback := eventOf(second)
	fallback.PrimaryID = first
	require.NoError(t, s.Complete(eventOf(first), fallback))
	require.NoError(t, s.Complete(eventOf(third)))

	got := stored(t, s)
	require.Len(t, got, 3)
	want := eventOf(first)
	want.Gateway, want.Sequence = s.GatewayID(), 1
	want.StartedAt = got[0].StartedAt
	require.True(t, got[0].StartedAt.Equal(first.Time()))
	require.Equal(t, want, got[0])
	require.Equal(t, first, got[1].PrimaryID)
	require.Equal(t, []uint64{1, 2, 3}, sequences(got))
	require.Zero(t, s.Status().Open)
	require.EqualValues(t, 3, s.Status().Pending)
}

func sequences(list []wire.UsageEvent) []uint64 {
	var seqs []uint64
	for _, ev := range list {
		seqs = append(seqs, ev.Sequence)
	}
	return seqs
}

func TestIntentWithoutCompletionBecomesUnknown(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	done, lost := newRequest(), newRequest()
	in := intentOf(lost)
	in.Key, in.User, in.PrimaryID = id.New[id.KeyKind](ids), id.New[id.UserKind](ids), done
	in.Stream, in.SessionID, in.EndUser, in.ClientRequestID, in.Purpose = true, "s", "u", "c", "p"
	in.RequestedModel, in.Endpoint, in.PolicyRevision, in.CatalogRevision = "large", "acme/large@eu", 3, 4
	require.NoError(t, s.Intent(intentOf(done)))
	require.NoError(t, s.Intent(in))
	require.NoError(t, s.Complete(eventOf(done)))
	gw := s.GatewayID()
	require.NoError(t, s.Close())

	for range 3 { // a second and third restart must not repeat it
		s = open(t, dir, Options{})
		require.Equal(t, gw, s.GatewayID())
		got := stored(t, s)
		require.Len(t, got, 2)
		want := in.event(gw)
		want.Sequence, want.StartedAt = 2, got[1].StartedAt
		require.Equal(t, want, got[1])
		require.Equal(t, wire.Unknown, got[1].Outcome)
		require.True(t, got[1].Usage.Estimated)
		require.NoError(t, s.Close())
	}
}

func TestOneProcessForOneDirectory(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	_, err := Open(dir, Options{})
	require.ErrorIs(t, err, ErrInUse)
	require.NoError(t, s.Close())
	open(t, dir, Options{})
}

func TestUnreadableGatewayIDIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gateway-id"), []byte("gw_oops"), 0o600))
	_, err := Open(dir, Options{})
	require.ErrorIs(t, err, id.ErrMalformed)
}

func TestSequenceGoesOnWhenOldSegmentsAreGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{SegmentBytes: 1})
	for range 5 {
		require.NoError(t, s.Complete(eventOf(newRequest())))
	}
	require.Greater(t, s.Status().Segments, 4)
	s.tend() // seals
	s.commit(5)
	require.Equal(t, 1, s.Status().Segments)
	require.Zero(t, s.Status().Pending)
	require.NoError(t, s.Close())

	s = open(t, dir, Options{SegmentBytes: 1})
	require.EqualValues(t, 4, s.Status().Committed, "the segments that are gone were committed")
	require.NoError(t, s.Complete(eventOf(newRequest())))
	got := stored(t, s)
	require.EqualValues(t, 6, got[len(got)-1].Sequence)
}

func TestCommittedSegmentsGoAndOpenIntentsStay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{SegmentBytes: 4 << 10})
	long := newRequest()
	require.NoError(t, s.Intent(intentOf(long)))
	for range 50 {
		require.NoError(t, s.Complete(eventOf(newRequest())))
	}
	before := s.Status()
	require.Greater(t, before.Segments, 3)
	s.tend()
	s.commit(20)
	s.drop()
	require.Less(t, s.Status().Segments, before.Segments)
	s.commit(50)
	after := s.Status()
	require.LessOrEqual(t, after.Segments, 2, "one long request must not keep what came after it")
	require.Less(t, after.Bytes, before.Bytes)
	require.Equal(t, 1, after.Open)
	require.NoError(t, s.Close())

	s = open(t, dir, Options{})
	got := stored(t, s)
	require.Equal(t, wire.Unknown, got[len(got)-1].Outcome)
	require.Equal(t, long, got[len(got)-1].ID)
	require.EqualValues(t, 51, got[len(got)-1].Sequence)
}

func TestMarkAheadOfTheSpoolMovesTheSequence(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	require.NoError(t, s.Complete(eventOf(newRequest())))
	s.commit(40) // the machine lost what was shipped before it went down
	require.NoError(t, s.Complete(eventOf(newRequest())))
	got := stored(t, s)
	require.EqualValues(t, 41, got[len(got)-1].Sequence)
	require.EqualValues(t, 1, s.Status().Pending)
}

func TestOldestAge(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := open(t, t.TempDir(), Options{Now: func() time.Time { return now }})
	require.Zero(t, s.Status().OldestAge)
	require.NoError(t, s.Complete(eventOf(newRequest())))
	s.tend()
	now = now.Add(time.Minute)
	require.NoError(t, s.Complete(eventOf(newRequest())))
	s.tend()
	require.Equal(t, time.Minute, s.Status().OldestAge)
	s.commit(1)
	require.Zero(t, s.Status().OldestAge)
	now = now.Add(time.Hour)
	require.Equal(t, time.Hour, s.Status().OldestAge)
	s.commit(2)
	require.Zero(t, s.Status().OldestAge)
}

func TestClosedSpoolRefuses(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	require.NoError(t, s.Close())
	require.True(t, fault.Is(s.Intent(intentOf(newRequest())), fault.Unavailable))
	require.True(t, fault.Is(s.Complete(eventOf(newRequest())), fault.Unavailable))
}
