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

// boot starts every part, the ones that others need first. It does not wait
// for them to be ready.
func boot(ctx context.Context, o Options, log *slog.Logger, operatorToken string, started *stack, failed chan<- error) (addresses, []string, error) {
	var urls addresses
	listeners, err := o.gatewayAddresses()
	if err != nil {
		return urls, nil, err
	}
	databaseURL, stopDatabase, err := database(ctx, o, log)
	if err != nil {
		return urls, nil, err
	}
	started.push(stopDatabase)

	nats, err := natsserver.Start(natsserver.Options{StoreDir: filepath.Join(o.Data, "nats"), Listen: o.NATSListen})
	if err != nil {
		return urls, nil, fmt.Errorf("start NATS (--nats-listen): %w", err)
	}
	started.push(func() error { nats.Shutdown(); return nil })

	simulatorURL, err := startSimulator(ctx, o, started)
	if err != nil {
		return urls, nil, err
	}
	overlay, providers, err := writeCatalog(o.Data, simulatorURL, os.Getenv)
	if err != nil {
		return urls, nil, err
	}
	keyring := filepath.Join(o.Data, "keyring.json")
	if _, err := seal.LoadOrCreateFile(keyring); err != nil {
		return urls, nil, err
	}

	control := controlConfig(o, databaseURL, keyring, operatorToken, overlay)
	plane, err := controlplane.New(ctx, control, controlplane.Deps{
		Log: log.With(slog.String("process", "controlplane")), Now: time.Now, Version: o.Version,
		InProcessNATS: nats, Web: dashboard.Files(),
	})
	if err != nil {
		return urls, nil, occupied(err, o.ControlListen, "--control-listen")
	}
	started.push(run(ctx, "control plane", plane.Run, failed))
	urls.control = "http://" + plane.Addr()

	for i, listen := range listeners {
		gateway, err := dataplane.New(ctx, gatewayConfig(o, listen, keyring, i), dataplane.Deps{
			Log: log.With(slog.String("process", "gateway-"+strconv.Itoa(i+1))), Now: time.Now, Version: o.Version,
			InProcessNATS: nats, AccessLog: o.Log,
		})
		if err != nil {
			return urls, nil, occupied(err, listen, "--gateway-listen")
		}
		started.push(run(ctx, "gateway "+strconv.Itoa(i+1), gateway.Run, failed))
		urls.gateways = append(urls.gateways, "http://"+gateway.Addr())
	}
	return urls, providers, nil
}

// occupied words a taken port for who has flags and not the settings of a plane.
func occupied(err error, address, flag string) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %s; stop what listens there, or choose another with %s", syscall.EADDRINUSE, address, flag)
	}
	return err
}

func controlConfig(o Options, databaseURL, keyring, operatorToken, overlay string) controlplane.Config {
	cfg := controlplane.Default()
	cfg.Listen = o.ControlListen
	cfg.Database.URL = secret.NewString(databaseURL)
	cfg.KeyringFile = keyring
	cfg.OperatorToken = secret.NewString(operatorToken)
	cfg.CatalogFiles = []string{overlay}
	if o.Catalog != "" {
		cfg.CatalogFiles = append(cfg.CatalogFiles, o.Catalog)
	}
	return cfg
}

func gatewayConfig(o Options, listen, keyring string, index int) dataplane.Config {
	cfg := dataplane.Default()
	cfg.Listen = listen
	cfg.DataDir = filepath.Join(o.Data, "gateway-"+strconv.Itoa(index+1))
	cfg.KeyringFile = keyring
	cfg.AccessLog = o.LogLevel == "debug" || o.LogLevel == "info"
	return cfg
}

// run runs a part and returns the function that ends it and waits for its end.
// Parts do not end with ctx: they are ended one after the other, so that a
// gateway can still deliver its usage.
func run(ctx context.Context, name string, part func(context.Context) error, failed chan<- error) (stop func() error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := part(ctx)
		if ctx.Err() == nil { // it was not asked to
			if err == nil {
				err = errors.New("it ended by itself")
			}
			select {
			case failed <- fmt.Errorf("%s: %w", name, err):
			default: // another part was first
			}
		}
		ended <- err
	}()
	return func() error {
		cancel()
		if err := <-ended; err != nil {
			return fmt.Errorf("stop the %s: %w", name, err)
		}
		return nil
	}
}
