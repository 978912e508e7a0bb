package cell

import (
	"slices"
	"time"
)

// step is what a plan comes to.
type step int

const (
	done   step = iota // everybody has an answer
	repeat             // what it went by is not good enough
	write              // it holds if the document is written
)

// plan is how a batch is decided if nobody else has written.
type plan struct {
	step     step
	batch    []*op
	verdicts []verdict
	dirty    bool // it states what changed before
	want     bool
	before   uint64
	doc      document
	rest     []entry // of doc, without the gateway's own
	at       instant
}

// plan decides a batch by the document as it is known. It fails, with nothing
// to be stated, when the time is not known, and answers nobody while the
// documents are not to be gone by.
func (l *cell) plan(t *turn) (plan, error) {
	at, known := l.c.clock.at()
	if !known {
		signal(l.c.wake)
		return plan{}, errClock
	}
	m := l.c.mark.Load()
	if m == nil {
		return plan{}, errUnmarked
	}
	if err := m.answers(at); err != nil {
		for _, o := range t.batch {
			o.fail(err)
		}
		t.batch = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		return plan{step: repeat}, nil
	}
	if l.ref.kind == holdings && slices.ContainsFunc(t.batch, func(o *op) bool { return !l.covers(o, at) }) {
		return plan{step: repeat}, nil
	}
	others := l.others()
	own := entry{gateway: l.c.opts.Gateway, instance: l.c.instance}
	l.table.state(&own, at)
	p := plan{batch: t.batch, at: at, before: l.sequence}
	admitted := false
	for _, o := range t.batch {
		v := l.table.judge(&o.ask, others, &own, at)
		admitted = admitted || v.ok
		p.want = p.want || !v.ok && o.n <= o.most
		p.verdicts = append(p.verdicts, v)
	}
	p.want = p.want && (admitted || l.dirty || l.wants(others, at)) && l.ref.kind != holdings && len(others) > 0
	if !admitted && !l.dirty && !p.want {
		return l.refuse(p, t.read), nil
	}
	if p.want {
		own.want = (at.hi + int64(wantFor)) / milli
	}
	p.step, p.dirty, l.dirty = write, l.dirty, false
	p.doc = document{kind: l.ref.kind, epoch: m.hash}
	l.draft(&p, &own, others)
	return p, nil
}

// refuse answers a batch of which nothing fits, if what it went by is fresh. l.mu
// is held.
func (l *cell) refuse(p plan, read bool) plan {
	if !read && l.c.opts.Now().Sub(l.asked) > l.c.opts.fresh {
		l.loaded, p.step = false, repeat
		return p
	}
	for i, o := range p.batch {
		if o.claim(decided) {
			o.done <- decision{verdict: p.verdicts[i]}
		}
	}
	return p
}

// draft fills the document. l.mu is held.
func (l *cell) draft(p *plan, own *entry, others []entry) {
	for i := range others {
		if e := others[i]; l.keep(&e, p.at) {
			p.rest = append(p.rest, e)
		}
	}
	p.doc.entries = slices.Clone(p.rest)
	if l.states(own, p.at) {
		at, _ := slices.BinarySearchFunc(p.doc.entries, own, func(e entry, own *entry) int {
			if e.before(own.gateway) {
				return -1
			}
			return 1
		})
		p.doc.entries = slices.Insert(p.doc.entries, at, *own)
	}
}

// slackUnits is how many units what is over is kept: clocks differ.
const slackUnits = 5

// keep says whether anything of another gateway's entry still matters, and
// drops what does not.
func (l *cell) keep(e *entry, at instant) bool {
	if t, ok := l.table.(*taken); ok {
		first := t.first(at) - slackUnits
		i := slices.IndexFunc(e.buckets, func(b bucket) bool { return b.unit >= first })
		if i < 0 {
			i = len(e.buckets)
		}
		e.buckets = e.buckets[i:]
	}
	return l.states(e, at)
}

// states says whether an entry says anything.
func (l *cell) states(e *entry, at instant) bool {
	switch {
	case e.want*milli > at.lo:
		return true
	case l.ref.kind == minutes:
		return len(e.buckets) > 0
	case l.ref.kind == slots:
		return e.slots > 0 && e.leased(at)
	default:
		return e.counts(at) > 0 || e.leased(at) && e.point.Epoch != ""
	}
}

// commit notes that a plan was written.
func (l *cell) commit(p *plan, sequence uint64, began time.Time) {
	at, _ := l.c.clock.at()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sequence, l.rest, l.asked, l.stated = sequence, p.rest, began, p.at.lo
	if p.want {
		l.wanted = p.at.lo
	}
	for i, o := range p.batch {
		v := p.verdicts[i]
		if !o.claim(decided) {
			l.dirty = l.dirty || v.ok // it was stated, and is not used
			continue
		}
		if v.ok {
			l.table.grant(&o.ask, at)
			// Who is let in after the unit that was stated is stated in the next.
			if t, ok := l.table.(*taken); ok && t.label(at) != t.label(p.at) {
				l.dirty = true
			}
		}
		o.done <- decision{verdict: v}
	}
}
