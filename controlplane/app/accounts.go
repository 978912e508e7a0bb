package app

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/controlplane/internal/allowance"
	"github.com/signalbox-dev/signalbox/controlplane/internal/books"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// wallets are what workspaces pay from.
func (a *App) wallets(mutator *deploy.Mutator, ids *id.Source) *wallet.Service {
	store := postgres.NewWalletStore(a.deps.Now)
	return wallet.NewService(wallet.Deps{
		Runner: a.db.Runner(), Store: store, Entries: store, Counter: postgres.NewSpendingStore(), Mutator: mutator,
		Terms: a.cfg.Billing.terms(), IDs: ids, Now: a.deps.Now,
	})
}

// allowances are what the users of workspaces may do.
func (a *App) allowances(mutator *deploy.Mutator) *allowance.Service {
	return allowance.NewService(allowance.Deps{
		Runner: a.db.Runner(), Store: postgres.NewAllowanceStore(), Mutator: mutator,
		Settings: a.cfg.Allowances.ladder(), Terms: a.cfg.Billing.terms(), Now: a.deps.Now,
	})
}

// accounts are the works on accounts that one of all control planes does.
type accounts struct {
	elector *postgres.Elector
	watch   *allowance.Watch
	audit   *books.Audit
	alerts  *budgetalert.Watcher // whose looks at what it took in every control plane has
}

func (a *App) newAccounts(mutator *deploy.Mutator) *accounts {
	return &accounts{
		elector: postgres.NewAccountsElector(a.db, a.deps.Log),
		alerts:  a.watcher,
		audit:   books.NewAudit(postgres.NewBooks(a.db), a.deps.Now, a.deps.Log),
		watch: allowance.NewWatch(allowance.WatchDeps{
			System: a.db.System(), Directory: postgres.NewAllowanceDirectory(), Store: postgres.NewAllowanceStore(), Mutator: mutator,
			Settings: a.cfg.Allowances.ladder(), Terms: a.cfg.Billing.terms(), Now: a.deps.Now, Log: a.deps.Log,
		}),
	}
}

// Run works whenever this process leads, until ctx ends.
func (w *accounts) Run(ctx context.Context) error {
	return w.elector.Lead(ctx, func(ctx context.Context, _ <-chan struct{}) error {
		works, ctx := errgroup.WithContext(ctx)
		works.Go(func() error { return w.watch.Run(ctx) })
		works.Go(func() error { return w.audit.Run(ctx) })
		works.Go(func() error { return w.alerts.RunSweeps(ctx) })
		return works.Wait()
	})
}
