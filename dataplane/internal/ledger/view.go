package ledger

import (
	"time"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// cell is what a key used on a day: base is what the store has counted for all
// gateways, own what this gateway adds and the store has not counted yet.
type cell struct{ base, own wire.Spend }

// view is what is known of a key.
type view struct {
	used  time.Time // when it was last asked for
	read  time.Time // when the store was last read; zero: never in this epoch
	wants bool      // a request waits for it
	looks uint8     // at it; begins anywhere, so that whole ones do not come together
	first day       // of cells
	cells []cell    // one for each day up to the newest

	// What days to sum up, worked out when the day changes, and their sums,
	// worked out when a cell did.
	today, monday, month day
	sums                 flow.Usage
	changed              bool
}

func newView(today day) *view {
	v := &view{first: today.oldest(), changed: true}
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

// cell is that of a day, to be changed; nil when no window of now holds it.
func (v *view) cell(d day) *cell {
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

// usage is what the key used in the windows of a day.
func (v *view) usage(d day) flow.Usage {
	if v.read.IsZero() {
		return flow.Usage{}
	}
	if d != v.today {
		v.reach(d)
	}
	if v.changed {
		v.sums = flow.Usage{Daily: v.sum(d, d), Weekly: v.sum(v.monday, d), Monthly: v.sum(v.month, d)}
		v.changed = false
	}
	return v.sums
}

func (v *view) sum(from, to day) flow.Bucket {
	if from < v.first {
		return flow.Bucket{} // the clock went back further than what is held
	}
	var all wire.Spend
	for i := range v.cells[from-v.first : to-v.first+1] {
		c := &v.cells[int(from-v.first)+i]
		all = all.Add(c.base).Add(c.own)
	}
	return flow.Bucket{Known: true, Requests: all.Requests, Cost: all.Cost}
}
