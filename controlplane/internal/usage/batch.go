package usage

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Compare orders entries as the store locks them: by workspace and id.
func Compare(a, b Entry) int {
	aw, bw, ai, bi := a.Workspace.UUID(), b.Workspace.UUID(), a.ID.UUID(), b.ID.UUID()
	return cmp.Or(bytes.Compare(aw[:], bw[:]), bytes.Compare(ai[:], bi[:]))
}

// newBatch sorts what came. Of entries with one id it keeps one, rather a
// completed than an unknown one.
func newBatch(list []decoded) Batch {
	var b Batch
	for _, d := range list {
		if d.entry != nil {
			b.Entries = append(b.Entries, *d.entry)
		}
		if d.dead != nil {
			b.Dead = append(b.Dead, *d.dead)
		}
		if !d.Gateway.IsZero() && d.Run != (Run{}) {
			b.Arrivals = append(b.Arrivals, d.Arrival)
		}
	}
	slices.SortStableFunc(b.Entries, func(x, y Entry) int {
		return cmp.Or(Compare(x, y), cmp.Compare(rank(x.Outcome), rank(y.Outcome)))
	})
	b.Entries = slices.CompactFunc(b.Entries, func(x, y Entry) bool { return Compare(x, y) == 0 })
	slices.SortStableFunc(b.Dead, func(x, y DeadLetter) int { return bytes.Compare(x.Fingerprint[:], y.Fingerprint[:]) })
	b.Dead = slices.CompactFunc(b.Dead, func(x, y DeadLetter) bool { return x.Fingerprint == y.Fingerprint })
	slices.SortFunc(b.Arrivals, func(x, y Arrival) int {
		xg, yg := x.Gateway.UUID(), y.Gateway.UUID()
		return cmp.Or(bytes.Compare(xg[:], yg[:]), cmp.Compare(x.Run.First, y.Run.First))
	})
	return b
}

func rank(o wire.Outcome) int {
	if o == wire.Unknown {
		return 1
	}
	return 0
}
