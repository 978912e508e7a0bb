// Package httpserver owns how a process serves HTTP: the listener, the time
// limits against slow clients, the request id, recovery from panics, body
// limits and the graceful end. It has no error format of its own; its users
// say how a failure is answered.
package httpserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Config is the part of a process's configuration that concerns its listeners.
type Config struct {
	HeaderTimeout time.Duration // for the whole request head
	BodyTimeout   time.Duration // for the whole request body
	IdleTimeout   time.Duration // of a keep-alive connection between requests
	DrainTimeout  time.Duration // for requests in flight at the end
	MaxBody       int64         // bytes
}

// Default has limits that fit an API of small bodies.
func Default() Config {
	return Config{
		HeaderTimeout: 10 * time.Second,
		BodyTimeout:   30 * time.Second,
		IdleTimeout:   2 * time.Minute,
		DrainTimeout:  30 * time.Second,
		MaxBody:       1 << 20,
	}
}

// maxHeader bounds the request head; the default of net/http is 1 MiB.
const maxHeader = 64 << 10

// Listen binds address. The error of an occupied port names the address and
// the configuration key that changes it.
func Listen(ctx context.Context, address, configKey string) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", address)
	switch {
	case err == nil:
		return listener, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use by another process: stop it, or choose another address with %s: %w", address, configKey, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("not allowed to listen on %s: choose a port above 1023 with %s: %w", address, configKey, err)
	default:
		return nil, fmt.Errorf("listen on %s (%s): %w", address, configKey, err)
	}
}

// Serve answers requests on listener until ctx ends, then stops accepting and
// lets the requests in flight finish within the drain timeout. What is left
// after it is cut. It returns nil after such an end.
func Serve(ctx context.Context, listener net.Listener, c Config, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: c.HeaderTimeout,
		IdleTimeout:       c.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.DrainTimeout)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		log.WarnContext(ctx, "requests cut at the end of the drain timeout", slog.String("address", listener.Addr().String()))
		_ = server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return nil
}
