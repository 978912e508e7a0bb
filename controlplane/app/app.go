// Package app wires a control plane: it builds every part from the
// configuration, in order, in one place, and runs them. It decides nothing.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budgetalert"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/checks"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/gateway"
	"github.com/signalbox-dev/signalbox/controlplane/internal/idempotency"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/offer"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/postgres"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/controlplane/internal/reseal"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook/courier"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
	"github.com/signalbox-dev/signalbox/shared/telemetry"
)

// Deps are what a control plane takes from its process.
type Deps struct {
	Log     *slog.Logger
	Now     func() time.Time
	Version string
	// InProcessNATS connects to an embedded server; nats.url is then ignored.
	InProcessNATS nats.InProcessConnProvider
	// Env looks up the variables that catalog files name. nil is the process's
	// environment.
	Env func(name string) (string, bool)
	// Web is the dashboard; nil when this binary has none.
	Web fs.FS
	// Reload has the keyring file looked at at once, as SIGHUP does; it may be
	// nil.
	Reload <-chan os.Signal
}

// App is one control plane.
type App struct {
	cfg       Config
	deps      Deps
	listeners httpserver.Listeners

	db       *postgres.DB
	migrated atomic.Bool
	nats     *natsconn.Conn

	publisher *publish.Publisher
	consumer  *usage.Consumer
	keeper    *usage.Keeper
	filler    *usage.Filler
	judge     *rollout.Judge
	accounts  *accounts
	sweeper   *idempotency.Sweeper
	courier   *courier.Courier
	watcher   *budgetalert.Watcher
	keyring   *rotation.Keyring // nil when there is none
	resealer  *reseal.Runner
	offered   *reseal.Offered
	api       *api.Server
}

// New builds a control plane and takes the addresses. Postgres and NATS may be
// away; a database that refuses is an error, and so is a broken catalog file.
// Run must follow: it gives everything back.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if deps.Env == nil {
		deps.Env = os.LookupEnv
	}
	a := &App{cfg: cfg, deps: deps}
	for _, step := range []func(context.Context) error{a.listen, a.open, a.wire} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, a.release())
		}
	}
	return a, nil
}

// Addr is the address that the API is served on.
func (a *App) Addr() string { return a.listeners.Addr() }

// OpsAddr is the address of the probes and metrics.
func (a *App) OpsAddr() string { return a.listeners.OpsAddr() }

func (a *App) listen(ctx context.Context) (err error) {
	a.listeners, err = httpserver.ListenAll(ctx, a.cfg.Listen, a.cfg.OpsListen)
	return err
}

// open migrates before it connects: the roles that the pools work as come from
// the migrations.
func (a *App) open(ctx context.Context) (err error) {
	if err := a.migrate(ctx); err != nil && !fault.Is(err, fault.Unavailable) {
		return err
	}
	if a.db, err = postgres.Open(ctx, a.cfg.Database.settings()); err != nil {
		return err
	}
	a.nats, err = natsconn.Connect(ctx, a.cfg.NATS.Config, natsconn.Options{InProcess: a.deps.InProcessNATS, Log: a.deps.Log})
	return err
}

// wire builds the services, from the stores beneath them to the API above.
func (a *App) wire(context.Context) error {
	log, now, ids := a.deps.Log, a.deps.Now, id.NewSource(a.deps.Now, rand.Reader)
	runner, system := a.db.Runner(), a.db.System()
	sealer, offered, err := a.offer()
	if err != nil {
		return err
	}
	source, overrides, err := a.overrides(offered.Catalog(), sealer, ids)
	if err != nil {
		return err
	}
	registry := gateway.NewRegistry(postgres.NewGatewayStore(a.db), now, log)
	tracker, gateways := publication.NewTracker(registry), gateway.NewService(registry)
	publications, events := postgres.NewPublicationStore(), postgres.NewAuditStore()
	mutator := deploy.New(runner, publications, events, ids, now)
	keyStore, managementKeyStore := postgres.NewAPIKeyStore(), postgres.NewManagementKeyStore()
	settingsStore, byokStore := postgres.NewSettingsStore(), postgres.NewBYOKStore()
	seals, ladder := a.seals(source, mutator, gateways, ids), a.ladder(mutator, ids, source)
	records, claims := postgres.NewUsageStore(a.db, ids, now), postgres.NewIdempotencyStore(a.db, ids, now)

	managementKeys := managementkey.NewService(managementkey.Deps{
		Runner: runner, System: system, Store: managementKeyStore, Directory: postgres.NewManagementKeyDirectory(),
		Mutator: mutator, IDs: ids, Rand: rand.Reader, Now: now, Log: log,
	})
	topology := natsconn.NewKeeper(a.nats, natsconn.Topology{Replicas: a.cfg.NATS.Replicas, PinsBytes: a.cfg.NATS.PinsBytes}, log)
	a.publisher = a.newPublisher(topology, tracker, registry)
	a.account(topology, records, ladder.rollouts, ids)
	a.accounts = a.newAccounts(mutator)
	a.sweeper = idempotency.NewSweeper(claims, log)

	services := api.Services{
		Workspaces: workspace.NewService(workspace.Deps{
			Runner: runner, System: system, Store: postgres.NewWorkspaceStore(), Directory: postgres.NewWorkspaceDirectory(),
			Settings: settings.NewSeeder(settingsStore), Revokers: []workspace.Revoker{keyStore, managementKeyStore, byokStore, postgres.NewPresetStore(), postgres.NewWebhookStore()},
			Mutator: mutator, IDs: ids, Now: now,
		}),
		ManagementKeys: managementKeys,
		BYOK:           a.providerKeys(byokStore, mutator, sealer, source, ids),
		Audit:          audit.NewLog(runner, events),
		Publications:   publication.NewService(runner, publications, tracker, now),
		Gateways:       gateways,
		Overrides:      overrides,
		Seals:          seals,
		Usage:          usage.NewQuery(runner, records),
		Wallets:        a.wallets(records, mutator, ids),
		Allowances:     a.allowances(mutator),
		Idempotency:    claims,
	}
	ladder.serve(&services)
	a.webhooks(&services, mutator, ids)
	a.api, err = api.New(services, api.Options{
		Authenticator: authn.New(managementKeys, a.cfg.OperatorToken), Log: log, Metrics: a.metrics(), IDs: ids, Now: now,
		Limits: a.cfg.server(), Checks: a.checks(), Web: a.deps.Web, OpsElsewhere: a.listeners.Ops != nil,
	})
	return err
}

// account builds what takes usage in, keeps it, has it counted, and judges
// rollouts by it.
func (a *App) account(topology *natsconn.Keeper, records *postgres.UsageStore, rollouts *rollout.Service, ids *id.Source) {
	log, now := a.deps.Log, a.deps.Now
	a.watcher = a.newWatcher(ids)
	a.consumer = usage.NewConsumer(a.nats, topology, budgetalert.NewIntake(records, a.watcher), a.cfg.Usage.Workers, log)
	a.keeper = usage.NewKeeper(records, now, log)
	a.filler = usage.NewFiller(a.nats, topology, records, ids, now, log)
	a.judge = rollout.NewJudge(postgres.NewRolloutElector(a.db, log), postgres.NewDocket(a.db), rollouts, now, log)
}

// providerKeys are the keys that workspaces bring.
func (a *App) providerKeys(store *postgres.BYOKStore, mutator *deploy.Mutator, sealer byok.Sealer, source *override.Source, ids *id.Source) *byok.Service {
	return byok.NewService(byok.Deps{
		Runner: a.db.Runner(), Store: store, Directory: store, Mutator: mutator, Sealer: sealer, Offered: source, IDs: ids, Now: a.deps.Now,
		Verifications: postgres.NewBYOKVerifications(), Checker: checks.NewAsker(a.nats, ids), Auditor: postgres.NewAuditStore(),
	})
}

// overrides are the operator's catalog over what is offered without it.
func (a *App) overrides(base catalog.Catalog, sealer byok.Sealer, ids *id.Source) (*override.Source, *override.Service, error) {
	system, store := a.db.System(), postgres.NewOverrideStore()
	source, err := override.NewSource(system, store, base)
	return source, override.NewService(override.Deps{
		System: system, Store: store, History: store, Base: base, Sealer: sealer, IDs: ids, Now: a.deps.Now,
	}), err
}

func (a *App) metrics() *prometheus.Registry {
	registry := telemetry.NewRegistry("controlplane", a.deps.Version)
	registry.MustRegister(a.consumer, a.keeper, a.filler, a.judge, a.accounts.watch, a.accounts.audit, a.resealer, a.courier)
	if a.keyring != nil {
		registry.MustRegister(a.keyring)
	}
	registry.MustRegister(publisherMetrics(a.publisher)...)
	return registry
}

func (a *App) newPublisher(topology *natsconn.Keeper, tracker *publication.Tracker, registry *gateway.Registry) *publish.Publisher {
	outbox := postgres.NewOutbox(a.db)
	return publish.New(publish.Deps{
		Conn: a.nats, Topology: topology, Elector: postgres.NewElector(a.db, a.deps.Log),
		Outbox: outbox, Compiler: postgres.NewCompiler(a.db).Under(a.cfg.Billing.terms(), a.cfg.Allowances.ladder(), a.deps.Now), Ledger: postgres.NewLedger(a.db), Presets: postgres.NewLedger(a.db),
		Catalog: a.offered, Revisions: postgres.NewCatalogRevisions(a.db), Accounts: outbox,
		Tracker: tracker, Registry: registry, AllowMassRemoval: a.cfg.Publish.AllowMassRemoval, Now: a.deps.Now, Log: a.deps.Log,
	})
}

// offer builds the catalog, with what seals provider keys, which is nil when
// there is no keyring.
func (a *App) offer() (byok.Sealer, *offer.Offer, error) {
	sealer, err := a.openKeyring()
	if err != nil {
		return nil, nil, err
	}
	offered, warnings, err := offer.New(offer.Options{Files: a.cfg.CatalogFiles, Env: a.deps.Env, Sealer: sealer})
	for _, w := range warnings {
		a.deps.Log.Warn("catalog file", slog.String("problem", w.String()))
	}
	return sealer, offered, err
}
