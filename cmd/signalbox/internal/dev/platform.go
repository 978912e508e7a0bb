package dev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox-dev/signalbox/shared/logging"
)

// Run starts the platform, says when it is ready, and serves until ctx ends;
// then it stops everything in the reverse order. What it started is stopped
// also when the start fails half-way.
func Run(ctx context.Context, o Options) (err error) {
	if err := o.Validate(); err != nil {
		return err
	}
	lock, err := prepareFolder(&o)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	log, err := logging.New(o.Log, logging.Config{Level: o.LogLevel, Format: "text"})
	if err != nil {
		return err
	}
	logging.TakeStandard(log)

	var started stack
	defer func() { err = errors.Join(err, started.stop()) }()
	planes := newParts(&started)
	urls, credentials, providers, err := start(ctx, o, log, planes)
	if err != nil {
		return err
	}
	access := accessTo(urls, credentials)
	path := filepath.Join(o.Data, accessFile)
	if err := writeJSON(path, access); err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	if err := banner(o.Out, access, o, urls.gateways, providers); err != nil {
		return err
	}
	return serve(ctx, o, planes.failed)
}

// start brings everything up in the order in which the parts need each other,
// and returns when all of it is ready. The gateways come after the control
// plane, which makes what they read.
func start(ctx context.Context, o Options, log *slog.Logger, planes *parts) (urls addresses, kept credentials, providers []string, err error) {
	if kept, err = keptCredentials(o.Data); err != nil {
		return urls, kept, nil, err
	}
	g, err := prepare(ctx, o, log, planes.started)
	if err != nil {
		return urls, kept, nil, err
	}
	if o.DatabaseURL == "" {
		urls.database = g.databaseURL
	}
	if urls.control, err = startControl(ctx, o, log, g, kept.OperatorToken, planes); err != nil {
		return urls, kept, nil, err
	}
	if err := planes.await(ctx, func(ctx context.Context) error { return awaitReady(ctx, urls.control) }); err != nil {
		return urls, kept, nil, err
	}
	if urls.gateways, err = startGateways(ctx, o, log, g, planes); err != nil {
		return urls, kept, nil, err
	}
	if kept, err = bootstrap(ctx, urls.control, kept); err != nil {
		return urls, kept, nil, err
	}
	if err := writeJSON(filepath.Join(o.Data, credentialsFile), kept); err != nil {
		return urls, kept, nil, err
	}
	return urls, kept, g.providers, planes.await(ctx, func(ctx context.Context) error {
		return errors.Join(awaitReady(ctx, urls.gateways...), awaitKey(ctx, kept.APIKey, urls.gateways...))
	})
}

// serve waits until it is asked to stop, a part has ended, or somebody deleted
// the data folder, under which a database would only fail again and again.
func serve(ctx context.Context, o Options, failed <-chan error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(o.Log, "signalbox: stopping")
			return nil
		case err := <-failed:
			return err
		case <-tick.C:
			if _, err := os.Stat(filepath.Join(o.Data, lockFile)); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s was deleted while this ran; start again for a fresh one", o.Data)
			}
		}
	}
}

// prepareFolder makes the data folder, makes sure that nobody else uses it,
// and removes the dev.json of an earlier start. The folder is absolute from
// then on.
func prepareFolder(o *Options) (*os.File, error) {
	dir, err := filepath.Abs(o.Data)
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must reach its own folder below
		return nil, fmt.Errorf("--data: make the folder: %w", err)
	}
	o.Data = dir
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, accessFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		_ = lock.Close()
		return nil, fmt.Errorf("remove the %s of an earlier start: %w", accessFile, err)
	}
	return lock, nil
}

// keptCredentials are those of an earlier start, with a fresh operator token
// when there is none.
func keptCredentials(dir string) (credentials, error) {
	kept, err := readCredentials(dir)
	if err != nil || kept.OperatorToken != "" {
		return kept, err
	}
	kept.OperatorToken, err = newToken()
	return kept, err
}

func accessTo(urls addresses, c credentials) Access {
	return Access{
		GatewayURL: urls.gateways[0], ControlURL: urls.control, DashboardURL: urls.control + "/",
		APIKey: c.APIKey, ManagementKey: c.ManagementKey, WorkspaceID: c.WorkspaceID, OperatorToken: c.OperatorToken,
		DatabaseURL: urls.database,
	}
}

// addresses are where the parts answer.
type addresses struct {
	control  string
	gateways []string
	database string // of the private cluster
}
