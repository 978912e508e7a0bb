package health

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// News is signaled when a standing changed of which the others are to hear at
// once.
func (t *Table) News() <-chan struct{} { return t.news }

// Standings takes what the others have not heard of breakers, cool-downs and
// credentials.
func (t *Table) Standings() []wire.Health { return t.tellUnsaid(false) }

// Deltas takes all that the others have not heard. What is not sent has to be
// told again: see Repeat. The sender fills in who sends and when.
func (t *Table) Deltas() []wire.Health { return t.tellUnsaid(true) }

func (t *Table) tellUnsaid(counted bool) []wire.Health {
	var p packer
	names, list := t.list()
	for i, e := range list {
		n := wire.EndpointHealth{ID: names[i]}
		e.mu.Lock()
		if e.turned {
			n.Standing, e.turned = e.told(), false
		}
		if counted && e.unsaid {
			n.Cells = e.own.cells(nil, 0, func(b *openBucket) bool { return b.unsaid })
			for i := range e.own.open {
				e.own.open[i].unsaid = false
			}
			e.unsaid = false
		}
		e.mu.Unlock()
		p.endpoint(n)
	}
	p.credentials(t.credentials.tell(false))
	return p.done
}

// Repeat has what this gateway counted within so long told again, as far as
// buckets are open, and every standing that may still matter. It is for when
// the others may have missed some.
func (t *Table) Repeat(within time.Duration) {
	now := t.now()
	after := slotOf(now.Add(-within))
	_, list := t.list()
	for _, e := range list {
		e.mu.Lock()
		e.turned = e.turned || now.Sub(later(e.breaker.openUntil, e.cool.until)) < window
		for i := range e.own.open {
			if b := &e.own.open[i]; b.slot >= after {
				b.unsaid, e.unsaid = true, true
			}
		}
		e.mu.Unlock()
	}
	t.credentials.repeat()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Everything is all that is known, for a gateway that knows nothing yet: of
// open buckets what each gateway counted, of older ones the sum.
func (t *Table) Everything(self uuid.UUID) []wire.Health {
	now := t.now()
	settled := slotOf(now) - openBuckets
	p := packer{settled: settled}
	names, list := t.list()
	for i, e := range list {
		n := wire.EndpointHealth{ID: names[i]}
		e.mu.Lock()
		n.Standing = e.told()
		n.Cells = e.everything(now, settled, self)
		e.mu.Unlock()
		p.endpoint(n)
	}
	p.credentials(t.credentials.tell(true))
	if len(p.done) == 0 {
		p.next()
	}
	p.done[len(p.done)-1].Last = true
	return p.done
}

// everything is what is known of an endpoint's calls, by bucket.
func (e *endpoint) everything(now time.Time, settled int64, self uuid.UUID) (cells []wire.HealthCell) {
	if e.calls == nil {
		return nil
	}
	e.advance(slotOf(now))
	sealed := max(settled, e.sealed)
	for slot := max(e.calls.head-int64(buckets)+1, 1); slot <= sealed; slot++ {
		if c := e.calls.at(slot); c.Calls() > 0 {
			cells = append(cells, wire.HealthCell{Slot: slot, HealthCounts: copyOf(c)})
		}
	}
	of := func(instance uuid.UUID, o *origin) {
		n := len(cells)
		cells = o.cells(cells, sealed, func(*openBucket) bool { return true })
		for i := n; i < len(cells); i++ {
			cells[i].Origin = instance
		}
	}
	of(self, &e.own)
	for instance, o := range e.others {
		of(instance, o)
	}
	slices.SortStableFunc(cells, func(a, b wire.HealthCell) int { return cmp.Compare(a.Slot, b.Slot) })
	return cells
}

// messageRoom is what of a message is for endpoints and credentials.
const (
	messageRoom = wire.MaxHealth - 32<<10 // the rest is for who sends, and the gateways named
	mostCells   = 4096
	mostEntries = 2048
)

// packer puts entries into as few messages as they fit in.
type packer struct {
	settled int64
	done    []wire.Health
	size    int // of the last, at most
	cells   int
}

// next begins a message.
func (p *packer) next() *wire.Health {
	p.done = append(p.done, wire.Health{Settled: p.settled})
	p.size, p.cells = 0, 0
	return &p.done[len(p.done)-1]
}

// room is the message that has room for so much.
func (p *packer) room(size, cells int) *wire.Health {
	if len(p.done) == 0 {
		return p.next()
	}
	last := &p.done[len(p.done)-1]
	if p.size+size > messageRoom || p.cells+cells > mostCells || len(last.Endpoints)+len(last.Credentials) >= mostEntries {
		return p.next()
	}
	return last
}

// endpoint adds an entry when there is anything in it. A long one is divided
// between buckets: what several gateways counted in one stays together, so
// that it can be added up.
func (p *packer) endpoint(n wire.EndpointHealth) {
	if n.Standing == (wire.EndpointStanding{}) && len(n.Cells) == 0 {
		return
	}
	for {
		part := n
		part.Cells = fitting(n.Cells)
		size := part.HealthSize()
		m := p.room(size, len(part.Cells))
		m.Endpoints = append(m.Endpoints, part)
		p.size, p.cells = p.size+size, p.cells+len(part.Cells)
		if n.Cells = n.Cells[len(part.Cells):]; len(n.Cells) == 0 {
			return
		}
	}
}

// fitting is as many cells, of whole buckets, as one message has room for, and
// those of one bucket at least.
func fitting(cells []wire.HealthCell) []wire.HealthCell {
	whole := wire.EndpointHealth{Cells: cells}
	if whole.HealthSize() <= messageRoom/2 && len(cells) <= mostCells/2 {
		return cells
	}
	end, size := 0, 0
	for i := 0; i < len(cells); {
		n := i
		for n < len(cells) && cells[n].Slot == cells[i].Slot {
			n++
		}
		bucket := wire.EndpointHealth{Cells: cells[i:n]}
		if size += bucket.HealthSize(); end > 0 && (size > messageRoom/2 || n > mostCells/2) {
			break
		}
		end, i = n, n
	}
	return cells[:end]
}

func (p *packer) credentials(told []wire.CredentialStanding) {
	for _, c := range told {
		m := p.room(wire.CredentialStandingSize, 0)
		m.Credentials = append(m.Credentials, c)
		p.size += wire.CredentialStandingSize
	}
}

// Count notes trouble with what others told that was seen outside of the table.
func (t *Table) Count(kind Trouble) { t.trouble.add(kind, 1) }

// Status is the table's state for metrics.
type Status struct {
	Endpoints      int // of which anything is known
	Open, Cooling  int // of these, when the last view was made
	Gateways       int // others that were heard in the last ten minutes
	Opened, Closed int64
	Trouble        map[Trouble]int64
}

// Status returns the present state.
func (t *Table) Status() Status {
	v := t.view()
	s := Status{
		Endpoints: len(v.frame.states), Open: v.frame.open, Cooling: v.frame.cooling, Gateways: t.peers.lately(v.now),
		Opened: t.opened.Load(), Closed: t.closed.Load(), Trouble: make(map[Trouble]int64, troubleKinds),
	}
	for _, kind := range Troubles() {
		s.Trouble[kind] = t.trouble.n[kind].Load()
	}
	return s
}
