package feed

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
)

// review brings the last-known-good directory up to date after every gap in
// the pushes, the one before the start included. What is held is read again by
// catching up; what only the disk has could have been revoked meanwhile, and
// would come back with the next outage of NATS.
func (f *Feed) review(ctx context.Context) {
	pause := retryFirst
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.gaps:
		}
		err := errors.Join(f.reviewKeys(ctx), f.reviewPolicies(ctx))
		if err == nil || ctx.Err() != nil {
			pause = retryFirst
			continue
		}
		f.failures.Add(1)
		f.o.Log.Warn("the last-known-good directory was not brought up to date, it is tried again", slog.Any("error", err))
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, f.o.PollEvery)
		f.gap()
	}
}

// gap notes that pushes may have been missed.
func (f *Feed) gap() {
	select {
	case f.gaps <- struct{}{}:
	default:
	}
}

func (f *Feed) reviewKeys(ctx context.Context) error {
	names, err := f.o.Disk.Names(lastgood.Keys)
	if err != nil {
		return err
	}
	var kids []string
	for _, kid := range names {
		if document.IsKey(kid) && !f.o.Keys.Holds(kid) {
			kids = append(kids, kid)
		}
	}
	return f.rereadKeys(ctx, kids)
}

func (f *Feed) reviewPolicies(ctx context.Context) error {
	names, err := f.o.Disk.Names(lastgood.Workspaces)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, name := range names {
		ws, err := id.Parse[id.WorkspaceKind](name)
		if err != nil {
			continue // not ours
		}
		group.Go(func() error {
			p, err := f.source.PolicyAtLeader(ctx, ws)
			switch {
			case fault.Is(err, fault.NotFound):
				return nil // a loss of data: see rereadPolicies
			case err != nil:
				return err
			}
			if f.o.Policies.Wants(ws, p) {
				return f.apply(ctx, ws, p)
			}
			return f.o.Policies.Refresh(ctx, ws, p)
		})
	}
	return group.Wait()
}
