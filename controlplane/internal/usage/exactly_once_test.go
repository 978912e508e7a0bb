package usage_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func encoded(t *testing.T, events []wire.UsageEvent) [][]byte {
	t.Helper()
	list := make([][]byte, len(events))
	for i := range list {
		var err error
		list[i], err = json.Marshal(events[i])
		require.NoError(t, err)
	}
	return list
}

// TestTotalsAreThoseOfTheDistinctEvents sends events in any order, any number
// of times, some with an estimate before or after, to two consumers that die
// between commit and acknowledgement now and then. Totals, marks and log must
// be those of the set of distinct events.
func TestTotalsAreThoseOfTheDistinctEvents(t *testing.T) {
	b := newBench(t)
	for range 2 {
		b.consume(&flaky{UsageStore: b.writer, after: func() error {
			if rand.IntN(10) == 0 {
				return errAway
			}
			return nil
		}})
	}
	rapid.Check(t, func(r *rapid.T) {
		b.ws, b.gw, b.seq = id.New[id.WorkspaceKind](ids), id.New[id.GatewayKind](ids), 0
		var want usage.Totals
		var deliveries []wire.UsageEvent
		for range rapid.IntRange(1, 15).Draw(r, "events") {
			done := b.event()
			done.Cost.Total = money.Nanos(rapid.Int64Range(0, 1000).Draw(r, "cost"))
			done.DecidedModel = rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "model")
			guess := done
			b.seq++
			guess.Sequence, guess.Outcome, guess.Cost.Total, guess.DecidedModel = b.seq, wire.Unknown, 7, "a"
			kinds := rapid.SampledFrom([][]wire.UsageEvent{{done}, {done, guess}, {guess}}).Draw(r, "kinds")
			want.Requests++
			if kinds[0].Outcome == wire.Unknown {
				want.Unknown++
			}
			want.Cost += kinds[0].Cost.Total
			if len(kinds) == 1 { // every sequence arrives in the end
				again := kinds[0]
				again.Sequence = done.Sequence + guess.Sequence - again.Sequence
				kinds = append(kinds, again)
			}
			for _, ev := range kinds {
				for range rapid.IntRange(1, 3).Draw(r, "times") {
					deliveries = append(deliveries, ev)
				}
			}
		}
		deliveries = rapid.Permutation(deliveries).Draw(r, "order")
		for len(deliveries) > 0 { // alone and in batches of any boundaries
			n := rapid.IntRange(1, min(5, len(deliveries))).Draw(r, "together")
			if n == 1 {
				b.publish(deliveries[0])
			} else {
				b.sendBatch(1, encoded(t, deliveries[:n])...)
			}
			deliveries = deliveries[n:]
		}
		b.drained()
		got := b.totals()
		require.Equal(r, want.Requests, got.Requests)
		require.Equal(r, want.Unknown, got.Unknown)
		require.Equal(r, want.Cost, got.Cost)
		reply, err := b.mark()
		require.NoError(r, err)
		require.Equal(r, b.seq, reply.Committed)
	})
}
