package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
)

// flushWithin bounds how long a stopping gateway waits for NATS to take its
// usage records. What it does not take stays in the spool for the next start.
const flushWithin = 5 * time.Second

// Run serves until ctx ends, then stops accepting, lets streams finish, hands
// over usage and says goodbye to the control plane. It ends everything that
// New began and may be called once.
func (a *App) Run(ctx context.Context) error {
	// The background outlives the requests: policy is followed and usage is
	// shipped until the last stream has ended.
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	serving, stop := context.WithCancel(ctx)
	defer stop()

	var group sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	start := func(run func(context.Context) error) {
		group.Go(func() {
			if err := run(background); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
				stop()
			}
		})
	}
	start(a.followKeyring)
	start(a.feed.Run)
	start(a.spool.Run)
	start(a.ledger.Run)
	start(a.rates.Run)
	start(a.cells.Run)
	start(a.exchange.Run)
	start(a.checks.Run)
	start(a.pins.Run)
	start(func(ctx context.Context) error { a.health.Run(ctx); return nil })
	start(func(ctx context.Context) error { a.access.run(ctx); return nil })
	if a.cfg.NATS.Replicas > 0 {
		start(func(ctx context.Context) error {
			return natsconn.Keep(ctx, a.nats, natsconn.Topology{Replicas: a.cfg.NATS.Replicas, PinsBytes: a.cfg.NATS.PinsBytes}, a.deps.Log)
		})
	}
	a.deps.Log.Info("gateway listens", slog.String("address", a.Addr()),
		slog.String("ops_address", a.OpsAddr()), slog.String("gateway_id", a.spool.GatewayID().String()))
	err := a.server.run(serving)

	flush, cancel := context.WithTimeout(background, flushWithin)
	if a.nats.Connected() {
		if err := a.spool.Flush(flush); err != nil {
			a.deps.Log.Warn("usage stays in the spool until the next start", slog.Any("error", err))
		}
	}
	cancel()
	end()
	group.Wait()
	errs = append(errs, err, a.release(context.WithoutCancel(ctx)))
	return errors.Join(errs...)
}

// release gives back what New took. It serves a New that failed half-way too.
func (a *App) release(ctx context.Context) error {
	var errs []error
	a.listeners.Close()
	if a.provider != nil {
		a.provider.Close()
	}
	if a.spool != nil {
		errs = append(errs, a.spool.Close())
	}
	for _, conn := range []*natsconn.Conn{a.nats, a.counting} {
		if conn != nil {
			conn.Close()
		}
	}
	if a.tracing != nil {
		within, cancel := context.WithTimeout(ctx, flushWithin)
		defer cancel()
		errs = append(errs, a.tracing.Shutdown(within))
	}
	a.access.flush()
	return errors.Join(errs...)
}
