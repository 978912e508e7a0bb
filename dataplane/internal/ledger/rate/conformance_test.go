package rate

import (
	"context"
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// part is what a gateway has of the counting, of either kind.
type part interface {
	Add(ws id.Workspace, n int64, names ...Name)
	AppendMinutes(ctx context.Context, dst []Minute, ws id.Workspace, asked []Asked) []Minute
}

var (
	_ part = (*Rates)(nil)
	_ part = (*MemoryGateway)(nil)
)

// fleet is three gateways under test.
type fleet struct {
	parts []part
	clock *clock
	again func(gateway int) // has what a gateway sends next be sent twice
	slow  bool
}

// TestConformance holds both kinds to one meaning.
func TestConformance(t *testing.T) {
	kinds := map[string]func(t *testing.T) *fleet{
		"memory": func(*testing.T) *fleet {
			f := &fleet{clock: newClock(noon), again: func(int) {}}
			m := NewMemory(f.clock.now)
			for range 3 {
				f.parts = append(f.parts, m.Gateway())
			}
			return f
		},
		"nats": func(t *testing.T) *fleet {
			b := newBench(t)
			f := &fleet{clock: newClock(noon), slow: true}
			var nodes []*node
			for range 3 {
				n := b.node(f.clock, Options{})
				nodes, f.parts = append(nodes, n), append(f.parts, n)
			}
			f.again = func(gateway int) { nodes[gateway].store.lose(1) }
			return f
		},
	}
	for kind, build := range kinds {
		for name, check := range map[string]func(*testing.T, *fleet){
			"nothing is zero": nothingIsZero, "sums over gateways": sumsOverGateways, "a retry counts once": retriesCountOnce,
			"the minute rolls": theMinuteRolls, "subjects are apart": subjectsAreApart, "large amounts": largeAmounts, "a model": likeAModel,
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { check(t, build(t)) })
		}
	}
}

// sees waits until all gateways see the same use, and returns what one sees.
func (f *fleet) sees(t require.TestingT, ws id.Workspace, name string, want int64) *Minute {
	var got []Minute
	for i, p := range f.parts {
		require.Eventually(t, func() bool {
			got = minutes(context.Background(), p, ws, name)
			return got[0].Known && got[0].Used == want
		}, soon, often, "gateway %d: %s, want %d", i, name, want)
	}
	return &got[0]
}

func nothingIsZero(t *testing.T, f *fleet) {
	ws := newWorkspace()
	m := f.sees(t, ws, "s", 0)
	require.Zero(t, wait(f.parts[0], ws, "s", 1))
	f.parts[0].Add(ws, 1)
	require.Zero(t, m.Clears)
	require.Empty(t, minutes(t.Context(), f.parts[0], newWorkspace()))
}

func sumsOverGateways(t *testing.T, f *fleet) {
	ws := newWorkspace()
	for i := range 30 {
		f.parts[i%3].Add(ws, int64(i), named("s"))
	}
	f.parts[0].Add(ws, 0, named("s"))
	f.parts[0].Add(ws, -5, named("s"))
	m := f.sees(t, ws, "s", 435)
	require.Equal(t, Window, m.Clears)
	require.Zero(t, m.Wait, "no limit was named")
	require.Equal(t, Window, wait(f.parts[0], ws, "s", 435), "reached is used up")
	require.Zero(t, wait(f.parts[0], ws, "s", 436))
}

func retriesCountOnce(t *testing.T, f *fleet) {
	ws := newWorkspace()
	for i := range 12 {
		f.again(i % 3)
		for _, p := range f.parts {
			p.Add(ws, 2, named("s"))
		}
		f.sees(t, ws, "s", int64(6*(i+1)))
	}
}

// theMinuteRolls adds around the borders of slots and minutes.
func theMinuteRolls(t *testing.T, f *fleet) {
	ws := newWorkspace()
	f.parts[0].Add(ws, 1, named("s")) // at the beginning of a slot
	f.sees(t, ws, "s", 1)
	f.clock.advance(wire.RateSlot - time.Millisecond)
	f.parts[1].Add(ws, 10, named("s")) // at the end of it
	f.sees(t, ws, "s", 11)
	f.clock.advance(10*wire.RateSlot + time.Millisecond)
	f.parts[2].Add(ws, 100, named("s")) // 22 seconds after the first
	f.sees(t, ws, "s", 111)
	for _, p := range f.parts {
		require.Equal(t, 40*time.Second, wait(p, ws, "s", 111))
		require.Equal(t, 40*time.Second, wait(p, ws, "s", 101))
		require.Equal(t, Window, wait(p, ws, "s", 100))
	}
	f.clock.advance(40*time.Second - 1)
	f.sees(t, ws, "s", 111) // the second is 60 seconds old
	f.clock.advance(1)
	f.sees(t, ws, "s", 100)
	f.parts[0].Add(ws, 1000, named("s")) // in the next minute
	f.sees(t, ws, "s", 1100)
	f.clock.advance(22 * time.Second)
	f.sees(t, ws, "s", 1000)
	f.clock.advance(time.Hour)
	f.sees(t, ws, "s", 0)
}

func subjectsAreApart(t *testing.T, f *fleet) {
	ws, other := newWorkspace(), newWorkspace()
	names := []string{"a", "b", "", "a.b", ">", "*", "a b", "x\x00y", "Zoë", strings.Repeat("long", 100), strings.Repeat("long", 101)}
	want := make(map[string]int64)
	for i, name := range names {
		want[name] = int64(i + 1)
		f.parts[i%3].Add(ws, int64(i+1), named(name))
	}
	f.parts[1].Add(other, 1000, named("a"))
	for _, name := range names {
		f.sees(t, ws, name, want[name])
	}
	f.sees(t, other, "a", 1000)
	f.sees(t, other, "b", 0)
	for i, m := range minutes(t.Context(), f.parts[2], ws, names...) {
		require.Equal(t, want[names[i]], m.Used, "all at once, in their order")
	}
}

func largeAmounts(t *testing.T, f *fleet) {
	ws := newWorkspace()
	for _, p := range f.parts {
		p.Add(ws, math.MaxInt64, named("s"))
	}
	f.sees(t, ws, "s", 3*wire.MaxRateCount)
}

// fewer divides how many draws rapid makes until t ends.
func fewer(t *testing.T, by int) {
	checks := flag.Lookup("rapid.checks").Value
	all, err := strconv.Atoi(checks.String())
	require.NoError(t, err)
	require.NoError(t, checks.Set(strconv.Itoa(max(1, all/by))))
	t.Cleanup(func() { require.NoError(t, checks.Set(strconv.Itoa(all))) })
}

// use is one use of the model.
type use struct {
	at time.Time
	n  int64
}

// within is what was used in the last d before now, by exact times.
func usedWithin(all []use, now time.Time, d time.Duration) (n int64) {
	for _, u := range all {
		if now.Sub(u.at) < d {
			n += u.n
		}
	}
	return n
}

// likeAModel compares with exact times: what was used in the last 60 seconds is
// in it, what is older than 62 is not, and a wait is what it takes.
func likeAModel(t *testing.T, f *fleet) {
	if f.slow {
		fewer(t, 4) // each waits for NATS
	}
	rapid.Check(t, func(r *rapid.T) {
		ws := newWorkspace()
		var all []use
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			f.clock.advance(time.Duration(rapid.Int64Range(0, int64(9*time.Second)).Draw(r, "pause")))
			g := rapid.IntRange(0, 2).Draw(r, "gateway")
			if rapid.IntRange(0, 4).Draw(r, "lost") == 0 {
				f.again(g)
			}
			n := rapid.Int64Range(1, 50).Draw(r, "n")
			f.parts[g].Add(ws, n, named("s"))
			all = append(all, use{f.clock.now(), n})
		}
		now := f.clock.now()
		var want int64
		for _, u := range all {
			if slotOf(u.at) >= slotOf(now)-back {
				want += u.n
			}
		}
		m := f.sees(r, ws, "s", want)
		require.GreaterOrEqual(r, m.Used, usedWithin(all, now, time.Minute))
		require.LessOrEqual(r, m.Used, usedWithin(all, now, Window))
		limit := rapid.Int64Range(1, 200).Draw(r, "limit")
		wait := wait(f.parts[rapid.IntRange(0, 2).Draw(r, "asked")], ws, "s", limit)
		if m.Used < limit {
			require.Zero(r, wait)
			return
		}
		require.Less(r, usedWithin(all, now.Add(wait), time.Minute), limit)
		f.clock.advance(wait - 1)
		require.GreaterOrEqual(r, used(f.parts[0], ws, "s"), limit)
		f.clock.advance(1)
		require.Less(r, used(f.parts[0], ws, "s"), limit)
	})
}
