// Package app wires a gateway: it builds every part from the configuration, in
// order, in one place, and runs them. It decides nothing about requests.
package app

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/affinity"
	"github.com/signalbox-dev/signalbox/dataplane/internal/attempt"
	"github.com/signalbox-dev/signalbox/dataplane/internal/auth"
	"github.com/signalbox-dev/signalbox/dataplane/internal/check"
	"github.com/signalbox-dev/signalbox/dataplane/internal/check/answer"
	"github.com/signalbox-dev/signalbox/dataplane/internal/classifier"
	"github.com/signalbox-dev/signalbox/dataplane/internal/content"
	"github.com/signalbox-dev/signalbox/dataplane/internal/feed"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health/exchange"
	"github.com/signalbox-dev/signalbox/dataplane/internal/keyring"
	"github.com/signalbox-dev/signalbox/dataplane/internal/lastgood"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/cell"
	"github.com/signalbox-dev/signalbox/dataplane/internal/ledger/rate"
	"github.com/signalbox-dev/signalbox/dataplane/internal/limits"
	"github.com/signalbox-dev/signalbox/dataplane/internal/pipeline"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset"
	"github.com/signalbox-dev/signalbox/dataplane/internal/provider"
	"github.com/signalbox-dev/signalbox/dataplane/internal/record"
	"github.com/signalbox-dev/signalbox/dataplane/internal/snapshot"
	"github.com/signalbox-dev/signalbox/dataplane/internal/spool"
	"github.com/signalbox-dev/signalbox/dataplane/internal/stream"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface"
	"github.com/signalbox-dev/signalbox/dataplane/internal/translate"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/secret/rotation"
	"github.com/signalbox-dev/signalbox/shared/telemetry"
)

// Deps are what a gateway takes from its process.
type Deps struct {
	Log     *slog.Logger
	Now     func() time.Time
	Version string
	// InProcessNATS connects to an embedded server; nats.url is then ignored.
	InProcessNATS nats.InProcessConnProvider
	// AccessLog gets one JSON line for each request; nil is standard error.
	AccessLog io.Writer
	// Reload has the keyring file looked at at once, as SIGHUP does; it may be
	// nil.
	Reload <-chan os.Signal
}

// App is one gateway.
type App struct {
	cfg       Config
	deps      Deps
	listeners httpserver.Listeners

	nats     *natsconn.Conn
	counting *natsconn.Conn    // the ledger's and the rates': what they send must not queue before anything else
	keyring  *rotation.Keyring // nil when there is none
	spool    *spool.Spool
	ledger   *ledger.Ledger
	rates    *rate.Rates
	cells    *cell.Cells
	policies *snapshot.Store
	feed     *feed.Feed
	pins     *affinity.Pins
	health   *health.Table
	provider *provider.Client
	edge     *surface.Edge
	access   *accessLog
	tracing  *telemetry.Tracing
	registry *prometheus.Registry
	server   *server
	exchange *exchange.Exchange
	checks   *answer.Answerer
}

// New builds a gateway and takes what it must have for itself: the addresses
// and the data directory. Its errors name the configuration keys that could be
// changed. Run must follow: it gives everything back.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if deps.AccessLog == nil {
		deps.AccessLog = os.Stderr
	}
	a := &App{cfg: cfg, deps: deps, registry: telemetry.NewRegistry("gateway", deps.Version), access: newAccessLog(deps.AccessLog)}
	for _, step := range []func(context.Context) error{a.listen, a.open, a.wire} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, a.release(context.WithoutCancel(ctx)))
		}
	}
	return a, nil
}

// Addr is the address that inference is served on.
func (a *App) Addr() string { return a.listeners.Addr() }

// OpsAddr is the address of the probes and metrics.
func (a *App) OpsAddr() string { return a.listeners.OpsAddr() }

func (a *App) listen(ctx context.Context) (err error) {
	a.listeners, err = httpserver.ListenAll(ctx, a.cfg.Listen, a.cfg.OpsListen)
	return err
}

// open takes the data directory and begins to connect to NATS, which may be
// away.
func (a *App) open(ctx context.Context) (err error) {
	a.nats, err = natsconn.Connect(ctx, a.cfg.NATS.Config, natsconn.Options{InProcess: a.deps.InProcessNATS, Log: a.deps.Log})
	if err != nil {
		return err
	}
	a.counting, err = natsconn.Connect(ctx, a.cfg.NATS.Config, natsconn.Options{InProcess: a.deps.InProcessNATS, Log: a.deps.Log})
	if err != nil {
		return err
	}
	a.spool, err = spool.Open(filepath.Join(a.cfg.DataDir, "spool"), spool.Options{NATS: a.nats.NATS(), Log: a.deps.Log, Now: a.deps.Now})
	if err != nil {
		return fmt.Errorf("data_dir %s: %w", a.cfg.DataDir, err)
	}
	a.tracing, err = telemetry.StartTracing(ctx, a.cfg.Telemetry, "gateway", a.deps.Version)
	return err
}

// wire builds the stages, from the state beneath them to the edge above.
func (a *App) wire(context.Context) error {
	log, now := a.deps.Log, a.deps.Now
	opener, names, err := a.openKeyring()
	if err != nil {
		return err
	}
	named, err := a.conversationSecret()
	if err != nil {
		return err
	}
	a.pins = affinity.New(affinity.Options{Store: affinity.NewNATS(a.nats), Secret: named, Now: now, Log: log}, a.registry)
	disk, err := lastgood.Open(filepath.Join(a.cfg.DataDir, "last-known-good"), lastgood.Options{Log: log})
	if err != nil {
		return fmt.Errorf("data_dir %s: %w", a.cfg.DataDir, err)
	}
	source := feed.NewSource(a.nats)
	keys := keyring.New(keyring.Options{Source: source, Disk: disk, Now: now, Log: log})
	a.provider = provider.New(opener, provider.Options{UserAgent: "signalbox/" + a.deps.Version, Now: now})
	a.policies = snapshot.New(snapshot.Options{
		Source: source, Disk: disk, Now: now, Log: log, Installed: a.provider.Retain, Dropped: a.provider.Forget,
	})
	presets := preset.New(preset.Options{Source: source, Disk: disk, Now: now, Log: log})
	presets.Register(a.registry)
	instance := id.SystemSource().UUID()
	a.feed = feed.New(feed.Options{
		Conn: a.nats, Keys: keys, Policies: a.policies, Disk: disk, Log: log, Now: now,
		Self: a.self(instance), SpoolPending: func() int64 { return a.spool.Status().Pending },
	})
	known := health.New(health.Options{Now: now, Seed: rand.Uint64, Log: log})
	a.health = known
	a.exchange = exchange.New(exchange.Options{Conn: a.nats, Table: known, Instance: instance, Log: log, Now: now})
	a.checks = answer.New(answer.Options{Conn: a.nats, Checker: check.New(a.provider, a.policies, now), Log: log})
	ids := id.NewSource(now, cryptorand.Reader)
	gate := a.limits(ids, instance.String())
	recent := record.NewRecent(a.cfg.RecentGenerations)
	recorder := record.New(record.Deps{
		Spool: a.spool, Access: a.access.writer(a.cfg.AccessLog), Log: log,
		Metrics: record.NewMetrics(a.registry), Recent: recent,
	})
	runner := attempt.New(attempt.Deps{
		Translator: translate.New(names), Provider: a.provider, Health: known, Log: log, Now: now, Rand: rand.Float64,
	}, a.cfg.limits())
	line := pipeline.New(pipeline.Steps{
		Auth: auth.New(keys, now), Policies: a.policies, Catalogs: a.policies, Objects: names, Health: known, Affinity: a.pins,
		Content: content.Of, Usage: a.ledger, Presets: presets, Adds: translate.Adds, Decide: (*decide.Input).Decide,
		Classify: classifier.New(classifier.Options{Model: a.cfg.Auto.ClassifierModel, Timeout: a.cfg.Auto.ClassifierTimeout, IDs: ids, Metrics: a.registry}),
		Admit:    gate, Begin: recorder, Attempt: runner, Deliver: stream.New(), Record: recorder, Access: recorder,
		Status: StatusOf,
	}, now, rand.Uint64, ids)
	return a.face(surface.Deps{Pipeline: line, Access: recorder, Generations: recent, Health: known, Limits: gate, Kept: names, IDs: ids, Now: now, Log: log})
}

// limits builds what is counted over all gateways, and the gates over it.
func (a *App) limits(ids *id.Source, instance string) *limits.Gate {
	log, now := a.deps.Log, a.deps.Now
	a.ledger = ledger.New(ledger.Options{
		Store: ledger.NewNATS(a.counting, a.spool.GatewayID(), ids), Spool: a.spool, Now: now, Log: log,
	}, a.registry)
	a.rates = rate.New(rate.Options{Store: rate.NewNATS(a.counting), IDs: ids, Now: now, Log: log}, a.registry)
	// What is asked exactly does not queue behind what is counted.
	a.cells = cell.New(cell.Options{
		Store: cell.NewNATS(a.nats), Gateway: a.spool.GatewayID(), Instance: instance, Started: a.ledger.Seen(),
		Now: now, Draw: rand.Float64, Log: log, Wait: a.cfg.Limits.StrictDeadline,
	}, a.registry)
	a.ledger.OnProgress(a.cells.Progress)
	return limits.New(limits.Options{Ledger: a.ledger, Rates: a.rates, Cells: limits.CellsOver(a.cells, a.ledger), Now: now})
}

// face builds what callers and operators meet, over the stages.
func (a *App) face(edge surface.Deps) (err error) {
	if a.tracing.Enabled() {
		edge.Tracer = a.tracing.Tracer("gateway")
	}
	if a.edge, err = surface.New(edge, a.cfg.edge()); err != nil {
		return fmt.Errorf("data_dir %s: %w", a.cfg.DataDir, err)
	}
	a.registry.MustRegister(a.spool, newStatus(a.feed), a.exchange)
	a.server = newServer(a)
	return nil
}

func (a *App) self(instance uuid.UUID) feed.Self {
	address := a.cfg.Advertise
	if address == "" {
		address = reachable(a.Addr(), os.Hostname)
	}
	return feed.Self{
		Gateway: a.spool.GatewayID(), Instance: instance.String(), Version: a.deps.Version,
		Address: address, StartedAt: a.deps.Now(),
	}
}

// reachable puts the machine's name where a listener is bound to every address,
// which tells nobody where that is.
func reachable(address string, hostname func() (string, error)) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !net.ParseIP(host).IsUnspecified() {
		return address
	}
	name, err := hostname()
	if err != nil {
		return address
	}
	return net.JoinHostPort(name, port)
}
