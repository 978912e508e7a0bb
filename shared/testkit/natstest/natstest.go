// Package natstest owns NATS for tests: a real in-process server with
// JetStream that can be stopped, restarted and wiped under the feet of its
// clients. It knows nothing of what is tested.
package natstest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsserver"
)

// Server is one server on the loopback interface, ended with its test. Its
// address stays the same over restarts.
type Server struct {
	t      testing.TB
	listen string

	mu    sync.Mutex
	dir   string
	srv   *natsserver.Server
	conns []*natsconn.Conn
}

// New starts a server.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), listen: "127.0.0.1:0"}
	s.Start()
	s.listen = strings.TrimPrefix(s.URL(), "nats://")
	t.Cleanup(s.Stop)
	return s
}

// Start starts a stopped server on the same address and data.
func (s *Server) Start() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Nil(s.t, s.srv, "the server runs already")
	srv, err := natsserver.Start(natsserver.Options{StoreDir: s.dir, Listen: s.listen})
	require.NoError(s.t, err)
	s.srv = srv
}

// Stop stops the server; its data stays. The connections that Connect opened
// know of it then: what one sends that does not would be neither answered nor
// refused. Stopping twice is allowed.
func (s *Server) Stop() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv == nil {
		return
	}
	s.srv.Shutdown()
	s.srv = nil
	for _, c := range s.conns {
		require.Eventually(s.t, func() bool { return !c.Connected() }, 10*time.Second, time.Millisecond, "a client must notice that its server has ended")
	}
}

// Restart stops and starts the server.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	s.Start()
}

// Wipe restarts the server without its data. A new directory is used: deleting
// a stream and making it anew in place can bring old data back.
func (s *Server) Wipe() {
	s.t.Helper()
	s.Stop()
	s.mu.Lock()
	s.dir = s.t.TempDir()
	s.mu.Unlock()
	s.Start()
}

// Replace is Wipe with other data: fill writes it through a connection of its
// own before clients can come back.
func (s *Server) Replace(fill func(*natsconn.Conn)) {
	s.t.Helper()
	s.Stop()
	dir := s.t.TempDir()
	srv, err := natsserver.Start(natsserver.Options{StoreDir: dir})
	require.NoError(s.t, err)
	conn, err := natsconn.Connect(context.Background(), natsconn.Config{}, natsconn.Options{InProcess: srv, Log: Discard()})
	require.NoError(s.t, err)
	s.Ensure(conn)
	fill(conn)
	conn.Close()
	srv.Shutdown()
	s.mu.Lock()
	s.dir = dir
	s.mu.Unlock()
	s.Start()
}

// URL is the server's address.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv == nil {
		return "nats://" + s.listen
	}
	return s.srv.URL()
}

// Config connects to the server.
func (s *Server) Config() natsconn.Config { return natsconn.Config{URL: s.URL(), Name: s.t.Name()} }

// Connect opens a connection that is closed with the test. It does not wait:
// the server may be stopped.
func (s *Server) Connect() *natsconn.Conn {
	s.t.Helper()
	c, err := natsconn.Connect(context.Background(), s.Config(), natsconn.Options{Log: Discard()})
	require.NoError(s.t, err)
	s.t.Cleanup(c.Close)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, c)
	return c
}

// Ready opens a connection and ensures every bucket and stream.
func (s *Server) Ready() *natsconn.Conn {
	s.t.Helper()
	c := s.Connect()
	s.Ensure(c)
	return c
}

// Ensure waits for c and ensures every bucket and stream through it.
func (s *Server) Ensure(c *natsconn.Conn) {
	s.t.Helper()
	require.Eventually(s.t, c.Connected, 10*time.Second, 5*time.Millisecond, "nats must be reachable")
	// Right after a restart c may not know yet that its connection has ended, and
	// what goes out there is never answered: it is asked again.
	var err error
	for range 4 {
		if err = ensure(c); !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	require.NoError(s.t, err)
}

func ensure(c *natsconn.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{})
}

// Discard is a logger for tests that do not read the log.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
