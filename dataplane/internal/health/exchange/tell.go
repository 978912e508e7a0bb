package exchange

import (
	"context"
	"log/slog"
	"time"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// keepTelling says what is new until ctx ends.
func (x *Exchange) keepTelling(ctx context.Context) {
	ticks, repeats := time.NewTicker(x.o.Every), time.NewTicker(x.o.Repeat)
	defer ticks.Stop()
	defer repeats.Stop()
	for {
		select {
		case <-ctx.Done():
			x.tell(x.o.Table.Deltas()) // for those that stay
			return
		case <-ticks.C:
			if x.o.Conn.Connected() {
				x.tell(x.o.Table.Deltas())
			}
		case <-repeats.C:
			x.o.Table.Repeat(2 * x.o.Repeat)
		case <-x.o.Table.News():
			if x.o.Conn.Connected() {
				x.tell(x.o.Table.Standings())
			}
			if !wait(ctx, standingEvery) {
				continue
			}
		}
	}
}

// wait is false when ctx ended before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// tell publishes messages. Those that NATS does not take are told again once it
// is back.
func (x *Exchange) tell(messages []wire.Health) {
	for i := range messages {
		m := &messages[i]
		m.Instance, m.SentAt, m.Sequence = x.o.Instance, x.o.Now(), x.next()
		body := wire.AppendHealth(nil, m)
		if err := x.nc.Publish(wire.SubjectHealth, body); err != nil {
			x.counts.unsent.Add(1)
			x.o.Log.Debug("health was not told", slog.Any("error", err))
			x.o.Table.Repeat(allOpen)
			return
		}
		x.counts.told.Add(1)
		x.counts.toldBytes.Add(int64(len(body)))
	}
}

func (x *Exchange) next() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sequence++
	return x.sequence
}
