package rate

import (
	"context"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// theirs is a name as rate limits have them, of n.
func theirs(n int) Name {
	return Name{Kind: 'r', IDs: [...]uuid.UUID{ids.UUID(), {15: byte(n), 14: byte(n >> 8), 13: byte(n >> 16)}, {}}}
}

// BenchmarkAdmission looks five subjects up and adds to each, as a request does.
func BenchmarkAdmission(b *testing.B) {
	n := newBench(b).node(nil, Options{Every: time.Hour})
	ws := newWorkspace()
	asked, names := make([]Asked, 5), make([]Name, 5)
	for i := range names {
		names[i] = theirs(i)
		asked[i] = Asked{names[i], 1 << 40}
	}
	minutes := n.AppendMinutes(b.Context(), nil, ws, asked)
	require.True(b, minutes[4].Known)
	b.ReportAllocs()
	for b.Loop() {
		minutes = n.AppendMinutes(b.Context(), minutes[:0], ws, asked)
		n.Add(ws, 1, names...)
	}
}

// BenchmarkRound is one round of a gateway with many subjects in use, each with
// something new.
func BenchmarkRound(b *testing.B) {
	for _, subjects := range []int{100, 1000, 10_000} {
		b.Run(strconv.Itoa(subjects), func(b *testing.B) {
			r, asked := inUse(b, subjects)
			ws := newWorkspace()
			r.AppendMinutes(b.Context(), nil, ws, asked)
			cpu := cpuTime(b)
			for b.Loop() {
				for i := range asked {
					r.Add(ws, 1, asked[i].Name)
				}
				require.NoError(b, r.count(b.Context(), true))
			}
			b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N*subjects), "cpu-ns/subject")
		})
	}
}

// BenchmarkLook is one round with many subjects in use and nothing new.
func BenchmarkLook(b *testing.B) {
	r, asked := inUse(b, 1000)
	ws := newWorkspace()
	for i := range asked {
		r.Add(ws, 1, asked[i].Name)
	}
	r.AppendMinutes(b.Context(), nil, ws, asked)
	cpu := cpuTime(b)
	for b.Loop() {
		r.AppendMinutes(b.Context(), nil, ws, asked)
		require.NoError(b, r.count(b.Context(), true))
	}
	b.ReportMetric(float64(cpuTime(b)-cpu)/float64(b.N*len(asked)), "cpu-ns/subject")
}

// cpuTime is what this process has used, with the server in it, in ns.
func cpuTime(b *testing.B) int64 {
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// inUse is a gateway whose rounds are the caller's, and subjects.
func inUse(b *testing.B, subjects int) (*Rates, []Asked) {
	n := newBench(b).node(nil, Options{Every: time.Hour})
	n.stop()
	n.down.Store(true) // nobody waits, as nobody runs
	asked := make([]Asked, subjects)
	for i := range asked {
		asked[i].Name = theirs(i)
	}
	return n.Rates, asked
}

// BenchmarkMemory reports what 100 000 subjects take of the server's memory, each
// used in one slot, and each used throughout the minute, the last slot at its end.
func BenchmarkMemory(b *testing.B) {
	const subjects = 100_000
	for name, used := range map[string]func(i int) []wire.RateMinute{
		"once": func(i int) []wire.RateMinute {
			var one wire.RateMinute
			one[i%wire.RateSlots] = 1000
			return []wire.RateMinute{one}
		},
		"throughout": func(i int) []wire.RateMinute {
			all := make([]wire.RateMinute, 2)
			for k := range all[0] {
				all[k/(wire.RateSlots-1)][k] = int64(i)
			}
			return all
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := NewNATS(newBench(b).conn)
			ws := newWorkspace()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var list []Increment
			send := func() {
				require.NoError(b, s.Add(context.Background(), 1<<47, list))
				list = nil
			}
			for i := range subjects {
				subject := Ref{ws, theirs(i).Token(), 29_000_000}
				for k, by := range used(i) {
					list = append(list, Increment{ID: "8000123456789abc" + strconv.Itoa(2*i+k), By: &by, Ref: subject})
				}
				if len(list) >= together {
					send()
				}
			}
			send()
			runtime.GC()
			runtime.ReadMemStats(&after)
			for b.Loop() {
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/subjects, "B/subject")
		})
	}
}
