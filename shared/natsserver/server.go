// Package natsserver owns the embedded NATS server with JetStream, for one
// machine and for tests. It knows nothing of what is stored in it.
package natsserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options place the server.
type Options struct {
	StoreDir string
	Listen   string // host:port; "" serves in-process connections only
}

const (
	readyWithin = 20 * time.Second
	maxPayload  = 8 << 20
)

// Server is a running server. It is a nats.InProcessConnProvider.
type Server struct{ srv *server.Server }

// Start runs a server until Shutdown. It returns when connections are taken.
func Start(o Options) (*Server, error) {
	opts := &server.Options{
		ServerName: "signalbox",
		JetStream:  true,
		StoreDir:   o.StoreDir,
		DontListen: o.Listen == "",
		MaxPayload: maxPayload,
		NoLog:      true,
		NoSigs:     true, // the process handles its own signals
	}
	if o.Listen != "" {
		host, port, err := net.SplitHostPort(o.Listen)
		if err != nil {
			return nil, fmt.Errorf("nats listen address: %w", err)
		}
		if opts.Port, err = strconv.Atoi(port); err != nil {
			return nil, fmt.Errorf("nats listen port: %w", err)
		}
		opts.Host = host
		if err := vacant(o.Listen); err != nil {
			return nil, err
		}
		if opts.Port == 0 {
			opts.Port = server.RANDOM_PORT
		}
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("configure nats server: %w", err)
	}
	srv.Start()
	s := &Server{srv: srv}
	if !srv.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, fmt.Errorf("nats server was not ready within %s (is its address in use, or its store directory unwritable?)", readyWithin)
	}
	if !srv.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("nats server runs without jetstream: store directory unusable")
	}
	return s, nil
}

// vacant tells at once what the server itself keeps for its log, and would
// leave to a timeout.
func vacant(address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("address already in use: %s; stop what listens there, or choose another", address)
	}
	if err != nil {
		return fmt.Errorf("nats listen address: %w", err)
	}
	return listener.Close()
}

// InProcessConn opens a connection without a network.
func (s *Server) InProcessConn() (net.Conn, error) { return s.srv.InProcessConn() }

// URL is where other processes connect; it is empty when nothing listens.
func (s *Server) URL() string {
	if addr := s.srv.Addr(); addr != nil {
		return "nats://" + addr.String()
	}
	return ""
}

// Shutdown stops the server and waits for it. Stored data stays.
func (s *Server) Shutdown() {
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
}
