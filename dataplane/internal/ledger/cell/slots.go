package cell

import "sync"

// Slot is the right to run, from Acquire until Release.
type Slot struct {
	once    sync.Once
	release func(*Slot)
	until   int64 // when it counts as lost
}

// Release gives the slot back. It may be called more than once, and does not
// wait for anything.
func (s *Slot) Release() { s.once.Do(func() { s.release(s) }) }

// running are the slots that a gateway has open.
type running struct{ open map[*Slot]struct{} }

func newRunning() *running { return &running{open: make(map[*Slot]struct{})} }

func (r *running) state(own *entry, at instant) { own.setSlots(int64(len(r.open)), at) }

func (e *entry) setSlots(n int64, at instant) {
	e.slots, e.lease = n, 0
	if n > 0 {
		e.lease = leaseFrom(at)
	}
}

// leaseFrom is until when what is stated now is in use.
func leaseFrom(at instant) int64 { return at.hi/milli + lease.Milliseconds() }

// leased says whether what a gateway stated is still in use.
func (e *entry) leased(at instant) bool { return e.lease*milli > at.lo }

func (r *running) judge(a *ask, others []entry, own *entry, at instant) verdict {
	mine := own.slots
	v := verdict{used: mine}
	for i := range others {
		if others[i].leased(at) {
			v.used = add(v.used, others[i].slots)
		}
	}
	if add(v.used, a.n) > a.most {
		return v
	}
	if n, _ := wanting(others, at); n > 0 && mine > 0 && add(mine, a.n) > share(a.most, n) {
		return v
	}
	own.setSlots(mine+a.n, at)
	v.ok = true
	return v
}

func (r *running) grant(a *ask, at instant) {
	a.slot.until = at.hi + int64(slotLife)
	r.open[a.slot] = struct{}{}
}

func (r *running) adopt(*entry, bool) {} // what another process ran has ended with it

func (r *running) tend(at instant) condition {
	before := len(r.open)
	for s := range r.open {
		if s.until <= at.lo {
			delete(r.open, s)
		}
	}
	n := len(r.open)
	return condition{changed: n != before, empty: n == 0, leased: n > 0}
}

// release frees a slot; false when it was lost before.
func (r *running) release(s *Slot) bool {
	_, ok := r.open[s]
	delete(r.open, s)
	return ok
}
