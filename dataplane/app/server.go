package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/telemetry"
)

const (
	maxHeader = 64 << 10
	// lastWords is how long streams have, once the drain timeout is over, to
	// tell their callers and to be recorded.
	lastWords = 5 * time.Second
)

// server serves inference and the probes, and ends gracefully.
type server struct {
	app      *App
	draining atomic.Bool
	inFlight sync.WaitGroup
	requests prometheus.Gauge

	// base is what every request's context comes from; stop ends it with the
	// fault that the callers are told.
	base context.Context
	stop context.CancelCauseFunc
}

func newServer(a *App) *server {
	s := &server{app: a, requests: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "signalbox_requests_in_flight", Help: "Requests that are being served, streams included. A rise without more requests means that providers are slow or callers hang.",
	})}
	s.base, s.stop = context.WithCancelCause(context.Background())
	a.registry.MustRegister(s.requests)
	return s
}

// ServeHTTP counts what is in flight.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.inFlight.Add(1)
	s.requests.Inc()
	defer func() {
		s.requests.Dec()
		s.inFlight.Done()
	}()
	s.app.edge.ServeHTTP(w, r)
}

// run serves until ctx ends, then lets what is in flight finish.
func (s *server) run(ctx context.Context) error {
	defer s.stop(nil)
	main := s.http(s)
	servers := []*http.Server{main}
	failed := make(chan error, 2)
	var accepting sync.WaitGroup
	serve := func(h *http.Server, l net.Listener) {
		accepting.Go(func() { failed <- h.Serve(l) })
	}
	probes := s.probes()
	if s.app.listeners.Ops != nil {
		ops := s.http(probes)
		servers = append(servers, ops)
		serve(ops, s.app.listeners.Ops)
	} else {
		for _, path := range probePaths {
			s.app.edge.Handle(http.MethodGet, path, probes)
		}
	}
	serve(main, s.app.listeners.API)
	var err error
	select {
	case err = <-failed:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	s.drain(context.WithoutCancel(ctx), main)
	for _, h := range servers {
		_ = h.Close() // what it held is closed by now
	}
	accepting.Wait()
	return err
}

func (s *server) http(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: s.app.cfg.HTTP.HeaderTimeout,
		// The edge sets narrower deadlines for what it reads and writes; these
		// are for what net/http does by itself.
		ReadTimeout:    s.app.cfg.HTTP.HeaderTimeout + s.app.cfg.HTTP.BodyTimeout,
		WriteTimeout:   s.app.cfg.Upstream.Request + s.app.cfg.HTTP.WriteTimeout,
		IdleTimeout:    s.app.cfg.HTTP.IdleTimeout,
		MaxHeaderBytes: maxHeader,
		BaseContext:    func(net.Listener) context.Context { return s.base },
		ErrorLog:       slog.NewLogLogger(s.app.deps.Log.Handler(), slog.LevelDebug),
	}
}

var errStopping = errors.New("drain timeout is over")

// drain stops accepting and lets requests finish. Those that are left when the
// time is over are told that the gateway stops, and recorded as such.
func (s *server) drain(ctx context.Context, main *http.Server) {
	s.draining.Store(true)
	within, cancel := context.WithTimeout(ctx, s.app.cfg.HTTP.DrainTimeout)
	defer cancel()
	// Shutdown does not wait for connections that were taken over: two-way
	// conversations.
	if main.Shutdown(within) != nil || !s.idle(within) {
		s.app.deps.Log.Warn("requests are cut at the end of the drain timeout")
		s.stop(fault.Wrap(errStopping, fault.UpstreamUndetermined,
			"This gateway is stopping. Send the request again.").From(fault.Gateway).After(time.Second))
		last, cancel := context.WithTimeout(ctx, lastWords)
		defer cancel()
		_ = main.Shutdown(last) // Close, next, is for what is left even then
	}
	_ = main.Close()
	s.inFlight.Wait()
}

// idle waits for what is in flight, and reports whether it has ended in time.
// No request may begin any more. What it starts ends with the last request.
func (s *server) idle(ctx context.Context) bool {
	ended := make(chan struct{})
	go func() {
		s.inFlight.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

var probePaths = []string{"/healthz", "/readyz", "/metrics"}

func (s *server) probes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("GET /metrics", telemetry.Handler(s.app.registry))
	return mux
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a probe that left needs no answer
}
