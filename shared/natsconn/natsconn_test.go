package natsconn_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsserver"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

const (
	soon = 15 * time.Second
	tick = 5 * time.Millisecond
)

func TestConnectDoesNotWaitForAServer(t *testing.T) {
	s := natstest.New(t)
	s.Stop()
	c := s.Connect()
	require.ErrorIs(t, c.Ready(), natsconn.ErrNotConnected)
	connected := make(chan struct{}, 8)
	cancel := c.OnConnect(func() { connected <- struct{}{} })
	s.Start()
	<-connected
	require.NoError(t, c.Ready())
	s.Restart()
	<-connected
	cancel()
	s.Restart()
	require.Eventually(t, c.Connected, soon, tick)
	require.Empty(t, connected, "a canceled listener must not be called")
}

func TestPublishingWhileAwayFailsAtOnce(t *testing.T) {
	s := natstest.New(t)
	c := s.Ready()
	s.Stop()
	require.Eventually(t, func() bool { return !c.Connected() }, soon, tick)
	require.ErrorIs(t, c.NATS().Publish("x", nil), nats.ErrReconnectBufExceeded)
}

func TestInProcessConnection(t *testing.T) {
	srv, err := natsserver.Start(natsserver.Options{StoreDir: t.TempDir()})
	require.NoError(t, err)
	defer srv.Shutdown()
	require.Empty(t, srv.URL(), "nothing must listen")
	c, err := natsconn.Connect(t.Context(), natsconn.Config{}, natsconn.Options{InProcess: srv, Log: natstest.Discard()})
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, c.Connected, soon, tick)
	require.NoError(t, natsconn.Ensure(t.Context(), c.JetStream(), natsconn.Topology{}))
}

func TestEnsureIsIdempotentAndUpdates(t *testing.T) {
	c := natstest.New(t).Ready()
	ctx := t.Context()
	kv, err := c.JetStream().KeyValue(ctx, wire.BucketKeys)
	require.NoError(t, err)
	_, err = kv.Put(ctx, "k", []byte("v"))
	require.NoError(t, err)
	require.NoError(t, natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{}))
	require.NoError(t, natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{UsageBytes: 1 << 20}))
	_, err = kv.Get(ctx, "k")
	require.NoError(t, err, "data must stay")
	usage, err := c.JetStream().Stream(ctx, wire.StreamUsage)
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, usage.CachedInfo().Config.MaxBytes)
}

// The stream of cells was once in memory, where nothing can be moved from.
func TestCellsOfAnEarlierVersionAreMadeAnew(t *testing.T) {
	c := natstest.New(t).Ready()
	ctx := t.Context()
	require.NoError(t, c.JetStream().DeleteStream(ctx, wire.StreamCells))
	_, err := c.JetStream().CreateStream(ctx, jetstream.StreamConfig{
		Name: wire.StreamCells, Subjects: []string{wire.SubjectCells + ".>"}, Storage: jetstream.MemoryStorage, MaxMsgsPerSubject: 1, MaxAge: time.Hour,
	})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{}))
		stream, err := c.JetStream().Stream(ctx, wire.StreamCells)
		require.NoError(t, err)
		config := stream.CachedInfo().Config
		require.Equal(t, jetstream.FileStorage, config.Storage)
		require.True(t, config.AllowMsgTTL)
		require.Zero(t, config.MaxAge, "what is reserved outlives an hour")
		_, err = c.JetStream().Publish(ctx, wire.SubjectCellsEpoch, []byte("kept"))
		require.NoError(t, err)
		_, err = stream.GetLastMsgForSubject(ctx, wire.SubjectCellsEpoch)
		require.NoError(t, err)
	}
}

// A single server forgets memory streams when it restarts.
func TestKeepBringsBackWhatARestartLost(t *testing.T) {
	s := natstest.New(t)
	c := s.Connect()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- natsconn.Keep(ctx, c, natsconn.Topology{}, natstest.Discard()) }()
	there := func() bool {
		for _, name := range []string{wire.StreamRate, wire.StreamSpend, wire.StreamCells, wire.StreamUsage} {
			if _, err := c.JetStream().Stream(ctx, name); err != nil {
				return false
			}
		}
		return true
	}
	require.Eventually(t, there, soon, tick)
	s.Restart()
	require.Eventually(t, func() bool { return c.Connected() && there() }, soon, tick)
	cancel()
	require.NoError(t, <-done)
}

func TestConfigValidate(t *testing.T) {
	for name, c := range map[string]struct {
		config natsconn.Config
		want   string
	}{
		"empty":              {natsconn.Config{}, ""},
		"user":               {natsconn.Config{URL: "nats://a:4222", User: "u", Password: secret.NewString("p")}, ""},
		"two credentials":    {natsconn.Config{User: "u", CredsFile: "f"}, "exclude"},
		"password alone":     {natsconn.Config{Password: secret.NewString("p")}, "needs user"},
		"certificate alone":  {natsconn.Config{CertFile: "f"}, "belong together"},
		"inbox of all":       {natsconn.Config{InboxPrefix: "_INBOX.>"}, "without wildcards"},
		"credentials in url": {natsconn.Config{URL: "nats://u:p@a:4222"}, "must not hold"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.config.Validate()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
