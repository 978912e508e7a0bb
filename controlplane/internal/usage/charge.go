package usage

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// Charge is one line that a batch writes into the wallet of a workspace.
type Charge struct {
	Workspace id.Workspace
	Entries   int64       // that are charged for; less than 0 where that is taken back
	Amount    money.Nanos // likewise
}

// Charges returns the lines of a batch that brings added in and takes removed
// out: at most one of each for a workspace, sorted by workspace, so that writers
// that lock wallets in that order cannot block each other for ever. What is not
// charged for makes none.
func Charges(added, removed []Entry) []Charge {
	list := append(charges(added, 1), charges(removed, -1)...)
	slices.SortStableFunc(list, func(a, b Charge) int {
		aw, bw := a.Workspace.UUID(), b.Workspace.UUID()
		return cmp.Or(bytes.Compare(aw[:], bw[:]), -cmp.Compare(a.Entries, b.Entries))
	})
	return list
}

func charges(entries []Entry, sign int64) []Charge {
	var sums map[id.Workspace]Charge
	for i := range entries {
		e := &entries[i]
		if e.Charge == 0 {
			continue
		}
		if sums == nil {
			sums = make(map[id.Workspace]Charge)
		}
		c := sums[e.Workspace]
		sums[e.Workspace] = Charge{Workspace: e.Workspace, Entries: c.Entries + sign, Amount: c.Amount.Add(money.Nanos(sign) * e.Charge)}
	}
	return slices.Collect(maps.Values(sums))
}
