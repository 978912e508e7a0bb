package ledger

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// accountRef names an account.
type accountRef struct {
	ws      id.Workspace
	account wire.Account
}

// totalRef names a counter of an account: of a day, or with ever of all time.
type totalRef struct {
	accountRef
	day day
}

// amounts are what accounts used, by day. What counts for all time is all of it.
type amounts map[accountRef][]amount

type amount struct {
	day day
	wire.Spend
}

// add adds s, and returns how many counters that needs which were not needed
// before.
func (a amounts) add(ref accountRef, d day, s wire.Spend) int {
	list := a[ref]
	for i := range list {
		if list[i].day == d {
			list[i].Spend = list[i].Add(s)
			return 0
		}
	}
	a[ref] = append(list, amount{d, s})
	if len(list) == 0 && ref.account.Lifetime() {
		return 2
	}
	return 1
}

// sum is list together.
func sum(list []amount) (all wire.Spend) {
	for i := range list {
		all = all.Add(list[i].Spend)
	}
	return all
}

// page is what a run of sequences adds. Its commit is one write.
type page struct {
	last     uint64 // sequence
	spend    amounts
	counters int  // that spend needs
	full     bool // nothing comes to it any more
}

// takes reports whether c surely fits.
func (p *page) takes(c *spool.Count) bool {
	return !p.full && (p.counters == 0 || p.counters+2*len(c.Spends) <= pageCounters)
}

// enqueue adds c to the last page of queue or to a new one; it returns false
// when there are too many.
func enqueue(queue []*page, c spool.Count) ([]*page, bool) {
	n := len(queue)
	if n == 0 || !queue[n-1].takes(&c) {
		if n >= pagesMax {
			return queue, false
		}
		queue = append(queue, &page{spend: make(amounts)})
		n++
	}
	p, d := queue[n-1], dayOf(c.At)
	p.last = c.Sequence
	for i := range c.Spends {
		p.counters += p.spend.add(accountRef{c.Workspace, c.Spends[i].Account}, d, c.Spends[i].Spend)
	}
	return queue, true
}
