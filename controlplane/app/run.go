package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
)

// Run serves until ctx ends, then stops accepting and lets calls in flight
// finish. It ends everything that New began and may be called once.
func (a *App) Run(ctx context.Context) error {
	// The background outlives the calls: one that waits for receipts needs the
	// publisher to the end.
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	parts, background := errgroup.WithContext(background)
	for _, run := range []func(context.Context) error{
		a.migrateLater, a.publisher.Run, a.consumer.Run, a.keeper.Run, a.filler.Run, a.judge.Run, a.accounts.Run, a.courier.Run, a.watcher.Run,
		func(ctx context.Context) error { a.sweeper.Run(ctx); return nil },
		func(ctx context.Context) error { a.resealer.Run(ctx); return nil },
		func(ctx context.Context) error {
			if a.keyring != nil {
				a.keyring.Run(ctx)
			}
			return nil
		},
	} {
		parts.Go(func() error { return run(background) })
	}
	a.deps.Log.Info("control plane listens", slog.String("address", a.Addr()), slog.String("ops_address", a.OpsAddr()))
	served := a.serve(ctx, background)
	end()
	return errors.Join(served, parts.Wait(), a.release())
}

// serve ends with ctx, or when a part of the background failed.
func (a *App) serve(ctx, background context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(background, stop)()
	group, ctx := errgroup.WithContext(ctx)
	listen := func(listener net.Listener, handler http.Handler) {
		group.Go(func() error {
			return httpserver.Serve(ctx, listener, a.cfg.server(), handler, a.deps.Log)
		})
	}
	listen(a.listeners.API, a.api.Handler())
	if a.listeners.Ops != nil {
		listen(a.listeners.Ops, a.api.Ops())
	}
	return group.Wait()
}

// migrate brings the schema up to date, unless that is left to others.
func (a *App) migrate(ctx context.Context) error {
	if !a.cfg.Database.Migrate {
		return nil
	}
	err := postgres.Migrate(ctx, a.cfg.Database.settings())
	if err == nil {
		a.migrated.Store(true)
	}
	return err
}

const migrateEvery = time.Second

// migrateLater repeats migrate when Postgres was away at the start.
func (a *App) migrateLater(ctx context.Context) error {
	if !a.cfg.Database.Migrate || a.migrated.Load() {
		return nil
	}
	tick := time.NewTicker(migrateEvery)
	defer tick.Stop()
	for {
		err := a.migrate(ctx)
		switch {
		case err == nil:
			a.deps.Log.Info("the database was migrated")
			return nil
		case ctx.Err() != nil:
			return nil
		case !fault.Is(err, fault.Unavailable):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// release gives back what New took. It serves a New that failed half-way too.
func (a *App) release() error {
	a.listeners.Close()
	if a.nats != nil {
		a.nats.Close()
	}
	if a.db != nil {
		return a.db.Close()
	}
	return nil
}
