package rate

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// batch is what one round sends and reads.
type batch struct {
	now     time.Time
	slot    int64 // the present one
	sending []sending
	wanted  []*view // somebody waits for them
	reading []*view // they are in use
}

// sending is an increment with the view that it comes from.
type sending struct {
	view   *view
	flight *flight
}

func (b *batch) empty() bool { return len(b.sending)+len(b.wanted)+len(b.reading) == 0 }

// gather collects what is to be done, for everything when it is due, else for
// what somebody waits for. It lets go of what was not used within the minute.
func (r *Rates) gather(due bool) *batch {
	b := &batch{now: r.opts.Now()}
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		b.slot = slotOf(r.there(b.now))
		for ref, v := range s.views {
			switch {
			case v.wants:
				b.wanted = append(b.wanted, v)
			case !due:
				continue
			case b.now.Sub(v.asked) <= warm:
				b.reading = append(b.reading, v)
			}
			b.send(v, r.name)
			if !v.wants && len(v.flying) == 0 && b.now.Sub(v.used()) > Window {
				delete(s.views, ref)
			}
		}
		if due {
			s.leaving = b.leave(s.leaving, r.name)
		}
		s.mu.Unlock()
	}
	r.work.inUse = !b.empty()
	return b
}

// send has sent what the store lacks of v. Its shard's lock is held.
func (b *batch) send(v *view, name func() string) {
	v.takeOff(b.slot, name)
	for _, f := range v.flying {
		b.sending = append(b.sending, sending{v, f})
	}
}

// leave has sent what views that were let go of still have to say, and returns
// those that have. Their shard's lock is held.
func (b *batch) leave(list []*view, name func() string) []*view {
	left := list[:0]
	for _, v := range list {
		if b.send(v, name); len(v.flying) > 0 {
			left = append(left, v)
		}
	}
	clear(list[len(left):])
	if len(left) == 0 {
		return nil
	}
	return left
}

// send counts what is new, some hundreds of subjects at a time.
func (r *Rates) send(ctx context.Context, b *batch) error {
	for from := 0; from < len(b.sending); from += together {
		part := b.sending[from:min(from+together, len(b.sending))]
		if err := r.sendPart(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rates) sendPart(ctx context.Context, part []sending) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	list := make([]Increment, len(part))
	for i := range part {
		v, f := part[i].view, part[i].flight
		list[i] = Increment{Ref: Ref{v.ws, v.token, f.minute}, ID: f.id, By: &f.by}
	}
	err := r.opts.Store.Add(ctx, r.work.epoch, list)
	slot := r.slot()
	for i := range list {
		inc, v := &list[i], part[i].view
		if !inc.Taken {
			continue
		}
		r.metrics.increments.Inc()
		v.shard.mu.Lock()
		v.landed(part[i].flight)
		if inc.Told {
			v.take(slot, inc.Minute, &inc.Total)
			v.told = inc.Minute == minuteOf(slot)
		}
		v.shard.mu.Unlock()
	}
	return err
}

// settles is for how long after the end of a minute others may still bring what
// belongs to it, and after the store was away.
const settles = 4 * time.Second

// looks is after how many looks the minute before the present one is read again:
// a gateway that was away may have brought something.
const looks = 25

// read reads the views of the batch, those first that somebody waits for, and
// always the epoch.
func (r *Rates) read(ctx context.Context, b *batch) error {
	views := append(b.wanted, b.reading...) //nolint:gocritic // nobody reads wanted again
	for first := true; first || len(views) > 0; first = false {
		var refs []Ref
		var of []*view
		n := 0
		for ; n < len(views) && len(refs) < together; n++ {
			refs = r.needs(b, views[n], refs)
			for len(of) < len(refs) {
				of = append(of, views[n])
			}
		}
		if err := r.readPart(ctx, b, refs, of, views[:n]); err != nil {
			return err
		}
		r.tell()
		views = views[n:]
	}
	return nil
}

// needs adds what is to be read of v: the present minute where sending did not
// tell it, and the one before when it may have changed or was not seen whole.
func (r *Rates) needs(b *batch, v *view, refs []Ref) []Ref {
	v.shard.mu.Lock()
	defer v.shard.mu.Unlock()
	v.looks++
	minute := minuteOf(b.slot)
	if !v.told {
		refs = append(refs, Ref{v.ws, v.token, minute})
	}
	v.told = false
	begun := time.Duration(b.slot-minute*int64(wire.RateSlots)) * wire.RateSlot
	if v.wants || v.looks%looks == 0 || begun < settles || v.read.IsZero() || b.now.Sub(v.read) > stale || b.now.Sub(r.work.shaken) < settles {
		refs = append(refs, Ref{v.ws, v.token, minute - 1})
	}
	return refs
}

// readPart takes in what some views need, and notes that all of them were read.
func (r *Rates) readPart(ctx context.Context, b *batch, refs []Ref, of, views []*view) error {
	bound, cancel := bounded(ctx)
	defer cancel()
	type found struct {
		at     int
		counts wire.RateMinute
	}
	var got []found
	epoch, err := r.opts.Store.Read(bound, r.work.epoch, refs, func(i int, counts *wire.RateMinute) {
		got = append(got, found{i, *counts})
	})
	if err != nil {
		return err
	}
	if err := r.check(ctx, epoch); err != nil {
		return err
	}
	slot := r.slot()
	for i := range got {
		v := of[got[i].at]
		v.shard.mu.Lock()
		v.take(slot, refs[got[i].at].Minute, &got[i].counts)
		v.shard.mu.Unlock()
	}
	for _, v := range views {
		v.shard.mu.Lock()
		v.read, v.wants = b.now, false
		v.shard.mu.Unlock()
	}
	return nil
}
