package ledger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Store is where all gateways count. Its failures leave open whether a commit
// was made.
type Store interface {
	// Epoch returns the epoch that counts now, or ErrUnfilled.
	Epoch(ctx context.Context) (string, error)
	// Position returns the last sequence of this gateway that the epoch has
	// counted, as the store's leader knows it, and a state of the store that has it.
	Position(ctx context.Context, epoch string) (at, state uint64, err error)
	// Commit adds all of spend, for days and for all time, and moves the position
	// from one sequence to another, or does nothing. It returns the state of the
	// store that has it, and fails when another commit from there was made.
	Commit(ctx context.Context, epoch string, from, to uint64, spend amounts) (state uint64, err error)
	// Read returns what the epoch has counted of some totals in one state of the
	// store, and that; those without anything are left out. It may be a state from
	// before what was committed last. It fails with ErrUnfilled when the epoch is gone.
	Read(ctx context.Context, epoch string, totals []totalRef) (got map[totalRef]wire.Spend, state uint64, err error)
	// OnConnect calls fn, which must not block, when the store is reached again.
	OnConnect(fn func()) (cancel func())
}

// ErrUnfilled says that the counters were not filled from the usage records, as
// nobody did it yet or because they were lost.
var ErrUnfilled = errors.New("the counters of usage are not filled")

// Run counts and looks until ctx ends, and then counts what is left for a short
// while. It outlives every outage of its store.
func (l *Ledger) Run(ctx context.Context) error {
	defer l.opts.Store.OnConnect(func() {
		select {
		case l.kick <- struct{}{}:
		default:
		}
	})()
	tick := time.NewTicker(l.opts.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
			defer cancel()
			if err := l.count(last); err != nil {
				l.opts.Log.Info("usage of keys is counted at the next start", slog.Any("error", err))
			}
			return nil
		case <-tick.C:
			l.work(ctx, true)
		case <-l.kick:
			l.work(ctx, false)
		}
	}
}

// work counts what is new and then looks at what the others counted: a look
// never meets a commit of this gateway, so that what it returns has either all
// or nothing of it. due says that it is time for all views that are in use,
// else it is for those that somebody waits for.
func (l *Ledger) work(ctx context.Context, due bool) {
	err := l.count(ctx)
	if err == nil {
		err = l.look(ctx, due)
	}
	l.mu.Lock()
	was := l.down
	l.down = err != nil
	if err != nil {
		l.part()
	}
	close(l.looked)
	l.looked = make(chan struct{})
	l.mu.Unlock()
	if err == nil || ctx.Err() != nil {
		return
	}
	l.metrics.failures.Inc()
	if !was {
		l.opts.Log.Warn("the usage of keys is not shared", slog.Any("error", err))
	}
}

// count commits what is queued, after learning where to go on when that is open.
func (l *Ledger) count(ctx context.Context) error {
	for {
		done, err := l.attach(ctx)
		if err != nil {
			return err
		}
		if err := l.commit(ctx); err != nil {
			return err
		}
		l.mu.Lock()
		done = done && l.state == attached
		if !done {
			l.part() // more is in the spool, or came meanwhile, than is queued at a time
		}
		l.mu.Unlock()
		if done {
			return nil
		}
	}
}

// attach learns the store's position and queues what follows it, from the spool
// and then as it comes. It returns false when the spool has more.
func (l *Ledger) attach(ctx context.Context) (bool, error) {
	l.mu.Lock()
	if l.state == attached {
		l.mu.Unlock()
		return true, nil
	}
	l.mu.Unlock()
	epoch, at, point, err := l.position(ctx)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	l.state, l.queue = catching, nil
	through := l.seen
	l.mu.Unlock()
	read, all, err := l.replay(ctx, at, through)
	if err != nil {
		return false, err
	}
	all = l.attached(epoch, at, read, all)
	l.progress(Progress{Point: Point{epoch, point}, Sequence: at})
	return all, nil
}

// attached goes on from a position with what was read from the spool since, and
// says whether that is all.
func (l *Ledger) attached(epoch string, at uint64, read []*page, all bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if epoch != l.epoch {
		l.forget()
		l.metrics.epochs.Inc()
	}
	l.epoch, l.at = epoch, at
	switch {
	case !all:
		l.queue = read
	case l.state == apart: // too much came meanwhile
		l.queue, all = read, false
	default:
		l.queue = append(read, l.queue...)
	}
	l.state = attached
	l.recount()
	return all
}

func (l *Ledger) position(ctx context.Context) (epoch string, at, state uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if epoch, err = l.opts.Store.Epoch(ctx); err != nil {
		return "", 0, 0, err
	}
	at, state, err = l.opts.Store.Position(ctx, epoch)
	return epoch, at, state, err
}

// replay reads what the spool has of some sequences as pages, and says whether
// that is all.
func (l *Ledger) replay(ctx context.Context, after, through uint64) (queue []*page, all bool, err error) {
	if after >= through {
		return nil, true, nil
	}
	all = true
	missing, err := l.opts.Spool.Counts(ctx, after, through, func(c spool.Count) bool {
		queue, all = enqueue(queue, c)
		return all
	})
	if err != nil {
		return nil, false, err
	}
	if missing > 0 {
		l.metrics.missing.Add(float64(missing))
		l.opts.Log.Error("usage is not counted: its records are gone from the spool",
			slog.Uint64("after_sequence", after), slog.Uint64("records", missing))
	}
	if n := len(queue); n > 0 {
		queue[n-1].full = true // what comes is in pages of its own
		if all {
			queue[n-1].last = through // gone ones too
		}
	} else if all {
		queue = []*page{{last: through, full: true}}
	}
	return queue, all, nil
}

// forget drops what the store has counted: it is another filling. l.mu is held.
func (l *Ledger) forget() {
	for _, v := range l.views {
		v.read, v.changed = time.Time{}, true
		v.ever.base = wire.Spend{}
		for i := range v.cells {
			v.cells[i].base = wire.Spend{}
		}
	}
}

// recount works out anew what of this gateway the store has not counted. l.mu
// is held.
func (l *Ledger) recount() {
	for ref, v := range l.views {
		v.changed = true
		v.ever.own = wire.Spend{}
		for i := range v.cells {
			v.cells[i].own = wire.Spend{}
		}
		v.ownAll(ref, l.queue)
	}
}

// commit commits the pages that are queued now, one after the other.
func (l *Ledger) commit(ctx context.Context) error {
	l.mu.Lock()
	pages := len(l.queue)
	l.mu.Unlock()
	for range pages {
		l.mu.Lock()
		if len(l.queue) == 0 { // parted meanwhile
			l.mu.Unlock()
			return nil
		}
		p, epoch, from := l.queue[0], l.epoch, l.at
		p.full = true
		l.mu.Unlock()
		point, err := l.commitPage(ctx, epoch, from, p)
		if err != nil {
			return err
		}
		l.metrics.commits.Inc()
		l.counted(p)
		l.progress(Progress{Point: Point{epoch, point}, Sequence: p.last})
	}
	return nil
}

func (l *Ledger) commitPage(ctx context.Context, epoch string, from uint64, p *page) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return l.opts.Store.Commit(ctx, epoch, from, p.last, p.spend)
}

// counted notes that the store has p.
func (l *Ledger) counted(p *page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = p.last
	if len(l.queue) == 0 || l.queue[0] != p {
		return // parted meanwhile: what is counted is worked out anew
	}
	l.queue = l.queue[1:]
	for ref, list := range p.spend {
		if v := l.views[ref]; v != nil {
			v.counted(list)
		}
	}
}
