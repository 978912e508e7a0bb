package rate

import (
	"context"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// BenchmarkAdd adds to a subject that is held.
func BenchmarkAdd(b *testing.B) {
	n := newBench(b).node(nil, Options{Every: time.Hour})
	ws := newWorkspace()
	n.Add(ws, "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z:key_01kb7n0z1v8q5r2m3t4w5x6y7z:r", 1)
	b.ReportAllocs()
	for b.Loop() {
		n.Add(ws, "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z:key_01kb7n0z1v8q5r2m3t4w5x6y7z:r", 1)
	}
}

// BenchmarkAdmission looks five subjects up and adds to each, as a request does.
func BenchmarkAdmission(b *testing.B) {
	n := newBench(b).node(nil, Options{Every: time.Hour})
	ws := newWorkspace()
	names := make([]string, 5)
	for i := range names {
		names[i] = "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z:key_01kb7n0z1v8q5r2m3t4w5x6y7z:" + strconv.Itoa(i)
	}
	require.True(b, n.Minutes(b.Context(), ws, names)[4].Known)
	b.ReportAllocs()
	for b.Loop() {
		minutes := n.Minutes(b.Context(), ws, names)
		for i := range names {
			if minutes[i].Used() < 0 {
				b.Fatal("less than nothing")
			}
			n.Add(ws, names[i], 1)
		}
	}
}

// BenchmarkRound is one round of a gateway with many subjects in use, each with
// something new.
func BenchmarkRound(b *testing.B) {
	for _, subjects := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(subjects), func(b *testing.B) {
			r, names := inUse(b, subjects)
			ws := newWorkspace()
			r.Minutes(b.Context(), ws, names)
			cpu := cpuTime(b)
			for b.Loop() {
				for _, name := range names {
					r.Add(ws, name, 1)
				}
				require.NoError(b, r.count(b.Context(), true))
			}
			b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N*subjects), "cpu-ns/subject")
		})
	}
}

// BenchmarkLook is one round with many subjects in use and nothing new.
func BenchmarkLook(b *testing.B) {
	r, names := inUse(b, 1000)
	ws := newWorkspace()
	for _, name := range names {
		r.Add(ws, name, 1)
	}
	r.Minutes(b.Context(), ws, names)
	cpu := cpuTime(b)
	for b.Loop() {
		r.Minutes(b.Context(), ws, names)
		require.NoError(b, r.count(b.Context(), true))
	}
	b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N*len(names)), "cpu-ns/subject")
}

// cpuTime is what this process has used, with the server in it, in ns.
func cpuTime(b *testing.B) int64 {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// inUse is a gateway whose rounds are the caller's, and names of subjects.
func inUse(b *testing.B, subjects int) (*Rates, []string) {
	n := newBench(b).node(nil, Options{Every: time.Hour})
	n.stop()
	n.down.Store(true) // nobody waits, as nobody runs
	names := make([]string, subjects)
	for i := range names {
		names[i] = "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z:key_01kb7n0z1v8q5r2m3t4w5x6y7z:" + strconv.Itoa(i)
	}
	return n.Rates, names
}

// BenchmarkMemory reports what 100 000 subjects take of the server's memory, each
// used in one slot, and each used throughout the minute.
func BenchmarkMemory(b *testing.B) {
	const subjects = 100_000
	for name, used := range map[string]func(i int) wire.RateMinute{
		"once": func(i int) (m wire.RateMinute) { m[i%wire.RateSlots] = 1000; return m },
		"throughout": func(i int) (m wire.RateMinute) {
			for k := range m {
				m[k] = int64(i)
			}
			return m
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := NewNATS(newBench(b).conn)
			ws := newWorkspace()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for from := 0; from < subjects; from += together {
				list := make([]Increment, min(together, subjects-from))
				for i := range list {
					by := used(from + i)
					list[i] = Increment{ID: "8000123456789abc" + strconv.Itoa(from+i), By: &by, Ref: Ref{
						ws, "rlp_01kb7n0z1v8q5r2m3t4w5x6y7z:key_01kb7n0z1v8q5r2m3t4w5x6y7z:" + strconv.Itoa(from+i), 29_000_000,
					}}
				}
				require.NoError(b, s.Add(context.Background(), 1<<47, list))
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			for b.Loop() {
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/subjects, "B/subject")
		})
	}
}
