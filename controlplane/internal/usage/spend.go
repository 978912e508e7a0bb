package usage

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// SpendCell names the total of an account: of a UTC day, or of all time.
type SpendCell struct {
	Workspace id.Workspace
	Account   wire.Account
	Day       time.Time // midnight UTC; zero: of all time
}

// Spend is an amount in a cell, or one to add to it.
type Spend struct {
	SpendCell
	wire.Spend
}

// SpendsOf visits what e adds to each cell.
func SpendsOf(e *Entry, visit func(SpendCell, wire.Spend)) {
	ev := e.event()
	day := e.StartedAt.UTC().Truncate(24 * time.Hour)
	for _, s := range ev.Spends(nil) {
		visit(SpendCell{e.Workspace, s.Account, day}, s.Spend)
		if s.Account.Lifetime() {
			visit(SpendCell{Workspace: e.Workspace, Account: s.Account}, s.Spend)
		}
	}
}

// event is of e what accounts are counted by.
func (e *Entry) event() wire.UsageEvent {
	return wire.UsageEvent{
		ID: e.ID, PrimaryID: e.PrimaryID, Workspace: e.Workspace, Key: e.Key, User: e.User, Purpose: e.Purpose,
		Outcome: e.Outcome, CredentialSource: e.CredentialSource, Cost: e.Cost, Charge: e.Charge, Attribution: e.Attribution,
	}
}

// Spends returns what the totals of accounts change by when added comes in and
// removed goes out, one for each cell that changes, sorted as Rollups are: those
// of all time first.
func Spends(added, removed []Entry) []Spend {
	cells := make(map[SpendCell]wire.Spend)
	for i := range added {
		SpendsOf(&added[i], func(c SpendCell, s wire.Spend) { cells[c] = cells[c].Add(s) })
	}
	for i := range removed {
		SpendsOf(&removed[i], func(c SpendCell, s wire.Spend) {
			cells[c] = cells[c].Add(wire.Spend{Requests: -s.Requests, Cost: -s.Cost, BYOK: -s.BYOK})
		})
	}
	list := make([]Spend, 0, len(cells))
	for c, s := range cells {
		if !s.IsZero() {
			list = append(list, Spend{c, s})
		}
	}
	slices.SortFunc(list, func(a, b Spend) int { return a.compare(b.SpendCell) })
	return list
}

func (c SpendCell) compare(d SpendCell) int {
	cw, dw := c.Workspace.UUID(), d.Workspace.UUID()
	return cmp.Or(
		c.Day.Compare(d.Day),
		bytes.Compare(cw[:], dw[:]),
		cmp.Compare(c.Account, d.Account),
	)
}
