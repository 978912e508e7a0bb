package usage

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Upkeep is what usage needs done to it.
type Upkeep interface {
	LogUpkeep
	// UsageDropSpends deletes at most limit totals of accounts of UTC days before
	// day and returns how many.
	UsageDropSpends(ctx context.Context, day time.Time, limit int) (int, error)
}

// LogUpkeep is what the request log needs done to it.
type LogUpkeep interface {
	// UsageEnsureDays makes the partitions of the UTC days from first to last
	// and returns how many were missing.
	UsageEnsureDays(ctx context.Context, first, last time.Time) (int, error)
	// UsageDropDays drops some partitions of UTC days before day and returns
	// how many; 0 means that none is left.
	UsageDropDays(ctx context.Context, day time.Time) (int, error)
	// UsageRetention returns the longest retention of any workspace, in days.
	UsageRetention(ctx context.Context) (int, error)
	// UsageExpired returns some workspaces that have entries past their
	// retention at now.
	UsageExpired(ctx context.Context, now time.Time) ([]Expired, error)
	// UsageDelete deletes at most limit entries of ws that started before
	// cutoff, oldest first, and returns how many.
	UsageDelete(ctx context.Context, ws id.Workspace, cutoff time.Time, limit int) (int, error)
}

// Expired is a workspace with entries to delete.
type Expired struct {
	Workspace id.Workspace
	Before    time.Time
}

// Bounds of the keeper's work.
const (
	daysAhead   = 7
	spendDays   = 400 // totals of accounts by day: a year and a month
	deleteBatch = 1000
	keepEvery   = 15 * time.Minute
	keepRetry   = 15 * time.Second
)

// Keeper makes the request log's partitions ahead of time and deletes what is
// past its workspace's retention, whole partitions where it can and small
// batches where not, and the totals of accounts of days long over. Any number
// may run.
type Keeper struct {
	store   Upkeep
	now     func() time.Time
	log     *slog.Logger
	deleted atomic.Uint64
	dropped atomic.Uint64
}

// NewKeeper returns a Keeper over store.
func NewKeeper(store Upkeep, now func() time.Time, log *slog.Logger) *Keeper {
	return &Keeper{store: store, now: now, log: log}
}

// Run keeps the log until ctx ends.
func (k *Keeper) Run(ctx context.Context) error {
	for {
		wait := keepEvery
		if err := k.Keep(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("request log upkeep is to be repeated", slog.Any("error", err), slog.Duration("retry_in", keepRetry))
			wait = keepRetry
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// Keep does everything that is due now.
func (k *Keeper) Keep(ctx context.Context) error {
	today := k.now().UTC().Truncate(24 * time.Hour)
	// Yesterday's too: its events may still be on their way.
	_, ensureErr := k.store.UsageEnsureDays(ctx, today.AddDate(0, 0, -1), today.AddDate(0, 0, daysAhead))
	return errors.Join(ensureErr, k.expire(ctx, today), k.dropSpends(ctx, today))
}

func (k *Keeper) dropSpends(ctx context.Context, today time.Time) error {
	for {
		n, err := k.store.UsageDropSpends(ctx, today.AddDate(0, 0, -spendDays), deleteBatch)
		if err != nil || n < deleteBatch {
			return err
		}
	}
}

func (k *Keeper) expire(ctx context.Context, today time.Time) error {
	days, err := k.store.UsageRetention(ctx)
	if err != nil {
		return err
	}
	for n := 1; n > 0; {
		if n, err = k.store.UsageDropDays(ctx, today.AddDate(0, 0, -days)); err != nil {
			return err
		}
		k.dropped.Add(uint64(n))
	}
	for {
		list, err := k.store.UsageExpired(ctx, k.now())
		if err != nil || len(list) == 0 {
			return err
		}
		total := 0
		for _, expired := range list {
			n, err := k.empty(ctx, expired)
			if err != nil {
				return err
			}
			total += n
		}
		if total == 0 {
			return nil // another keeper is at it
		}
	}
}

func (k *Keeper) empty(ctx context.Context, expired Expired) (total int, err error) {
	for {
		n, err := k.store.UsageDelete(ctx, expired.Workspace, expired.Before, deleteBatch)
		if err != nil {
			return total, err
		}
		k.deleted.Add(uint64(n))
		total += n
		if n < deleteBatch {
			return total, nil
		}
	}
}
