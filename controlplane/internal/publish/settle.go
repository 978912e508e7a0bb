package publish

import (
	"context"
	"log/slog"
	"time"
)

const (
	settleEvery = 500 * time.Millisecond
	openAtStart = 10_000
	reopenEvery = 30 * time.Second
	pruneEvery  = time.Minute
	pruneLimit  = 1_000
	keepSettled = 30 * 24 * time.Hour
)

// settle closes the accounts of publications that every live gateway applied.
func (l *leader) settle(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	opened := false
	var reopened, pruned time.Time
	for {
		// Again every now and then: what another leader committed at its end
		// may come after the look at the term's start.
		if now := l.d.Now(); now.Sub(reopened) > reopenEvery || !opened {
			reopened = now
			opened = l.reopen(ctx) || opened
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if list := l.d.Tracker.Settled(l.d.Now()); len(list) > 0 {
			if err := l.d.Accounts.Settle(ctx, list, l.d.Now().UTC()); err == nil {
				l.d.Tracker.Close(list...)
			} else if ctx.Err() == nil {
				l.d.Log.Warn("receipts were not stored", slog.Any("error", err))
			}
		}
		if now := l.d.Now(); opened && now.Sub(pruned) > pruneEvery {
			pruned = now
			if err := l.d.Accounts.Prune(ctx, now.Add(-keepSettled), pruneLimit); err != nil && ctx.Err() == nil {
				l.d.Log.Warn("old publications were not deleted", slog.Any("error", err))
			}
		}
	}
}

// reopen takes over what the leader before left open. Nothing is settled
// before the gateways that live are known.
func (l *leader) reopen(ctx context.Context) bool {
	if l.d.Registry.Load(ctx) != nil {
		return false
	}
	open, err := l.d.Accounts.Open(ctx, openAtStart)
	if err != nil {
		return false
	}
	for _, r := range open {
		l.d.Tracker.Open(r.Publication)
		l.d.Tracker.Published(r.Workspace, r.Revision, *r.PublishedAt, r.Keys, r.Policy)
	}
	return true
}
