package rate

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// renewal is how often a gateway that counts renews the mark, which otherwise
// goes as counters do: it must outlive every count that still matters.
const renewal = 10 * time.Second

// errOtherEpoch says that the store counts in an epoch that was just learnt.
var errOtherEpoch = errors.New("rates are counted in another epoch")

// work is what Run knows.
type work struct {
	again   atomic.Bool // the store was reached again: its epoch may be another
	epoch   uint64      // 0: to be learnt
	renewed time.Time   // the mark
	names   uint64      // of increments that were given out
	prefix  string      // of them

	shaken time.Time // when the store was reached again, or another epoch was found: a third may come

	tied  bool // the store's clock was read
	inUse bool // something was sent or read in the last round
}

// join learns the epoch when that is open, and renews its mark from time to
// time while something is counted.
func (r *Rates) join(ctx context.Context, due bool) error {
	w := &r.work
	renew := due && w.inUse && r.opts.Now().Sub(w.renewed) > renewal
	if w.epoch != 0 && !w.again.Load() && !r.down.Load() && !renew {
		return nil
	}
	shaken := w.again.Swap(false) || r.down.Load()
	if err := r.mark(ctx); err != nil {
		w.again.Store(true)
		return err
	}
	if shaken {
		w.shaken = w.renewed
	}
	return nil
}

// mark learns the epoch and the time from the store's leader. Where there is no
// epoch it makes one; of several gateways that do so at once, all come to the
// same sum.
func (r *Rates) mark(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	asked := r.opts.Now()
	epoch, at, err := r.opts.Store.Mark(ctx, 0)
	if err == nil && epoch == 0 {
		random := r.opts.IDs.UUID()
		asked = r.opts.Now()
		epoch, at, err = r.opts.Store.Mark(ctx, binary.BigEndian.Uint64(random[8:])%wire.MaxRateEpoch+1)
	}
	if err != nil {
		return err
	}
	r.work.renewed = r.opts.Now()
	r.tie(asked, r.work.renewed, at)
	r.adopt(epoch)
	return nil
}

// adopt goes over to an epoch. All that this gateway counted within the minute
// is to be sent to it.
func (r *Rates) adopt(epoch uint64) {
	w := &r.work
	if epoch == w.epoch {
		return
	}
	if w.epoch != 0 {
		r.opts.Log.Warn("rates are counted anew, as NATS lost them")
	}
	w.epoch, w.shaken = epoch, w.renewed
	r.metrics.epochs.Inc()
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		slot := r.slot()
		for _, v := range s.views {
			v.reach(slot)
			v.renew()
		}
		for _, v := range s.leaving {
			v.reach(slot)
			v.renew()
		}
		s.mu.Unlock()
	}
}

// check compares the epoch that a read found. A server that is behind may have
// another one, so that the leader decides.
func (r *Rates) check(ctx context.Context, epoch uint64) error {
	was := r.work.epoch
	if epoch == was {
		return nil
	}
	if err := r.mark(ctx); err != nil {
		r.work.again.Store(true)
		return err
	}
	if r.work.epoch != was {
		return errOtherEpoch
	}
	return nil
}

// tie reads the store's clock from a moment of it that lies between two of this
// process's.
func (r *Rates) tie(asked, answered, at time.Time) {
	half := answered.Sub(asked) / 2
	middle := asked.Add(half)
	if r.work.tied && at.Sub(r.there(middle)).Abs() <= half+1 { // rounded
		return // no better than what is known
	}
	to := &anchor{here: middle, there: at}
	for i := range r.shards {
		r.shards[i].mu.Lock()
	}
	if !r.work.tied {
		r.move(to)
	}
	r.clock.Store(to)
	r.work.tied = true
	for i := range r.shards {
		r.shards[i].mu.Unlock()
	}
}

// move takes what was counted by this process's own clock over to another. All
// shards are locked.
func (r *Rates) move(to *anchor) {
	now := r.opts.Now()
	by := slotOf(to.there.Add(now.Sub(to.here))) - slotOf(r.there(now))
	if by == 0 {
		return
	}
	for i := range r.shards {
		for _, v := range r.shards[i].views {
			v.shift(by)
		}
		for _, v := range r.shards[i].leaving {
			v.shift(by)
		}
	}
}

// name makes the name of an increment, one of a kind.
func (r *Rates) name() string {
	w := &r.work
	if w.prefix == "" {
		random := r.opts.IDs.UUID()
		w.prefix = hex.EncodeToString(random[8:])
	}
	w.names++
	return w.prefix + strconv.FormatUint(w.names, 36)
}
