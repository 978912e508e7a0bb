package ledger

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Usage is what a key has used, over all gateways, in the UTC day, the ISO week
// and the month of now. This gateway's own requests are in it as soon as they
// are on record, those of others a quarter of a second later at most. A key
// that was not asked for lately is read first, for Options.Wait at most. What
// was read once goes on with this gateway's own requests while the store is
// away; what was not is unknown then, at once.
func (l *Ledger) Usage(ctx context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage {
	ref, today, clock := keyRef{ws, key}, dayOf(now), l.opts.Now()
	l.mu.Lock()
	v := l.hold(ref, today, clock)
	if l.fresh(v, clock) || l.down {
		u := v.usage(today)
		l.mu.Unlock()
		return u
	}
	v.wants = true
	looked := l.looked
	l.mu.Unlock()
	return l.await(ctx, v, today, looked)
}

// await waits for a look that has v, and returns what is known then.
func (l *Ledger) await(ctx context.Context, v *view, today day, looked chan struct{}) flow.Usage {
	timer := time.NewTimer(l.opts.Wait)
	defer timer.Stop()
	for {
		select {
		case l.kick <- struct{}{}:
		default:
		}
		expired := false
		select {
		case <-looked:
		case <-ctx.Done():
			expired = true
		case <-timer.C:
			expired = true
			l.metrics.timeouts.Inc()
		}
		l.mu.Lock()
		if !v.wants || l.down || expired {
			// Who comes next does not wait as long again.
			l.down = l.down || expired && ctx.Err() == nil
			u := v.usage(today)
			l.mu.Unlock()
			return u
		}
		looked = l.looked
		l.mu.Unlock()
	}
}

// fresh says whether v may be answered from. l.mu is held.
func (l *Ledger) fresh(v *view, clock time.Time) bool {
	return !v.read.IsZero() && clock.Sub(v.read) <= l.opts.Every+slack
}

// hold returns the view of a key, a new one when there is none. l.mu is held.
func (l *Ledger) hold(ref keyRef, today day, clock time.Time) *view {
	v := l.views[ref]
	if v == nil {
		if len(l.views) >= l.opts.Held {
			l.letGo()
		}
		v = newView(today)
		v.looks = ref.key.UUID()[15]
		l.views[ref] = v
		for _, p := range l.queue {
			l.own(ref, v, p)
		}
	}
	v.used = clock
	return v
}

// own adds to v what p has of its key. l.mu is held.
func (*Ledger) own(ref keyRef, v *view, p *page) {
	for i := range v.cells {
		if s, ok := p.spend[dayRef{ref, v.first + day(i)}]; ok {
			v.cells[i].own = v.cells[i].own.Add(s)
			v.changed = true
		}
	}
}

// letGo makes room for one view: of some that nobody waits for, the one that
// was not asked for longest goes. l.mu is held.
func (l *Ledger) letGo() {
	left := 8
	var victim keyRef
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
