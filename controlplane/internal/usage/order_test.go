package usage_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// TestTheConsumerWaitsForItsStream starts against an empty server, as the
// first start does: that is no failure, so nothing may be logged.
func TestTheConsumerWaitsForItsStream(t *testing.T) {
	server := natstest.New(t)
	conn := server.Connect()
	require.Eventually(t, conn.Connected, 10*time.Second, time.Millisecond)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	keeper := natsconn.NewKeeper(conn, natsconn.Topology{}, logger)
	c := usage.NewConsumer(conn, keeper, nil, 2, logger)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- c.Run(ctx) }()
	// The workers are at the stream's door well before it opens.
	time.AfterFunc(200*time.Millisecond, func() { done <- keeper.Run(ctx) })
	require.Eventually(t, func() bool {
		stream, err := conn.JetStream().Stream(ctx, wire.StreamUsage)
		if err != nil {
			return false
		}
		_, err = stream.Consumer(ctx, wire.ConsumerUsage)
		return err == nil
	}, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Empty(t, log.String())
}
