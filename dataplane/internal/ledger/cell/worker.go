package cell

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
)

// Bounds of a worker.
const (
	batchMost = 512                   // asks in one write
	readMost  = 16                    // accounts at a time
	rests     = time.Second           // for which a worker waits for more
	yieldMost = 50 * time.Millisecond // for which who has written lets others write
)

// serve decides what is asked and states what changed, until nothing was to be
// done for a while, the store does not answer, or ctx ends.
func (l *cell) serve(ctx context.Context) {
	for {
		err := l.turn(ctx)
		if ctx.Err() != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
			defer cancel()
			if l.is(func() bool { return l.dirty }) {
				_ = l.turn(last) // what is not stated lapses
			}
			err = errAway
		}
		if err != nil {
			l.quit(err)
			return
		}
		if !l.rested(ctx) {
			return
		}
	}
}

func (l *cell) is(what func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return what()
}

// quit ends the worker; who waits is told why.
func (l *cell) quit(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.queue {
		o.fail(err)
	}
	l.queue, l.working = nil, false
}

// rested waits for something to do; false when the worker has ended for want of
// it.
func (l *cell) rested(ctx context.Context) bool {
	due := func() bool { return len(l.queue) > 0 || l.dirty }
	if l.is(due) {
		return true
	}
	timer := time.NewTimer(rests)
	defer timer.Stop()
	select {
	case <-l.kick:
		return true
	case <-ctx.Done():
		return true
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working = due()
	return l.working
}

// turn is the work on one batch, which grows until it is decided.
type turn struct {
	batch     []*op
	read      bool // the document was read since the batch was gathered
	conflicts int
	took      time.Duration // the last write
}

func (l *cell) turn(ctx context.Context) error {
	var t turn
	for {
		t.batch = l.gather(t.batch)
		if len(t.batch) == 0 && !l.is(func() bool { return l.dirty }) {
			return nil
		}
		again, err := l.attempt(ctx, &t)
		if err != nil {
			for _, o := range t.batch {
				o.fail(err)
			}
			return err
		}
		if !again {
			// Who wrote against others lets them write next.
			l.pause(ctx, min(t.took*time.Duration(t.conflicts), yieldMost))
			return nil
		}
	}
}

// gather drops those of a batch that are not waited for any more, and adds what
// is asked.
func (l *cell) gather(batch []*op) []*op {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch = append(batch, l.queue...)
	batch = slices.DeleteFunc(batch, func(o *op) bool { return o.state.Load() != waiting })
	l.queue = nil
	if len(batch) > batchMost {
		l.queue = append(l.queue, batch[batchMost:]...)
		batch = batch[:batchMost]
	}
	return batch
}

// pause waits for a part of most, by chance.
func (l *cell) pause(ctx context.Context, most time.Duration) {
	d := time.Duration(float64(most) * l.c.opts.Draw())
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// attempt tries to decide a batch once. It has to be done again when the document
// that it went by was not the last one.
func (l *cell) attempt(ctx context.Context, t *turn) (again bool, err error) {
	within, cancel := context.WithTimeout(ctx, l.c.opts.Wait)
	defer cancel()
	if !l.is(func() bool { return l.loaded }) {
		if err := l.load(within); err != nil {
			return false, l.failed(ctx, err)
		}
		t.read = true
	}
	if l.ref.kind == holdings {
		t.batch = l.price(within, t.batch)
	}
	p, err := l.plan(t)
	if err != nil || p.step != write {
		return p.step == repeat, err
	}
	// With all of its time: other counters than these may have taken what there was.
	saving, saved := context.WithTimeout(ctx, l.c.opts.Wait)
	defer saved()
	began := l.c.opts.Now()
	sequence, err := l.c.opts.Store.Save(saving, l.subject, p.doc.encode(), p.before, l.ref.kind.life())
	t.took = l.c.opts.Now().Sub(began)
	if err == nil {
		l.c.metrics.writes.Inc()
		l.commit(&p, sequence, began)
		return false, nil
	}
	l.mu.Lock()
	// It may have been written all the same, with what nobody uses then.
	l.loaded, l.dirty = false, l.dirty || p.dirty || !errors.Is(err, ErrConflict)
	l.mu.Unlock()
	if !errors.Is(err, ErrConflict) {
		l.c.deaf.Store(true)
		return false, l.failed(ctx, err)
	}
	l.c.metrics.conflicts.Inc()
	t.conflicts++
	if t.conflicts > 1 {
		l.pause(ctx, t.took*time.Duration(min(t.conflicts, 8))/2)
	}
	return true, nil
}

// failed notes that something failed, of the store or of this document only.
func (l *cell) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil, errors.Is(err, errUnmarked):
	case errors.Is(err, ErrDocument):
		l.c.opts.Log.Error("the document of a limit cannot be read", slog.String("subject", l.subject))
	default:
		l.c.fail(err)
	}
	return err
}

// load reads the document. One that is missing, or of another epoch, may be so
// since the store lost its data.
func (l *cell) load(ctx context.Context) error {
	asked := l.c.opts.Now()
	s, err := l.c.opts.Store.Load(ctx, l.subject)
	if err != nil {
		return err
	}
	var d document
	if s.Sequence > 0 {
		if d, err = decode(s.Body, l.ref.kind); err != nil {
			return err
		}
	}
	if m := l.c.mark.Load(); s.Sequence == 0 || m == nil || d.epoch != m.hash {
		if err := l.c.readMark(ctx); err != nil {
			return err
		}
		if l.c.mark.Load() == nil {
			return errUnmarked
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded, l.sequence, l.asked, l.rest = true, s.Sequence, asked, nil
	for i := range d.entries {
		if e := &d.entries[i]; e.gateway != l.c.opts.Gateway {
			l.rest = append(l.rest, *e)
		} else if !l.adopted {
			l.adopt(e)
		}
	}
	l.adopted = true
	return nil
}

// adopt takes in what the document has of this gateway from before the cell. l.mu
// is held.
func (l *cell) adopt(e *entry) {
	earlier := e.instance != l.c.instance
	l.table.adopt(e, earlier)
	l.dirty = l.dirty || earlier && l.ref.kind != minutes
	if t, ok := l.table.(*reserved); ok {
		at, _ := l.c.clock.at()
		t.progress(t.counted, at)
	}
}

// price reads anew what accounts have spent, where that may lack what others let
// go of, and returns those that can be decided.
func (l *cell) price(ctx context.Context, batch []*op) []*op {
	for some := range slices.Chunk(slices.DeleteFunc(slices.Clone(batch), func(o *op) bool { return l.current(o) }), readMost) {
		var wg sync.WaitGroup
		for _, o := range some {
			wg.Go(func() { l.reread(ctx, o) })
		}
		wg.Wait()
	}
	return slices.DeleteFunc(batch, func(o *op) bool { return o.state.Load() != waiting })
}

// current says whether what was read for o has all that was let go of.
func (l *cell) current(o *op) bool {
	at, _ := l.c.clock.at()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.covers(o, at)
}

// covers is current. l.mu is held.
func (l *cell) covers(o *op, at instant) bool {
	return !slices.ContainsFunc(o.bounds, func(b bound) bool {
		return b.point.Stream < l.newest(b.point.Epoch).Stream || l.foreign(b.point.Epoch, at)
	})
}

func (l *cell) reread(ctx context.Context, o *op) {
	for i := range o.bounds {
		b := &o.bounds[i]
		var after ledger.Point
		l.mu.Lock()
		after = l.newest(b.point.Epoch)
		l.mu.Unlock()
		var err error
		if b.spent, b.point, err = b.Spent(ctx, after); err != nil {
			o.fail(err)
			return
		}
	}
	if !l.current(o) {
		at, _ := l.c.clock.at()
		l.mu.Lock()
		foreign := slices.ContainsFunc(o.bounds, func(b bound) bool { return l.foreign(b.point.Epoch, at) })
		l.mu.Unlock()
		if foreign {
			o.fail(errForeign)
		}
	}
}

var errForeign = errors.New("gateways count in different counters")
