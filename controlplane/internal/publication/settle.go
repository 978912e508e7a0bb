package publication

import (
	"slices"
	"time"
)

// SettleAfter is how long receipts of a publication are waited for. Then its
// account is closed with whoever is still pending.
const SettleAfter = 10 * time.Minute

// Settled lists the published publications whose account can be closed: no
// live gateway is behind, or SettleAfter has passed. They stay open until
// Close.
func (t *Tracker) Settled(now time.Time) []Publication {
	live := t.fleet.Live()
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Publication
	for _, entries := range t.open {
		for _, e := range entries {
			if e.p.PublishedAt == nil {
				continue
			}
			p := e.account(live)
			if p.Receipts.Pending == 0 || now.Sub(*p.PublishedAt) > SettleAfter {
				list = append(list, p)
			}
		}
	}
	return list
}

// Close stops to follow publications.
func (t *Tracker) Close(list ...Publication) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range list {
		t.closeLocked(p)
	}
}

// Sweep forgets what nobody can be waiting for, in control planes that do not
// lead and so never settle.
func (t *Tracker) Sweep(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, list := range t.open {
		for _, e := range slices.Clone(list) { // closing changes the list
			if now.Sub(e.p.CreatedAt) > 2*SettleAfter {
				t.closeLocked(e.p)
			}
		}
	}
	for ws, marks := range t.marks {
		for m, a := range marks {
			if now.Sub(a.at) > SettleAfter {
				delete(marks, m)
				t.marked--
			}
		}
		if len(marks) == 0 {
			delete(t.marks, ws)
		}
	}
}

func (t *Tracker) closeLocked(p Publication) {
	list := t.open[p.Workspace]
	kept := slices.DeleteFunc(list, func(e *entry) bool { return e.p.Revision == p.Revision })
	t.count -= len(list) - len(kept)
	if len(kept) == 0 {
		delete(t.open, p.Workspace)
		return
	}
	t.open[p.Workspace] = kept
}

// Signal wakes who waits for receipts: a gateway came, went or moved on.
func (t *Tracker) Signal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.signal()
}

func (t *Tracker) signal() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Changed returns a channel that is closed at the next change.
func (t *Tracker) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}

// Len is the number of open publications.
func (t *Tracker) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}
