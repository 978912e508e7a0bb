package ledger

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func BenchmarkUsage(b *testing.B) {
	bench := newBench(b)
	bench.fill(nil, nil)
	n := bench.nodeIn(b.TempDir(), newClock(monday).now, Options{Every: time.Hour})
	ws, key := newKey()
	require.Equal(b, all(0), n.ledger.Usage(b.Context(), ws, key, monday))
	b.ReportAllocs()
	for b.Loop() {
		n.ledger.Usage(b.Context(), ws, key, monday)
	}
}

func BenchmarkAdd(b *testing.B) {
	bench := newBench(b)
	bench.fill(nil, nil)
	n := bench.nodeIn(b.TempDir(), newClock(monday).now, Options{Every: time.Hour})
	ws, key := newKey()
	require.Equal(b, all(0), n.ledger.Usage(b.Context(), ws, key, monday))
	c := spool.Count{Workspace: ws, Key: key, At: monday, Spend: one}
	b.ReportAllocs()
	for b.Loop() {
		c.Sequence++
		n.ledger.Add(c)
	}
	b.StopTimer()
	n.ledger.mu.Lock()
	n.ledger.part() // there is no record of them
	n.ledger.mu.Unlock()
}

// BenchmarkCommit commits 100 000 keys, 900 at a time, and reports what that
// takes of the server's memory.
func BenchmarkCommit(b *testing.B) {
	bench := newBench(b)
	epoch := bench.fill(nil, nil)
	s := NewNATS(bench.conn, id.New[id.GatewayKind](ids), ids)
	const keys, together = 99_900, 900
	refs := make([]dayRef, keys)
	for i := range refs {
		ws, key := newKey()
		refs[i] = dayRef{keyRef{ws, key}, dayOf(monday)}
	}
	at := uint64(0)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	commit := func(part []dayRef) {
		spend := make(map[dayRef]wire.Spend, len(part))
		for _, ref := range part {
			spend[ref] = one
		}
		require.NoError(b, s.Commit(b.Context(), epoch, at, at+together, spend))
		at += together
	}
	began := time.Now()
	for i := 0; i < keys; i += together {
		commit(refs[i : i+together])
	}
	filled := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	for b.Loop() {
		commit(refs[:together])
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/keys, "B/key")
	b.ReportMetric(keys/filled.Seconds(), "keys/s")
}
