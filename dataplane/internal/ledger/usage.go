package ledger

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Totals are what an account has used, over all gateways, in the UTC day, the
// ISO week and the month of a time. Lifetime is what it used ever, for an account
// that has such a total. Without Known all of it is zero.
type Totals struct {
	Known                            bool
	Daily, Weekly, Monthly, Lifetime wire.Spend
}

// usage is t as the limit nodes of dynamic routes look at it.
func (t Totals) usage() flow.Usage {
	bucket := func(s wire.Spend) flow.Bucket {
		return flow.Bucket{Known: t.Known, Requests: s.Requests, Cost: s.Cost}
	}
	return flow.Usage{Daily: bucket(t.Daily), Weekly: bucket(t.Weekly), Monthly: bucket(t.Monthly)}
}

// Usage is what a key has used, as Totals has it.
func (l *Ledger) Usage(ctx context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage {
	var room [1]Totals
	return l.AppendTotals(ctx, room[:0], ws, []wire.Account{wire.KeyAccount(key)}, now)[0].usage()
}

// Totals is what accounts of a workspace have used, each in its place. This
// gateway's own requests are in it as soon as they are on record, those of others
// a quarter of a second later at most. Accounts that were not asked for lately
// are read first, all together for Options.Wait at most. What was read once goes on
// with this gateway's own requests while the store is away; what was not is
// unknown then, at once.
func (l *Ledger) Totals(ctx context.Context, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals {
	return l.AppendTotals(ctx, make([]Totals, 0, len(accounts)), ws, accounts, now)
}

// AppendTotals appends Totals to dst.
func (l *Ledger) AppendTotals(ctx context.Context, dst []Totals, ws id.Workspace, accounts []wire.Account, now time.Time) []Totals {
	today, clock, held := dayOf(now), l.opts.Now(), len(dst)
	l.mu.Lock()
	for _, a := range accounts {
		v := l.hold(accountRef{ws, a}, today, clock)
		if !l.down && !l.fresh(v, clock) {
			return l.await(ctx, dst[:held], l.want(ws, accounts, today, clock), today)
		}
		dst = append(dst, v.totals(today))
	}
	l.mu.Unlock()
	return dst
}

// want returns the views of accounts, and has those read that are old. l.mu is
// held.
func (l *Ledger) want(ws id.Workspace, accounts []wire.Account, today day, clock time.Time) []*view {
	views := make([]*view, len(accounts))
	for i, a := range accounts {
		views[i] = l.hold(accountRef{ws, a}, today, clock)
		views[i].wants = views[i].wants || !l.fresh(views[i], clock)
	}
	return views
}

// await waits for the looks that have views, and appends what is known then. l.mu
// is held, and is not any more when it returns.
func (l *Ledger) await(ctx context.Context, dst []Totals, views []*view, today day) []Totals {
	timer := time.NewTimer(l.opts.Wait)
	defer timer.Stop()
	for expired := false; !l.down && !expired && wanted(views); {
		looked := l.looked
		l.mu.Unlock()
		select {
		case l.kick <- struct{}{}:
		default:
		}
		select {
		case <-looked:
		case <-ctx.Done():
			expired = true
		case <-timer.C:
			expired = true
			l.metrics.timeouts.Inc()
		}
		l.mu.Lock()
		// Who comes next does not wait as long again.
		l.down = l.down || expired && ctx.Err() == nil && wanted(views)
	}
	for _, v := range views {
		dst = append(dst, v.totals(today))
	}
	l.mu.Unlock()
	return dst
}

func wanted(views []*view) bool {
	for _, v := range views {
		if v.wants {
			return true
		}
	}
	return false
}
