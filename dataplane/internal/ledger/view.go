package ledger

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// cell is what an account used on a day, or ever: base is what the store has
// counted for all gateways, own what this gateway adds and the store has not
// counted yet.
type cell struct{ base, own wire.Spend }

func (c *cell) all() wire.Spend { return c.base.Add(c.own) }

// counted moves s from own to base.
func (c *cell) counted(s wire.Spend) { c.base, c.own = c.base.Add(s), c.own.Less(s) }

// view is what is known of an account.
type view struct {
	used  time.Time // when it was last asked for
	read  time.Time // when the store was last read; zero: never in this epoch
	wants bool      // a request waits for it
	looks uint8     // at it; begins anywhere, so that whole ones do not come together
	first day       // of cells
	cells []cell    // one for each day up to the newest
	ever  cell      // stays empty for an account without a total of all time
	lives bool      // it has one

	// What days to sum up, worked out when the day changes, and their sums,
	// worked out when a cell did.
	today, monday, month day
	sums                 Totals
	changed              bool
}

func newView(today day, lives bool) *view {
	v := &view{first: today.oldest(), lives: lives, changed: true}
	v.reach(today)
	return v
}

// reach makes cells up to a day and lets go of those that no window of it
// holds.
func (v *view) reach(d day) {
	v.today, v.monday, v.month = d, d.monday(), d.month()
	v.changed = true
	if d <= v.newest() {
		return
	}
	if past := min(d.oldest()-v.first, day(len(v.cells))); past > 0 {
		v.cells = append([]cell(nil), v.cells[past:]...)
	}
	v.first = max(v.first, d.oldest())
	for v.newest() < d {
		v.cells = append(v.cells, cell{})
	}
}

// newest is the last day of cells.
func (v *view) newest() day { return v.first + day(len(v.cells)) - 1 }

// cell is that of a day or of ever, to be changed; nil when no window of now
// holds it.
func (v *view) cell(d day) *cell {
	if d == ever {
		v.changed = true
		return &v.ever
	}
	if d < v.first {
		return nil
	}
	if d > v.newest() {
		if d > v.today+1 {
			return nil // a clock is far off
		}
		today := v.today
		v.reach(d)
		v.today, v.monday, v.month = today, today.monday(), today.month()
	}
	v.changed = true
	return &v.cells[d-v.first]
}

// own adds what this gateway used.
func (v *view) own(d day, s wire.Spend) {
	if c := v.cell(d); c != nil {
		c.own = c.own.Add(s)
	}
	if v.lives {
		c := v.cell(ever)
		c.own = c.own.Add(s)
	}
}

// ownAll adds what queue has of the view's account.
func (v *view) ownAll(ref accountRef, queue []*page) {
	for _, p := range queue {
		for _, a := range p.spend[ref] {
			v.own(a.day, a.Spend)
		}
	}
}

// counted notes that the store has list.
func (v *view) counted(list []amount) {
	for _, a := range list {
		if c := v.cell(a.day); c != nil {
			c.counted(a.Spend)
		}
	}
	if v.lives {
		v.cell(ever).counted(sum(list))
	}
}

// totals is what the account used in the windows of a day, and ever.
func (v *view) totals(d day) Totals {
	if v.read.IsZero() {
		return Totals{}
	}
	if d != v.today {
		v.reach(d)
	}
	if min(v.monday, v.month) < v.first {
		return Totals{} // the clock went back further than what is held
	}
	if v.changed {
		v.sums = Totals{Known: true, Daily: v.sum(d, d), Weekly: v.sum(v.monday, d), Monthly: v.sum(v.month, d), Lifetime: v.ever.all()}
		v.changed = false
	}
	return v.sums
}

func (v *view) sum(from, to day) (all wire.Spend) {
	cells := v.cells[from-v.first : to-v.first+1]
	for i := range cells {
		all = all.Add(cells[i].all())
	}
	return all
}
