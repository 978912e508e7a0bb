package rate

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Run counts and looks until ctx ends, and then counts what is left for a short
// while. It outlives every outage of its store.
func (r *Rates) Run(ctx context.Context) error {
	defer r.opts.Store.OnConnect(func() {
		r.work.again.Store(true)
		select {
		case r.kick <- struct{}{}:
		default:
		}
	})()
	tick := time.NewTicker(r.opts.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTry)
			defer cancel()
			if err := r.flush(last); err != nil {
				r.opts.Log.Info("what was used in the last moment is not counted", slog.Any("error", err))
			}
			return nil
		case <-tick.C:
			r.turn(ctx, true)
		case <-r.kick:
			r.turn(ctx, false)
		}
	}
}

// turn is one round. due says that it is time for everything, else it is for
// those that somebody waits for.
func (r *Rates) turn(ctx context.Context, due bool) {
	err := r.count(ctx, due)
	was := r.down.Swap(err != nil)
	r.tell()
	if err == nil || ctx.Err() != nil {
		return
	}
	r.metrics.failures.Inc()
	if !was {
		r.opts.Log.Warn("rates are not shared", slog.Any("error", err))
	}
}

// tell wakes those that wait.
func (r *Rates) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.looked)
	r.looked = make(chan struct{})
}

// count sends what is new and then reads what the others counted: a read never
// meets an increment of this gateway, so that what it returns has either all or
// nothing of it.
func (r *Rates) count(ctx context.Context, due bool) error {
	if err := r.join(ctx, due); err != nil {
		return err
	}
	err := errOtherEpoch
	for try := 0; try < 3 && errors.Is(err, errOtherEpoch); try++ {
		b := r.gather(due)
		if b.empty() && b.now.Sub(r.work.shaken) > settles {
			return nil // the epoch has settled, too
		}
		if err = r.send(ctx, b); err == nil {
			err = r.read(ctx, b)
		}
	}
	return err
}

// flush sends what is new.
func (r *Rates) flush(ctx context.Context) error {
	if len(r.gather(true).sending) == 0 {
		return nil
	}
	if err := r.join(ctx, false); err != nil {
		return err
	}
	return r.send(ctx, r.gather(true))
}

// bounded limits one call of the store.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, within)
}
