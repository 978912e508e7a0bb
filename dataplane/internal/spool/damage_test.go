package spool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// fill writes n events and closes the directory; it returns its one segment.
func fill(t *testing.T, dir string, n int) string {
	t.Helper()
	s := open(t, dir, Options{})
	for range n {
		require.NoError(t, s.Complete(eventOf(newRequest())))
	}
	path := s.active().path
	require.NoError(t, s.Close())
	return path
}

func change(t *testing.T, path string, fn func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, fn(data), 0o600))
}

func TestTornTailIsNoDamage(t *testing.T) {
	whole := bytes.Count(readAll(t, fill(t, t.TempDir(), 1)), nil) - 1
	for cut := 1; cut < whole; cut += 7 {
		dir := t.TempDir()
		path := fill(t, dir, 3)
		size := len(readAll(t, path))
		change(t, path, func(b []byte) []byte { return b[:size-min(cut, size/3)] })
		s := open(t, dir, Options{})
		require.Equal(t, []uint64{1, 2}, sequences(stored(t, s)), "cut %d", cut)
		require.NoError(t, s.Complete(eventOf(newRequest())))
		require.Equal(t, []uint64{1, 2, 3}, sequences(stored(t, s)))
		require.Zero(t, s.counts.quarantined)
		require.NoError(t, s.Close())
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func TestCorruptSegmentIsMovedAsideAndItsGapReported(t *testing.T) {
	dir := t.TempDir()
	path := fill(t, dir, 5)
	at := nthFrame(t, path, 2)
	change(t, path, func(b []byte) []byte { b[at+frameHead+40] ^= 1; return b })
	fill(t, dir, 2) // a later segment

	s := open(t, dir, Options{})
	got := stored(t, s)
	require.ElementsMatch(t, []uint64{1, 2, 3, 4, 5, 6, 7}, sequences(got))
	var lost []wire.UsageEvent
	for _, ev := range got {
		if ev.Outcome == "lost" {
			lost = append(lost, ev)
		}
	}
	require.Equal(t, []wire.UsageEvent{{Sequence: 3, Reason: lostReason, Attempts: 1, Outcome: "lost"}}, lost)
	require.NoFileExists(t, path)
	require.FileExists(t, filepath.Join(dir, "quarantine", filepath.Base(path)))
	s.tend()
	s.commit(7)
	require.LessOrEqual(t, s.Status().Segments, 2, "what was saved must not be kept for ever")
	require.NoError(t, s.Close())

	s = open(t, dir, Options{})
	require.Zero(t, s.counts.lost, "a loss is reported once")
}

func nthFrame(t *testing.T, path string, n int) int {
	t.Helper()
	data := readAll(t, path)
	at := 0
	for range n {
		_, size, result := readFrame(data[at:])
		require.Equal(t, readOK, result)
		at += size
	}
	return at
}

func TestMissingSegmentIsReported(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 2)
	middle := fill(t, dir, 3)
	fill(t, dir, 1)
	require.NoError(t, os.Remove(middle))
	s := open(t, dir, Options{})
	got := stored(t, s)
	require.Contains(t, got, wire.UsageEvent{Sequence: 3, Reason: lostReason, Attempts: 3, Outcome: "lost"})
	require.ElementsMatch(t, []uint64{1, 2, 6, 3}, sequences(got))
}

func TestCorruptionInAnIntentLosesNoEvent(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	req := newRequest()
	require.NoError(t, s.Intent(intentOf(req)))
	require.NoError(t, s.Complete(eventOf(req)))
	path := s.active().path
	require.NoError(t, s.Close())
	change(t, path, func(b []byte) []byte { b[0] ^= 0xff; return b })
	s = open(t, dir, Options{})
	require.Equal(t, []uint64{1}, sequences(stored(t, s)))
	require.EqualValues(t, 1, s.counts.quarantined)
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "0001-0001.seg", "zz.seg"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	s := open(t, dir, Options{})
	require.Equal(t, 1, s.Status().Segments)
	require.FileExists(t, filepath.Join(dir, "zz.seg"))
}

// FuzzScan checks that no bytes make the reader fail, that it never invents a
// frame, and that frames around damage are found.
func FuzzScan(f *testing.F) {
	good := appendFrame(nil, kindEvent, appendEventHead(nil, 1, newRequest(), false), []byte(`{"a":1}`))
	f.Add([]byte{}, uint16(0))
	f.Add(good, uint16(3))
	f.Add(good[:len(good)-2], uint16(9))
	f.Add(append(append([]byte{}, magic[:]...), good...), uint16(1))
	f.Fuzz(func(t *testing.T, noise []byte, flip uint16) {
		scan(noise, func(fr frame) {
			if e, ok := parseEvent(fr); ok {
				require.LessOrEqual(t, len(e.body), len(noise))
			}
		})
		before := appendFrame(nil, kindIntent, make([]byte, 16), []byte("before"))
		after := appendFrame(nil, kindIntent, make([]byte, 16), []byte("after"))
		bodies := map[string]bool{}
		state := scan(bytes.Join([][]byte{before, noise, after}, nil), func(fr frame) {
			if _, body, ok := parseIntent(fr); ok {
				bodies[string(body)] = true
			}
		})
		require.True(t, bodies["before"])
		if !bytes.Contains(noise, magic[:1]) {
			require.True(t, bodies["after"])
			require.Equal(t, len(noise) > 0, state == corrupt)
		}
		broken := bytes.Clone(before)
		broken[int(flip)%len(broken)] ^= 0x10
		scan(broken, func(fr frame) { t.Fatalf("a broken frame was read: %q", fr.payload) })
	})
}
