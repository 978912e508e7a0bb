package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
)

// tokensPerSecond paces the simulated streams so that a person sees them stream.
const tokensPerSecond = 60

// startSimulator serves the simulated provider on loopback and returns its base
// URL, or "" when it is switched off.
func startSimulator(ctx context.Context, o Options, started *stack) (baseURL string, err error) {
	if o.NoSimulator {
		return "", nil
	}
	listener, err := listenAgain(ctx, filepath.Join(o.Data, "simulator.address"))
	if err != nil {
		return "", fmt.Errorf("start the simulated provider: %w", err)
	}
	provider := simulator.New(simulator.Options{TokensPerSecond: tokensPerSecond})
	server := &http.Server{Handler: provider, ReadHeaderTimeout: 10 * time.Second}
	provider.Attach(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	started.push(func() error {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	})
	return "http://" + listener.Addr().String() + "/v1", nil
}

// listenAgain takes the address that an earlier start had, so that a catalog
// that a gateway still holds stays right, and a free one when that is taken.
func listenAgain(ctx context.Context, file string) (net.Listener, error) {
	var config net.ListenConfig
	if kept, err := os.ReadFile(file); err == nil {
		if listener, err := config.Listen(ctx, "tcp", strings.TrimSpace(string(kept))); err == nil {
			return listener, nil
		}
	}
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := writeFile(file, []byte(listener.Addr().String()+"\n")); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}
