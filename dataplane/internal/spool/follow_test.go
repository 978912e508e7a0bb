package spool

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// counting is a follower that keeps what it was told.
type counting struct {
	counts []Count
	upTo   uint64
	err    error
	asked  chan struct{}
}

func (c *counting) Add(n Count) { c.counts = append(c.counts, n) }

func (c *counting) Counted(context.Context) (uint64, error) {
	if c.asked != nil {
		select {
		case c.asked <- struct{}{}:
		default:
		}
	}
	return c.upTo, c.err
}

var key = id.New[id.KeyKind](ids)

func costing(cost money.Nanos) wire.UsageEvent {
	e := eventOf(newRequest())
	e.Key, e.Cost = key, meter.Cost{Total: cost}
	return e
}

// onKey is what a request of the key adds.
func onKey(cost money.Nanos) []wire.AccountSpend {
	s := wire.Spend{Requests: 1, Cost: cost}
	return []wire.AccountSpend{{Account: wire.AccountWorkspace, Spend: s}, {Account: wire.KeyAccount(key), Spend: s}}
}

func countsOf(t *testing.T, s *Spool, after, through uint64) (list []Count, missing uint64) {
	t.Helper()
	missing, err := s.Counts(t.Context(), after, through, func(c Count) bool { list = append(list, c); return true })
	require.NoError(t, err)
	return list, missing
}

func TestAFollowerIsToldWhatIsOnRecord(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{SegmentBytes: 4 << 10})
	require.NoError(t, s.Complete(costing(1)))
	f := &counting{}
	require.Equal(t, uint64(1), s.Follow(f))
	events := []wire.UsageEvent{costing(2), costing(3)}
	require.NoError(t, s.Complete(events...))
	refused := costing(4)
	refused.Outcome = wire.Refused
	require.NoError(t, s.Complete(refused))
	nobody := costing(5)
	nobody.Key = id.Key{}
	require.NoError(t, s.Complete(nobody))

	want := []Count{
		{Sequence: 2, Workspace: ws, At: events[0].ID.Time(), Spends: onKey(2)},
		{Sequence: 3, Workspace: ws, At: events[1].ID.Time(), Spends: onKey(3)},
		{Sequence: 4, Workspace: ws, At: refused.ID.Time()},
		{Sequence: 5, Workspace: ws, At: nobody.ID.Time(), Spends: onKey(5)[:1]},
	}
	require.Equal(t, want, f.counts)
	got, missing := countsOf(t, s, 1, 5)
	require.Equal(t, want, got, "the disk says the same")
	require.Zero(t, missing)
	got, _ = countsOf(t, s, 2, 3)
	require.Equal(t, want[1:2], got)
	require.NoError(t, s.Close())

	s = open(t, dir, Options{})
	require.Equal(t, uint64(5), s.Follow(f))
	got, _ = countsOf(t, s, 1, 5)
	require.Equal(t, want, got, "also after a restart")
}

func TestAFollowerIsToldWhatTheDiskTookLate(t *testing.T) {
	s := open(t, t.TempDir(), Options{JournalBytes: -1})
	f := &counting{}
	s.Follow(f)
	write := s.writeAt
	s.writeAt = func(*os.File, []byte, int64) (int, error) { return 0, syscall.ENOSPC }
	require.NoError(t, s.Complete(costing(1)))
	require.Empty(t, f.counts, "it has no sequence yet")
	s.writeAt = write
	require.NoError(t, s.Complete(costing(2)))
	require.Len(t, f.counts, 2)
	require.Equal(t, onKey(1), f.counts[0].Spends)
}

func TestWhatAGatewayCouldNotSayIsCounted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	i := intentOf(newRequest())
	i.Key, i.Charge = key, 20
	i.Attribution = wire.Attribution{
		Departments: []id.Department{id.New[id.DepartmentKind](ids)}, Guardrails: []id.Guardrail{id.New[id.GuardrailKind](ids)},
		Agent: "support", Free: true,
	}
	require.NoError(t, s.Intent(i))
	require.NoError(t, s.Close())
	s = open(t, dir, Options{})
	require.Equal(t, uint64(1), s.Follow(&counting{}))
	got, _ := countsOf(t, s, 0, 1)
	require.Len(t, got, 1)
	want := onKey(21)
	for _, a := range []wire.Account{wire.DepartmentAccount(i.Departments[0]), wire.GuardrailAccount(i.Guardrails[0]), wire.AgentAccount("support")} {
		want = append(want, wire.AccountSpend{Account: a, Spend: want[0].Spend})
	}
	want = append(want, wire.AccountSpend{Account: wire.AccountCharged, Spend: wire.Spend{Cost: 20}},
		wire.AccountSpend{Account: wire.FreeAccount(i.User), Spend: wire.Spend{Requests: 1}})
	require.Equal(t, want, got[0].Spends)
}

func TestSegmentsWaitForTheFollower(t *testing.T) {
	s := open(t, t.TempDir(), Options{SegmentBytes: 1})
	f := &counting{upTo: 1}
	s.Follow(f)
	for range 4 {
		require.NoError(t, s.Complete(costing(1)))
	}
	require.NoError(t, s.rotateForTest())
	s.tend()
	advance := func() { s.countedBy(t.Context()); s.commit(4) }
	advance()
	got, missing := countsOf(t, s, 0, 4)
	require.Len(t, got, 3, "only what is counted went")
	require.Equal(t, uint64(1), missing)

	f.upTo, f.err = 0, errors.New("away")
	advance()
	got, _ = countsOf(t, s, 0, 4)
	require.Len(t, got, 3)

	s.mu.Lock()
	s.opts.MaxBytes = 1
	s.mu.Unlock()
	advance()
	_, missing = countsOf(t, s, 0, 4)
	require.Equal(t, uint64(4), missing, "requests are not refused for its sake")
}

// TestTheFollowerIsAskedAfterTheMark: with the mark a segment may go, so what
// the follower says must be newer.
func TestTheFollowerIsAskedAfterTheMark(t *testing.T) {
	srv := natstest.New(t)
	conn := srv.Connect()
	srv.Ensure(conn)
	newDatabase(t, conn)
	s := open(t, t.TempDir(), Options{NATS: conn.NATS(), MarkEvery: 10 * time.Millisecond})
	f := &counting{asked: make(chan struct{}, 1)}
	s.Follow(f)
	require.NoError(t, s.Complete(costing(1)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-f.asked
	cancel()
	require.NoError(t, <-done)
}

func (s *Spool) rotateForTest() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rotate()
}
