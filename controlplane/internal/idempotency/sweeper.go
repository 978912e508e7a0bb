package idempotency

import (
	"context"
	"log/slog"
	"time"
)

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 1000
)

// Sweeper removes expired entries in small batches.
type Sweeper struct {
	store Store
	log   *slog.Logger
}

// NewSweeper returns a Sweeper over store.
func NewSweeper(store Store, log *slog.Logger) *Sweeper { return &Sweeper{store: store, log: log} }

// Run sweeps now and then until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "expired idempotency keys were not removed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Sweeper) sweep(ctx context.Context) error {
	for {
		n, err := s.store.Sweep(ctx, sweepBatch)
		if err != nil || n < sweepBatch {
			return err
		}
	}
}
