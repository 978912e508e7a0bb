package spool

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// killed is a copy of a spool's directory, as a killed process leaves it.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

func TestRecordsCostNoWrite(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	writes := 0
	write := s.writeAt
	s.writeAt = func(f *os.File, p []byte, off int64) (int, error) {
		writes++
		return write(f, p, off)
	}
	for range 20 {
		req := newRequest()
		require.NoError(t, s.Intent(intentOf(req)))
		require.NoError(t, s.Complete(eventOf(req)))
	}
	require.Zero(t, writes)
	require.Len(t, stored(t, s), 20)
	require.Equal(t, 1, writes, "all of them in one")
}

// After every record the directory must be one from which a killed process goes
// on: what was on record is there, once, and nothing is damaged.
func TestKilledAfterAnyRecord(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{JournalBytes: 3 << 10, SegmentBytes: 7 << 10})
	left := 0 // intents without a completion
	for n := range 40 {
		req := newRequest()
		require.NoError(t, s.Intent(intentOf(req)))
		ev := eventOf(req)
		if n%3 == 0 {
			left++
			ev.ID = newRequest()
		}
		if n%2 == 0 { // what is left of it in the journal must not show behind a shorter one
			ev.EndUser = "longer than what comes next"
		}
		require.NoError(t, s.Complete(ev))
		after := open(t, killed(t, dir), Options{})
		got := stored(t, after)
		require.Len(t, got, n+1+left)
		for i, ev := range got {
			require.EqualValues(t, i+1, ev.Sequence)
			require.Equal(t, i > n, ev.Outcome == wire.Unknown)
		}
		require.Zero(t, after.counts.quarantined)
		require.NoError(t, after.Close())
	}
}

func TestKilledWhileTheJournalIsWrittenToItsSegment(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	complete(t, s, 2)
	s.flush()
	complete(t, s, 3)
	journal := readAll(t, filepath.Join(dir, journalName))
	before := s.active().size
	path := s.active().path
	s.flush()
	whole := s.active().size
	for _, size := range []int64{before, before + 1, (before + whole) / 2, whole - 1, whole} {
		copied := killed(t, dir)
		require.NoError(t, os.WriteFile(filepath.Join(copied, journalName), journal, 0o600))
		require.NoError(t, os.Truncate(filepath.Join(copied, filepath.Base(path)), size))
		for range 2 { // and killed again, right after the start
			after := open(t, copied, Options{})
			require.Equal(t, []uint64{1, 2, 3, 4, 5}, sequences(stored(t, after)), "segment of %d bytes", size)
			require.Zero(t, after.counts.quarantined)
			require.NoError(t, after.Close())
		}
	}
}

func TestAPowerFailureThatTookTheSegmentLeavesTheJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	complete(t, s, 2)
	s.flush()
	complete(t, s, 2)
	shorter, gone := killed(t, dir), killed(t, dir)
	name := filepath.Base(s.active().path)
	require.NoError(t, os.Truncate(filepath.Join(shorter, name), 10))
	require.NoError(t, os.Remove(filepath.Join(gone, name)))
	for _, dir := range []string{shorter, gone} {
		after := open(t, dir, Options{})
		got := stored(t, after)
		require.ElementsMatch(t, []uint64{1, 3, 4}, sequences(got))
		require.Contains(t, got, wire.UsageEvent{Sequence: 1, Reason: lostReason, Attempts: 2, Outcome: "lost"})
	}
}

func TestADamagedJournalIsReadAsFarAsItIsSound(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	complete(t, s, 3)
	size := len(s.tail)
	for name, c := range map[string]struct {
		at   int
		want []uint64
	}{
		"mark": {0, nil}, "head": {20, nil}, "first": {journalHead + 40, nil},
		"last": {journalHead + size - 1, []uint64{1, 2}},
		"end":  {journalHead + size, []uint64{1, 2, 3}},
	} {
		copied := killed(t, dir)
		change(t, filepath.Join(copied, journalName), func(b []byte) []byte { b[c.at] ^= 0x55; return b })
		after := open(t, copied, Options{})
		require.Equal(t, c.want, sequences(stored(t, after)), name)
		require.NoError(t, after.Close())
	}
	short := killed(t, dir)
	require.NoError(t, os.Truncate(filepath.Join(short, journalName), journalHead-1))
	require.Empty(t, stored(t, open(t, short, Options{})))
}

func TestFullDiskIsNoticedWhenTheJournalIsWrittenOut(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	write, full := s.writeAt, true
	s.writeAt = func(f *os.File, p []byte, off int64) (int, error) {
		if full {
			n, _ := write(f, p[:len(p)/2], off)
			return n, syscall.ENOSPC
		}
		return write(f, p, off)
	}
	first, second := newRequest(), newRequest()
	require.NoError(t, s.Intent(intentOf(first)))
	require.NoError(t, s.Intent(intentOf(second)))
	require.NoError(t, s.Complete(eventOf(first)))
	s.tend()
	require.True(t, fault.Is(s.Intent(intentOf(newRequest())), fault.Unavailable), "nothing new is begun on a full disk")
	require.NoError(t, s.Complete(eventOf(second)), "what was begun is kept")
	require.Equal(t, 1, s.Status().Held)
	require.EqualValues(t, 2, s.Last(), "that which it will have")
	left := open(t, killed(t, dir), Options{})
	require.Equal(t, []uint64{1, 2}, sequences(stored(t, left)), "the journal has the first, the second is unknown")

	full = false
	s.tend()
	require.Equal(t, []uint64{1, 2}, sequences(stored(t, s)))
	require.EqualValues(t, 2, s.Last())
	require.NoError(t, s.Intent(intentOf(newRequest())))
	bytes := s.Status().Bytes
	s.flush()
	require.Equal(t, bytes, s.Status().Bytes)
	require.Equal(t, s.active().size, bytes)
}

func TestAFullDiskLeavesTheJournalForTheNextStart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	complete(t, s, 2)
	s.writeAt = func(*os.File, []byte, int64) (int, error) { return 0, syscall.ENOSPC }
	require.NoError(t, s.Close())
	require.Equal(t, []uint64{1, 2}, sequences(stored(t, open(t, dir, Options{}))))
}

// A page that cannot be had raises a signal. It must end the journal's use and
// neither the process nor a record.
func TestAFaultOfThePageLosesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	complete(t, s, 2)
	require.NoError(t, os.Truncate(filepath.Join(dir, journalName), 0))
	complete(t, s, 2)
	require.Nil(t, s.journal)
	require.Equal(t, []uint64{1, 2, 3, 4}, sequences(stored(t, s)))
	require.NoError(t, s.Close())
	s = open(t, dir, Options{})
	require.Equal(t, []uint64{1, 2, 3, 4}, sequences(stored(t, s)))
	require.NotNil(t, s.journal)
}

func TestWithoutAJournalEverythingWorks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, journalName), 0o700)) // no file can be opened there
	_, err := Open(dir, Options{})
	require.ErrorContains(t, err, "spool journal")
	s := open(t, t.TempDir(), Options{JournalBytes: -1})
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, journalName), 0o700))
	s.opts.JournalBytes = 100
	s.startJournal()
	require.Nil(t, s.journal)
	complete(t, s, 2)
	require.Len(t, stored(t, s), 2)
}

func TestALargeRecordGoesPastTheJournal(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{JournalBytes: 4 << 10})
	complete(t, s, 1)
	large := eventOf(newRequest())
	large.SessionID = string(make([]byte, 2000)) // six bytes each, as JSON
	require.NoError(t, s.Complete(large))
	complete(t, s, 1)
	require.Equal(t, []uint64{1, 2, 3}, sequences(stored(t, open(t, killed(t, dir), Options{}))))
	require.Equal(t, []uint64{1, 2, 3}, sequences(stored(t, s)))
}
