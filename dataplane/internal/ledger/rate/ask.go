package rate

import (
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// AppendMinutes appends what subjects used in the last minute, in their order, to
// dst. Those that were not asked for lately are read first, all at once, for
// Options.Wait at most. While the store is away held ones go on with this
// gateway's own counts, known for as long as the last that was heard of the
// others is within the minute; the rest is unknown, at once.
func (r *Rates) AppendMinutes(ctx context.Context, dst []Minute, ws id.Workspace, asked []Asked) []Minute {
	from := len(dst)
	dst = slices.Grow(dst, len(asked))[:from+len(asked)]
	if minutes := dst[from:]; !r.ask(ws, asked, minutes, !r.down.Load()) {
		r.await(ctx, ws, asked, minutes)
	}
	return dst
}

// await asks again after every round until all is known, or nobody waits longer.
func (r *Rates) await(ctx context.Context, ws id.Workspace, asked []Asked, minutes []Minute) {
	timer := time.NewTimer(r.opts.Wait)
	defer timer.Stop()
	for wait := true; ; {
		looked := r.round()
		if r.ask(ws, asked, minutes, wait && !r.down.Load()) {
			return
		}
		select {
		case r.kick <- struct{}{}:
		default:
		}
		select {
		case <-looked:
		case <-ctx.Done():
			wait = false
		case <-timer.C:
			wait = false
			r.metrics.timeouts.Inc()
			r.down.Store(true) // who comes next does not wait as long again
		}
	}
}

// round is closed when the round that is under way, or the next, has ended.
func (r *Rates) round() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looked
}

// ask fills minutes from what is held. When it may wait it returns false if some
// have to be read first, and has them read.
func (r *Rates) ask(ws id.Workspace, asked []Asked, minutes []Minute, wait bool) bool {
	done, now := true, r.opts.Now()
	for i := range asked {
		ref := subject{ws, asked[i].Name}
		s := r.shard(ref)
		s.mu.Lock()
		there := r.there(now)
		slot := slotOf(there)
		v := r.hold(s, ref, slot)
		v.asked = now
		if wait && !r.fresh(v, now) {
			v.wants, done = true, false
		}
		minutes[i] = v.minute(slot, leftOf(there), asked[i].Limit)
		minutes[i].Known = !v.read.IsZero() && now.Sub(v.read) <= Window
		s.mu.Unlock()
	}
	return done
}

// fresh says whether v may be answered from. One that is in use is read again
// with every round; that of a slow store is used for a while longer rather than
// waited for.
func (r *Rates) fresh(v *view, now time.Time) bool {
	return !v.read.IsZero() && now.Sub(v.read) <= max(stale, 2*r.opts.Every)
}
