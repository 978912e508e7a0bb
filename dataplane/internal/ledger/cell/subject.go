package cell

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// cell is a subject as a gateway knows it.
type cell struct {
	c       *Cells
	ref     ref
	subject string        // of the document
	kick    chan struct{} // the worker has something to do

	mu      sync.Mutex
	table   table
	queue   []*op
	working bool      // a worker runs
	gone    bool      // another cell has taken its place, or none
	dirty   bool      // others do not know what the table says
	used    time.Time // when somebody asked last
	stated  int64     // when the table was written last; Unix ns of NATS
	wanted  int64     // when a want mark was

	// The document as it was read or written last.
	loaded   bool
	adopted  bool // what it had of this gateway when it was read first
	sequence uint64
	asked    time.Time // for it
	rest     []entry   // of the other gateways
	scratch  entry
}

// op is an ask that waits to be decided.
type op struct {
	ask
	state atomic.Int32 // whoever moves it on from waiting decides what becomes of it
	done  chan decision
}

const (
	waiting int32 = iota
	decided
	abandoned
)

type decision struct {
	verdict
	err error
}

// claim is true for one who may decide.
func (o *op) claim(as int32) bool { return o.state.CompareAndSwap(waiting, as) }

func (o *op) fail(err error) {
	if o.claim(decided) {
		o.done <- decision{err: err}
	}
}

// ask has the worker decide, and waits for that no longer than is allowed.
func (l *cell) ask(ctx context.Context, a ask) (verdict, error) {
	o := &op{ask: a, done: make(chan decision, 1)}
	l.mu.Lock()
	l.queue = append(l.queue, o)
	l.mu.Unlock()
	if !l.work() {
		o.claim(abandoned)
		return verdict{}, errAway
	}
	timer := time.NewTimer(l.c.opts.Wait)
	defer timer.Stop()
	select {
	case d := <-o.done:
		return d.verdict, d.err
	case <-ctx.Done():
	case <-timer.C:
	}
	if o.claim(abandoned) {
		return verdict{}, errLate
	}
	d := <-o.done
	return d.verdict, d.err
}

// work has a worker run; false when none can do anything.
func (l *cell) work() bool {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	ctx := l.c.running
	if ctx == nil || ctx.Err() != nil || l.c.down.Load() {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.working {
		signal(l.kick)
		return true
	}
	l.working = true
	l.c.workers.Go(func() { l.serve(ctx) })
	return true
}

// quick refuses from what is known, where that is fresh and others need not be
// told that more is wanted.
func (l *cell) quick(a *ask) (verdict, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded || l.c.opts.Now().Sub(l.asked) > l.c.opts.fresh {
		return verdict{}, false
	}
	at, known := l.c.clock.at()
	if !known {
		return verdict{}, false
	}
	l.table.state(&l.scratch, at)
	others := l.others()
	v := l.table.judge(a, others, &l.scratch, at)
	if v.ok || l.wants(others, at) {
		return verdict{}, false
	}
	return v, true
}

// wants says whether it is time to tell others that more is wanted. l.mu is held.
func (l *cell) wants(others []entry, at instant) bool {
	return l.ref.kind != holdings && len(others) > 0 && at.lo-l.wanted >= int64(wantEach)
}

// others are the entries of other gateways that count. l.mu is held.
func (l *cell) others() []entry {
	if l.ref.kind != slots {
		return l.rest
	}
	gone := func(e *entry) bool { return l.c.peers.gone(e.gateway, e.instance) }
	for i := range l.rest {
		if gone(&l.rest[i]) {
			var list []entry
			for _, e := range l.rest {
				if !gone(&e) {
					list = append(list, e)
				}
			}
			return list
		}
	}
	return l.rest
}

// change changes the table and has others told if anything changed.
func (l *cell) change(change func(table, instant) bool) {
	at, _ := l.c.clock.at()
	l.mu.Lock()
	changed := !l.gone && change(l.table, at)
	l.dirty = l.dirty || changed
	l.mu.Unlock()
	if changed {
		l.work()
	}
}

// alone decides an ask without the other gateways.
func (l *cell) alone(a ask, u policy.Unavailable, live int) (v verdict, err error) {
	l.change(func(t table, at instant) bool {
		t.tend(at)
		t.state(&l.scratch, at)
		v, err = without(t, &a, &l.scratch, u, live, at)
		return err == nil && v.ok
	})
	return v, err
}

// reserve reserves amount for r in all.
func (l *cell) reserve(ctx context.Context, r *Reservation, amount money.Nanos, bounds []Bound) (Reserved, error) {
	if err := ctx.Err(); err != nil {
		return Reserved{}, err
	}
	v, err := l.tryReserve(ctx, r, amount, bounds)
	if err == nil {
		return v.reserved(), nil
	}
	if canceled(ctx) {
		return Reserved{}, ctx.Err()
	}
	l.c.metrics.unavailable.Inc()
	return Reserved{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

func (l *cell) tryReserve(ctx context.Context, r *Reservation, amount money.Nanos, bounds []Bound) (verdict, error) {
	if err := l.c.answers(); err != nil {
		return verdict{}, err
	}
	within, cancel := context.WithTimeout(ctx, l.c.opts.Wait)
	defer cancel()
	counted := l.c.progressed()
	l.mu.Lock()
	n, after := r.missing(amount), l.newest(counted.Epoch)
	l.mu.Unlock()
	list, err := read(within, bounds, after)
	if err != nil {
		return verdict{}, err
	}
	return l.ask(within, ask{n: n, bounds: list, reservation: r})
}

// newest is the point in an epoch that counters must have reached to have all
// that anybody let go of, as far as the document tells. l.mu is held.
func (l *cell) newest(epoch string) ledger.Point {
	p := ledger.Point{Epoch: epoch}
	points := func(q ledger.Point) {
		if q.Epoch == epoch {
			p.Stream = max(p.Stream, q.Stream)
		}
	}
	points(l.table.(*reserved).point)
	for i := range l.rest {
		points(l.rest[i].point)
	}
	return p
}

// foreign says that a gateway that is alive let go of something that is counted
// in other counters than those of an epoch. l.mu is held.
func (l *cell) foreign(epoch string, at instant) bool {
	other := func(e string) bool { return e != "" && e != epoch }
	if other(l.table.(*reserved).point.Epoch) {
		return true
	}
	for i := range l.rest {
		if e := &l.rest[i]; other(e.point.Epoch) && e.leased(at) {
			return true
		}
	}
	return false
}

// restate has the document read again, and what the table has stated in it: if
// others may not know of it, or anyway.
func (l *cell) restate(anyway bool) {
	at, _ := l.c.clock.at()
	l.mu.Lock()
	l.loaded = false
	if anyway && !l.table.tend(at).empty {
		l.dirty = true
	}
	due := l.dirty || len(l.queue) > 0
	l.mu.Unlock()
	if due {
		l.work()
	}
}

// tend has stated again what is leased, and says whether the cell may go.
func (l *cell) tend(at instant, now time.Time) (idle bool) {
	l.mu.Lock()
	cond := l.table.tend(at)
	if cond.changed || cond.leased && at.lo-l.stated >= int64(renew) {
		l.dirty = true
	}
	due := l.dirty && !l.c.down.Load()
	idle = l.idle(cond, at, now)
	l.mu.Unlock()
	if due {
		l.work()
	}
	return idle
}

// idle says that nothing is lost with the cell: what it stated has lapsed, if it
// could not be taken back. l.mu is held.
func (l *cell) idle(cond condition, at instant, now time.Time) bool {
	return cond.empty && !l.working && len(l.queue) == 0 && now.Sub(l.used) > cellLife && (!l.dirty || at.lo-l.stated > int64(lease))
}

// leave makes the cell one that is no longer used, if it still may go.
func (l *cell) leave() bool {
	at, _ := l.c.clock.at()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = l.idle(l.table.tend(at), at, l.c.opts.Now())
	return l.gone
}
