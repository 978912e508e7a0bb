package budgetalert

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// A share is reached when used × 100 is limit × share or more, without rounding
// and for any amounts.
func TestSharesAreReachedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		used := rapid.Int64Range(-5, math.MaxInt64).Draw(t, "used")
		limit := rapid.Int64Range(1, math.MaxInt64).Draw(t, "limit")
		share := rapid.IntRange(1, 100).Draw(t, "share")
		have := new(big.Int).Mul(big.NewInt(used), big.NewInt(100))
		want := new(big.Int).Mul(big.NewInt(limit), big.NewInt(int64(share)))
		require.Equal(t, used > 0 && have.Cmp(want) >= 0, len(reached(money.Nanos(used), money.Nanos(limit), []int{share})) == 1)
	})
	require.Equal(t, []int{80, 100}, reached(10, 10, []int{80, 100}))
	require.Equal(t, []int{80}, reached(8, 10, []int{80, 100}))
	require.Empty(t, reached(7, 10, []int{80, 100}))
	require.Empty(t, reached(7, 0, []int{1}), "no limit")
}

func TestSharesAreChecked(t *testing.T) {
	for _, bad := range [][]int{nil, {0}, {101}, {1, 2, 3, 4, 5}, {7, 7}} {
		require.True(t, fault.Is(validate(bad), fault.ValidationError), "%v", bad)
	}
	require.NoError(t, validate([]int{1, 100, 50, 2}))
}

type writer struct {
	usage.Writer
	err error
}

func (w writer) WriteUsage(context.Context, usage.Batch) (usage.Written, error) {
	return usage.Written{}, w.err
}

// Whoever spent something that was stored is looked at, and nobody else.
func TestTheIntakeTouchesWhoSpends(t *testing.T) {
	ids := id.SystemSource()
	a, b, key := id.New[id.WorkspaceKind](ids), id.New[id.WorkspaceKind](ids), id.New[id.KeyKind](ids)
	at := time.Date(2026, 5, 20, 23, 59, 0, 0, time.UTC)
	batch := usage.Batch{Entries: []usage.Entry{{Workspace: a, Key: key, StartedAt: at, Cost: meter.Cost{Total: 1}}, {Workspace: b, Key: key, StartedAt: at}}}
	w := NewWatcher(WatcherDeps{})
	_, err := NewIntake(writer{err: errors.New("away")}, w).WriteUsage(t.Context(), batch)
	require.Error(t, err)
	require.Empty(t, w.touched)
	_, err = NewIntake(writer{}, w).WriteUsage(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, map[id.Workspace]*touch{a: {keys: map[id.Key]bool{key: true}, days: map[time.Time]bool{at.Truncate(24 * time.Hour): true}}}, w.touched)
}
