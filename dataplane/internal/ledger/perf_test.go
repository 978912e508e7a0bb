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

// BenchmarkTotals asks for what a request is usually held to.
func BenchmarkTotals(b *testing.B) {
	bench := newBench(b)
	bench.fill(nil, nil)
	n := bench.nodeIn(b.TempDir(), newClock(monday).now, Options{Every: time.Hour})
	ws, key := newKey()
	accounts := []wire.Account{
		wire.KeyAccount(key), wire.AccountWorkspace, wire.AccountCharged, wire.DepartmentAccount(id.New[id.DepartmentKind](ids)),
	}
	room := make([]Totals, 0, len(accounts))
	require.True(b, n.ledger.Totals(b.Context(), ws, accounts, monday)[3].Known)
	b.ReportAllocs()
	for b.Loop() {
		n.ledger.AppendTotals(b.Context(), room, ws, accounts, monday)
	}
}

func BenchmarkAdd(b *testing.B) {
	bench := newBench(b)
	bench.fill(nil, nil)
	n := bench.nodeIn(b.TempDir(), newClock(monday).now, Options{Every: time.Hour})
	ws, key := newKey()
	require.Equal(b, all(0), n.ledger.Usage(b.Context(), ws, key, monday))
	e := eventOf(ws, key, monday, one)
	e.Charge, e.Departments = 10, []id.Department{id.New[id.DepartmentKind](ids)}
	c := spool.Count{Workspace: ws, At: monday, Spends: e.Spends(nil)}
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
	refs := make([]accountRef, keys)
	for i := range refs {
		ws, key := newKey()
		refs[i] = accountRef{ws, wire.KeyAccount(key)}
	}
	at := uint64(0)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	commit := func(part []accountRef) {
		spend := make(amounts, len(part))
		for _, ref := range part {
			spend[ref] = []amount{{dayOf(monday), one}}
		}
		_, err := s.Commit(b.Context(), epoch, at, at+together, spend)
		require.NoError(b, err)
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
