package usage

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

func TestChargesAreSummedUp(t *testing.T) {
	first, second := fill.Value[id.Workspace](2), fill.Value[id.Workspace](1) // in the order of their bytes
	of := func(ws id.Workspace, amounts ...money.Nanos) (list []Entry) {
		for _, a := range amounts {
			list = append(list, Entry{Workspace: ws, Charge: a})
		}
		return list
	}
	require.Empty(t, Charges(of(first, 0, 0), of(second, 0)), "what costs nothing is no line")
	require.Equal(t, []Charge{
		{Workspace: first, Entries: 2, Amount: 12}, {Workspace: first, Entries: -1, Amount: -7}, {Workspace: second, Entries: 1, Amount: 3},
	}, Charges(append(of(second, 3), of(first, 5, 0, 7)...), of(first, 7)))
}

func TestChargesComeToWhatTheEntriesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.Custom(func(t *rapid.T) Entry {
			return Entry{Workspace: fill.Value[id.Workspace](rapid.IntRange(1, 4).Draw(t, "workspace")), Charge: money.Nanos(rapid.Int64Range(0, 1e15).Draw(t, "charge"))}
		})
		added, removed := rapid.SliceOf(entries).Draw(t, "added"), rapid.SliceOf(entries).Draw(t, "removed")
		want := map[id.Workspace]money.Nanos{}
		for _, e := range added {
			want[e.Workspace] += e.Charge
		}
		for _, e := range removed {
			want[e.Workspace] -= e.Charge
		}
		var last id.Workspace
		for _, c := range Charges(added, removed) {
			want[c.Workspace] -= c.Amount
			require.LessOrEqual(t, last.String(), c.Workspace.String(), "in the order of the locks")
			last = c.Workspace
		}
		for ws, rest := range want {
			require.Zero(t, rest, ws)
		}
	})
}
