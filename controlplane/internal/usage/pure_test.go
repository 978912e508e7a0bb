package usage

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// TestMarkIsTheSetItStandsFor compares a mark with a plain set after random
// runs, also repeated and overlapping ones.
func TestMarkIsTheSetItStandsFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Mark
		set := map[uint64]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			var runs []Run
			for range rapid.IntRange(0, 5).Draw(t, "runs") {
				first := rapid.Uint64Range(1, 40).Draw(t, "first")
				r := Run{first, first + rapid.Uint64Range(0, 5).Draw(t, "length")}
				runs = append(runs, r)
				for seq := r.First; seq <= r.Last; seq++ {
					set[seq] = true
				}
			}
			before := Mark{m.Committed, slices.Clone(m.Ahead)}
			next := m.Add(runs...)
			require.Equal(t, before, m, "the receiver must not change")
			m = next
		}
		var want uint64
		for set[want+1] {
			want++
		}
		require.Equal(t, want, m.Committed)
		last := m.Committed
		for _, r := range m.Ahead {
			require.Greater(t, r.First, last+1, "runs must not touch")
			require.LessOrEqual(t, r.First, r.Last)
			last = r.Last
		}
		for seq := uint64(1); seq < 60; seq++ {
			require.Equal(t, set[seq], m.Covers(Run{seq, seq}), "sequence %d", seq)
			require.Equal(t, set[seq] && set[seq+1], m.Covers(Run{seq, seq + 1}), "from %d", seq)
		}
	})
}

func TestMarkIgnoresEmptyRuns(t *testing.T) {
	require.Equal(t, Mark{Committed: 4}, Mark{Committed: 4}.Add(Run{}, Run{9, 8}))
}

func TestRollupsTakeOutWhatTheyPutIn(t *testing.T) {
	at := time.Date(2026, 5, 20, 12, 59, 59, 0, time.UTC)
	key := id.New[id.KeyKind](ids)
	e := Entry{
		ID: id.New[id.RequestKind](ids), Workspace: ws, StartedAt: at, DecidedModel: "m", Provider: "p", Key: key, Outcome: wire.Failed, Attempts: 3,
		Usage: meter.Usage{
			Input: 1, CachedRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Image: 7, AudioInput: 8, AudioOutput: 9, Estimated: true,
		},
		Cost: meter.Cost{Total: 10},
	}
	e.PrimaryID = e.ID
	want := Totals{
		Requests: 1, ModelAttempts: 1, UpstreamCalls: 3, Errors: 1, Estimated: 1,
		Input: 1, CachedRead: 2, CacheWrite: 7, Output: 5, Reasoning: 6, Image: 7, AudioInput: 8, AudioOutput: 9, Cost: 10,
	}
	cell := Cell{Workspace: ws, Hour: at.Truncate(time.Hour), Model: "m", Provider: "p", Key: key, Outcome: wire.Failed}
	require.Equal(t, []Rollup{{cell, want}}, Rollups([]Entry{e}, nil))
	require.Equal(t, []Rollup{{cell, Totals{}}}, Rollups([]Entry{e}, []Entry{e}))
	for outcome, field := range map[wire.Outcome]func(Totals) int64{
		wire.Refused: func(t Totals) int64 { return t.Refused }, wire.Canceled: func(t Totals) int64 { return t.Canceled },
		wire.Unknown: func(t Totals) int64 { return t.Unknown },
	} {
		e.Outcome = outcome
		require.EqualValues(t, 1, field(Rollups([]Entry{e}, nil)[0].Totals), outcome)
	}
}

func TestRollupsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workspaces := []id.Workspace{ws, id.New[id.WorkspaceKind](ids)}
		var list []Entry
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			list = append(list, Entry{
				Workspace:    rapid.SampledFrom(workspaces).Draw(t, "ws"),
				StartedAt:    time.Unix(rapid.Int64Range(0, 10_000).Draw(t, "at"), 0),
				DecidedModel: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "model"),
				Outcome:      rapid.SampledFrom([]wire.Outcome{wire.Success, wire.Failed}).Draw(t, "outcome"),
			})
		}
		got := Rollups(list, nil)
		var n int64
		for i, r := range got {
			n += r.ModelAttempts
			if i > 0 {
				require.Negative(t, got[i-1].compare(r.Cell))
			}
		}
		require.EqualValues(t, len(list), n)
	})
}

func TestBatchKeepsOneOfEachIDAndRatherTheCompleted(t *testing.T) {
	done := event()
	guess := done
	guess.Outcome = wire.Unknown
	other := event()
	other.Sequence = 8
	var list []decoded
	for _, ev := range []wire.UsageEvent{other, guess, done, guess, other} {
		list = append(list, decode(messageOf(t, ev)))
	}
	garbage := message{subject: "usage." + gw.String(), sequence: "9", body: []byte("?")}
	list = append(list, decode(garbage), decode(garbage))
	b := newBatch(list)
	require.Len(t, b.Entries, 2)
	require.True(t, slices.IsSortedFunc(b.Entries, Compare))
	for _, e := range b.Entries {
		require.Equal(t, wire.Success, e.Outcome)
	}
	require.Len(t, b.Dead, 1)
	require.Len(t, b.Arrivals, 7)
}
