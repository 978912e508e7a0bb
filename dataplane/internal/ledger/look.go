package ledger

import (
	"context"
	"time"
)

// readMost is how many totals one read asks for.
const readMost = 1000

// settles is for how long after midnight the day before is looked at as often as
// the present one: requests that began before may end.
const settles = 15 * time.Minute

// looking is what one look asks for.
type looking struct {
	epoch  string
	views  map[accountRef]*view
	whole  map[accountRef]bool // of the view every day
	totals []totalRef
}

// look reads what the store has counted for the views that are wanted and, when
// it is due, for those that are in use. Days that are over hardly change: all
// of them are read first, and again with every 256th look.
func (l *Ledger) look(ctx context.Context, due bool) error {
	began := l.opts.Now()
	q := l.looking(began, due)
	for first := 0; first == 0 || first < len(q.totals); first += readMost {
		part := q.totals[first:min(first+readMost, len(q.totals))]
		if err := l.read(ctx, q, part); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref, v := range q.views {
		v.read = began
		if q.whole[ref] {
			v.wants = false
		}
	}
	return nil
}

func (l *Ledger) looking(now time.Time, due bool) looking {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := looking{epoch: l.epoch, views: make(map[accountRef]*view), whole: make(map[accountRef]bool)}
	today := dayOf(now)
	recent := dayOf(now.Add(-settles))
	for ref, v := range l.views {
		if !v.wants && (!due || now.Sub(v.used) > warm) {
			continue
		}
		v.looks++
		from := recent
		if v.wants || v.read.IsZero() || v.looks == 0 {
			from, q.whole[ref] = v.first, true
		}
		q.views[ref] = v
		if ref.account.Lifetime() {
			q.totals = append(q.totals, totalRef{ref, ever})
		}
		for d := max(from, v.first); d <= max(today, v.newest()); d++ {
			q.totals = append(q.totals, totalRef{ref, d})
		}
	}
	return q
}

// read takes some totals in. A counter only rises: an answer of a server that is
// behind does not take back what is known.
func (l *Ledger) read(ctx context.Context, q looking, totals []totalRef) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	got, _, err := l.opts.Store.Read(ctx, q.epoch, totals)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for ref, s := range got {
		if c := q.views[ref.accountRef].cell(ref.day); c != nil {
			c.base = c.base.Max(s)
		}
	}
	return nil
}
