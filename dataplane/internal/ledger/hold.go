package ledger

import "time"

// fresh says whether v may be answered from. l.mu is held.
func (l *Ledger) fresh(v *view, clock time.Time) bool {
	return !v.read.IsZero() && clock.Sub(v.read) <= l.opts.Every+slack
}

// hold returns the view of an account, a new one when there is none. l.mu is
// held.
func (l *Ledger) hold(ref accountRef, today day, clock time.Time) *view {
	v := l.views[ref]
	if v == nil {
		if len(l.views) >= l.opts.Held {
			l.letGo()
		}
		v = newView(today, ref.account.Lifetime())
		v.looks = ref.looks()
		l.views[ref] = v
		v.ownAll(ref, l.queue)
	}
	v.used = clock
	return v
}

// looks is a number to begin to count looks with, another one for most accounts.
func (r accountRef) looks() uint8 {
	n := r.ws.UUID()[15]
	for i := range min(2, len(r.account)) {
		n = n<<3 + r.account[len(r.account)-1-i]
	}
	return n
}

// letGo makes room for one view: of some that nobody waits for, the one that
// was not asked for longest goes. l.mu is held.
func (l *Ledger) letGo() {
	left := 8
	var victim accountRef
	var oldest *view
	for ref, v := range l.views {
		if v.wants {
			continue
		}
		if oldest == nil || v.used.Before(oldest.used) {
			victim, oldest = ref, v
		}
		if left--; left == 0 {
			break
		}
	}
	delete(l.views, victim)
}
