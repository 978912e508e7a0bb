package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/controlplane/dashboard"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/natsserver"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// ground is what both planes stand on.
type ground struct {
	databaseURL string
	nats        *natsserver.Server
	catalog     string // path of the overlay of this machine
	keyring     string // path
	env         func(string) (string, bool)
	providers   []string
}

// prepare starts what both planes need: Postgres, NATS and the simulated
// provider, and writes the catalog and the keyring.
func prepare(ctx context.Context, o Options, log *slog.Logger, started *stack) (g ground, err error) {
	var stopDatabase func() error
	if g.databaseURL, stopDatabase, err = database(ctx, o, log); err != nil {
		return g, err
	}
	started.push(stopDatabase)
	if g.nats, err = natsserver.Start(natsserver.Options{StoreDir: filepath.Join(o.Data, "nats"), Listen: o.NATSListen}); err != nil {
		return g, fmt.Errorf("start NATS (--nats-listen): %w", err)
	}
	started.push(func() error { g.nats.Shutdown(); return nil })
	simulatorURL, err := startSimulator(ctx, o, started)
	if err != nil {
		return g, err
	}
	g.env = environment(simulatorURL, os.LookupEnv)
	if g.catalog, g.providers, err = writeCatalog(o.Data, simulatorURL, os.Getenv); err != nil {
		return g, err
	}
	g.keyring = filepath.Join(o.Data, "keyring.json")
	_, err = seal.LoadOrCreateFile(g.keyring)
	return g, err
}

// startControl runs the control plane and returns its URL.
func startControl(ctx context.Context, o Options, log *slog.Logger, g ground, operatorToken string, parts *parts) (string, error) {
	plane, err := controlplane.New(ctx, controlConfig(o, g, operatorToken), controlplane.Deps{
		Log: log.With(slog.String("process", "controlplane")), Now: time.Now, Version: o.Version,
		InProcessNATS: g.nats, Web: dashboard.Files(), Env: g.env,
	})
	if err != nil {
		return "", occupied(err, o.ControlListen, "--control-listen")
	}
	parts.run(ctx, "control plane", plane.Run)
	return "http://" + plane.Addr(), nil
}

// startGateways runs the gateways and returns their URLs.
func startGateways(ctx context.Context, o Options, log *slog.Logger, g ground, parts *parts) ([]string, error) {
	listeners, err := o.gatewayAddresses()
	if err != nil {
		return nil, err
	}
	var urls []string
	for i, listen := range listeners {
		gateway, err := dataplane.New(ctx, gatewayConfig(o, g, listen, i), dataplane.Deps{
			Log: log.With(slog.String("process", "gateway-"+strconv.Itoa(i+1))), Now: time.Now, Version: o.Version,
			InProcessNATS: g.nats, AccessLog: o.Log,
		})
		if err != nil {
			return nil, occupied(err, listen, "--gateway-listen")
		}
		parts.run(ctx, "gateway "+strconv.Itoa(i+1), gateway.Run)
		urls = append(urls, "http://"+gateway.Addr())
	}
	return urls, nil
}

// occupied words a taken port for who has flags and not the settings of a plane.
func occupied(err error, address, flag string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %s; stop what listens there, or choose another with %s", syscall.EADDRINUSE, address, flag)
	}
	return err
}

func controlConfig(o Options, g ground, operatorToken string) controlplane.Config {
	cfg := controlplane.Default()
	cfg.Listen = o.ControlListen
	cfg.Database.URL = secret.NewString(g.databaseURL)
	cfg.KeyringFile = g.keyring
	cfg.OperatorToken = secret.NewString(operatorToken)
	cfg.Webhooks.AllowPrivateAddresses = true // the receiver to try them with is on this machine
	cfg.CatalogFiles = []string{g.catalog}
	if o.Catalog != "" {
		cfg.CatalogFiles = append(cfg.CatalogFiles, o.Catalog)
	}
	return cfg
}

// classifierVariable names the model that signalbox/auto asks what kind of work
// a request is, as it does for a gateway that runs by itself.
const classifierVariable = "SIGNALBOX_AUTO_CLASSIFIER_MODEL"

func gatewayConfig(o Options, g ground, listen string, index int) dataplane.Config {
	cfg := dataplane.Default()
	cfg.Listen = listen
	cfg.DataDir = filepath.Join(o.Data, "gateway-"+strconv.Itoa(index+1))
	cfg.KeyringFile = g.keyring
	// With a provider's key in the environment the cheapest model of the catalog
	// is a paid one: nobody is asked unless somebody says whom.
	cfg.Auto.ClassifierModel = "off"
	if model, ok := g.env(classifierVariable); ok && model != "" {
		cfg.Auto.ClassifierModel = model
	}
	cfg.AccessLog = o.LogLevel == "debug" || o.LogLevel == "info"
	return cfg
}
