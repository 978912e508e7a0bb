package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

	var started stack
	defer func() { err = errors.Join(err, started.stop()) }()
	failed := make(chan error, 1) // the first part that ended by itself

	credentials, err := keptCredentials(o.Data)
	if err != nil {
		return err
	}
	urls, providers, err := boot(ctx, o, log, credentials.OperatorToken, &started, failed)
	if err != nil {
		return err
	}
	if err := unlessFailed(ctx, failed, func(ctx context.Context) error { return awaitReady(ctx, urls.control) }); err != nil {
		return err
	}
	if credentials, err = bootstrap(ctx, urls.control, credentials); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(o.Data, credentialsFile), credentials); err != nil {
		return err
	}
	if err := unlessFailed(ctx, failed, func(ctx context.Context) error {
		return errors.Join(awaitReady(ctx, urls.gateways...), awaitKey(ctx, credentials.APIKey, urls.gateways...))
	}); err != nil {
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
	return serve(ctx, o, failed)
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

// unlessFailed waits for something, and gives up when a part has ended.
func unlessFailed(ctx context.Context, failed <-chan error, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- wait(ctx) }()
	select {
	case err := <-waited:
		return err
	case err := <-failed:
		cancel()
		return cmp.Or(err, <-waited)
	}
}

func accessTo(urls addresses, c credentials) Access {
	return Access{
		GatewayURL: urls.gateways[0], ControlURL: urls.control, DashboardURL: urls.control + "/",
		APIKey: c.APIKey, ManagementKey: c.ManagementKey, WorkspaceID: c.WorkspaceID, OperatorToken: c.OperatorToken,
	}
}

// addresses are where the parts answer.
type addresses struct {
	control  string
	gateways []string
}

// stack stops what was started, last first.
type stack struct{ stops []func() error }

func (s *stack) push(stop func() error) { s.stops = append(s.stops, stop) }

func (s *stack) stop() error {
	var problems []error
	for i := len(s.stops) - 1; i >= 0; i-- {
		problems = append(problems, s.stops[i]())
	}
	s.stops = nil
	return errors.Join(problems...)
}
