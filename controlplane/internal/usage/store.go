package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
)

// counts are totals since the start.
type counts struct {
	inserted, upgraded, repeated, dead, batches, failures, marks atomic.Uint64
}

// store writes messages and acknowledges them, in that order: a crash between
// the two only brings repeats.
func (c *Consumer) store(ctx context.Context, msgs []jetstream.Msg) error {
	var list []decoded
	for _, msg := range msgs {
		list = append(list, unpack(msg)...)
	}
	for i := range list {
		if dead := list[i].dead; dead != nil {
			c.log.Error("usage message kept as dead letter", slog.String("subject", dead.Subject), slog.String("reason", dead.Reason))
		}
	}
	written, err := c.write(ctx, list)
	if err != nil {
		return fmt.Errorf("store usage: %w", err)
	}
	c.counts.batches.Add(1)
	c.counts.inserted.Add(uint64(written.Inserted))
	c.counts.upgraded.Add(uint64(written.Upgraded))
	c.counts.repeated.Add(uint64(written.Repeated))
	c.counts.dead.Add(uint64(written.Dead))
	for _, msg := range msgs {
		// A lost acknowledgement brings a repeat.
		_ = msg.Ack()
	}
	return nil
}

// write stores list. When the database refuses the data it is stored in
// halves, so that one bad event holds up no other; the bad one becomes a dead
// letter.
func (c *Consumer) write(ctx context.Context, list []decoded) (Written, error) {
	written, err := c.writer.WriteUsage(ctx, newBatch(list))
	if !errors.Is(err, ErrRejected) {
		return written, err
	}
	if len(list) == 1 {
		if list[0].entry == nil {
			return written, err
		}
		c.log.Error("usage event kept as dead letter", slog.String("subject", list[0].raw.subject), slog.Any("error", err))
		refused := list[0]
		refused.entry, refused.dead = nil, refused.raw.dead(refused.Arrival, "rejected by the database")
		return c.writer.WriteUsage(ctx, newBatch([]decoded{refused}))
	}
	half := len(list) / 2
	first, err := c.write(ctx, list[:half])
	if err != nil {
		return first, err
	}
	second, err := c.write(ctx, list[half:])
	return Written{
		Inserted: first.Inserted + second.Inserted, Upgraded: first.Upgraded + second.Upgraded,
		Repeated: first.Repeated + second.Repeated, Dead: first.Dead + second.Dead,
	}, err
}
