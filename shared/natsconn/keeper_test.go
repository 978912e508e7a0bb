package natsconn_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestAwaitWaitsForTheTopologyOfTheLatestConnection(t *testing.T) {
	s := natstest.New(t)
	c := s.Connect()
	k := natsconn.NewKeeper(c, natsconn.Topology{}, natstest.Discard())
	brief, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	require.ErrorIs(t, k.Await(brief), context.DeadlineExceeded, "nobody has ensured it yet")

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	require.NoError(t, k.Await(ctx))
	_, err := c.JetStream().Stream(ctx, wire.StreamUsage)
	require.NoError(t, err)

	// Told after the keeper's own listener, so the old mark is gone by then.
	connected := make(chan struct{}, 1)
	defer c.OnConnect(func() { connected <- struct{}{} })()
	s.Wipe()
	<-connected
	require.NoError(t, k.Await(ctx))
	require.Eventually(t, func() bool {
		_, err := c.JetStream().Stream(ctx, wire.StreamUsage)
		return err == nil
	}, soon, tick)
	cancel()
	require.NoError(t, <-done)
}

func TestAClosedConnectionIsNoWarning(t *testing.T) {
	s := natstest.New(t)
	var log bytes.Buffer
	c, err := natsconn.Connect(t.Context(), s.Config(), natsconn.Options{
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	require.NoError(t, err)
	require.Eventually(t, c.Connected, soon, tick)
	c.Close()
	require.Empty(t, log.String())
}

// A wrong password must not look like a server that is merely slow.
func TestAServerThatRefusesIsSaid(t *testing.T) {
	s := natstest.New(t)
	s.Stop()
	var log lines
	c, err := natsconn.Connect(t.Context(), s.Config(), natsconn.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, func() bool { return strings.Contains(log.text(), "connection refused") }, soon, tick)
	require.Contains(t, log.text(), "nats is not reached")
}

// lines may be read while they are written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
