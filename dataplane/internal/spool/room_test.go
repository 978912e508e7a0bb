package spool

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestByteBoundRefusesIntentsAndTakesCompletions(t *testing.T) {
	s := open(t, t.TempDir(), Options{MaxBytes: 64 << 10, SegmentBytes: 8 << 10})
	var admitted []wire.UsageEvent
	var refusal error
	for refusal == nil {
		req := newRequest()
		if refusal = s.Intent(intentOf(req)); refusal == nil {
			admitted = append(admitted, eventOf(req))
		}
	}
	require.True(t, fault.Is(refusal, fault.Unavailable))
	require.Equal(t, time.Second, fault.Of(refusal).RetryAfter)
	require.NotEmpty(t, admitted)

	require.NoError(t, s.Complete(admitted...), "what was admitted is always recorded")
	require.LessOrEqual(t, s.Status().Bytes, int64(64<<10), "room was kept for it")
	for s.Intent(intentOf(newRequest())) == nil {
	}
	refused := eventOf(newRequest())
	refused.Outcome = wire.Refused
	refused.Decision = nil
	for s.Complete(refused) == nil {
	}
	require.True(t, fault.Is(s.Complete(refused), fault.Unavailable))
	require.NotZero(t, s.counts.refusalsDropped, "what is turned away is counted")

	s.tend()
	s.commit(s.Status().Sequence)
	require.NoError(t, s.Intent(intentOf(newRequest())), "room comes back with the mark")
}

func TestFullDiskHoldsCompletionsInMemory(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{JournalBytes: -1})
	write, full := s.writeAt, false
	s.writeAt = func(f *os.File, p []byte, off int64) (int, error) {
		if full { // as a full disk does: a part of it, then the error
			n, _ := write(f, p[:len(p)/2], off)
			return n, syscall.ENOSPC
		}
		return write(f, p, off)
	}
	first, second := newRequest(), newRequest()
	require.NoError(t, s.Intent(intentOf(first)))
	require.NoError(t, s.Intent(intentOf(second)))
	full = true
	require.NoError(t, s.Complete(eventOf(first)))
	require.NoError(t, s.Complete(eventOf(second)))
	require.Equal(t, 2, s.Status().Held)
	require.EqualValues(t, 2, s.Status().Pending)
	require.True(t, fault.Is(s.Intent(intentOf(newRequest())), fault.Unavailable))
	require.Empty(t, stored(t, s))

	full = false
	s.tend()
	require.Zero(t, s.Status().Held)
	got := stored(t, s)
	require.Equal(t, []uint64{1, 2}, sequences(got))
	require.Equal(t, first, got[0].ID)
	require.NoError(t, s.Intent(intentOf(newRequest())))
	require.NoError(t, s.Close())
	s = open(t, dir, Options{})
	require.Len(t, stored(t, s), 3, "the half-written records are no damage")
	require.Zero(t, s.counts.quarantined)
}

func TestFailedWriteLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{JournalBytes: -1})
	write := s.writeAt
	s.writeAt = func(f *os.File, p []byte, off int64) (int, error) {
		n, _ := write(f, p[:len(p)-1], off)
		return n, syscall.ENOSPC
	}
	long := intentOf(newRequest())
	long.EndUser = "a name that makes this record longer than the one that takes its place"
	require.Error(t, s.Intent(long))
	s.writeAt = write
	require.NoError(t, s.Intent(intentOf(newRequest())))
	require.NoError(t, s.Close())
	s = open(t, dir, Options{})
	require.Zero(t, s.counts.quarantined)
	require.Len(t, stored(t, s), 1)
}

func TestOversizedDecisionIsLeftOut(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	ev := eventOf(newRequest())
	ev.Decision = append(append([]byte{'"'}, make([]byte, 0)...), '"')
	for len(ev.Decision) < maxPayload {
		ev.Decision = append(ev.Decision[:len(ev.Decision)-1], []byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"")...)
	}
	require.NoError(t, s.Complete(ev))
	require.Nil(t, stored(t, s)[0].Decision)
	ev.SessionID = string(make([]byte, maxPayload))
	require.Error(t, s.Complete(ev))
}
