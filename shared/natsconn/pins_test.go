package natsconn_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/natsconn"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Pins that do not fit take the place of the oldest; none is refused.
func TestPinsAreBoundedAndTheOldestMakeRoom(t *testing.T) {
	c := natstest.New(t).Ready()
	ctx := t.Context()
	const room = 1 << 20
	require.NoError(t, natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{PinsBytes: room}))
	writer, reader := document.NewWriter(c), document.NewReader(c)
	value := []byte(strings.Repeat("x", 8<<10))
	const written = 400
	for i := range written {
		_, err := writer.Keep(ctx, wire.BucketPins, fmt.Sprint("k", i), func([]byte) ([]byte, time.Duration) { return value, time.Hour })
		require.NoError(t, err)
	}
	stream, err := c.JetStream().Stream(ctx, "KV_"+wire.BucketPins)
	require.NoError(t, err)
	state := stream.CachedInfo().State
	require.LessOrEqual(t, state.Bytes, uint64(room))
	require.Greater(t, state.Msgs, uint64(100), "the room is used")
	_, err = reader.Any(ctx, wire.BucketPins, "k0")
	require.ErrorIs(t, err, document.ErrAbsent)
	e, err := reader.Any(ctx, wire.BucketPins, fmt.Sprint("k", written-1))
	require.NoError(t, err)
	require.Equal(t, value, e.Data)
}

// A bucket that was made without a bound, and refuses what is new, keeps its
// pins when it gets one.
func TestTheBoundOfPinsComesToABucketThatIsThere(t *testing.T) {
	c := natstest.New(t).Ready()
	ctx := t.Context()
	require.NoError(t, c.JetStream().DeleteStream(ctx, "KV_"+wire.BucketPins))
	kv, err := c.JetStream().CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: wire.BucketPins, Storage: jetstream.MemoryStorage, LimitMarkerTTL: time.Minute, Description: "conversation affinity",
		RePublish: &jetstream.RePublish{Source: "$KV." + wire.BucketPins + ".>", Destination: wire.SubjectPushPins + ".>"},
	})
	require.NoError(t, err)
	_, err = kv.Put(ctx, "k", []byte("v"))
	require.NoError(t, err)
	require.NoError(t, natsconn.Ensure(ctx, c.JetStream(), natsconn.Topology{}))
	stream, err := c.JetStream().Stream(ctx, "KV_"+wire.BucketPins)
	require.NoError(t, err)
	require.Equal(t, jetstream.DiscardOld, stream.CachedInfo().Config.Discard)
	require.EqualValues(t, natsconn.PinsBytes, stream.CachedInfo().Config.MaxBytes)
	kv, err = c.JetStream().KeyValue(ctx, wire.BucketPins)
	require.NoError(t, err, "a bucket it is all the same")
	e, err := kv.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, []byte("v"), e.Value())
}

// Servers with little memory keep fewer pins, and everything else as ever.
func TestPinsTakeWhatMemoryThereIs(t *testing.T) {
	srv, err := server.NewServer(&server.Options{JetStream: true, StoreDir: t.TempDir(), JetStreamMaxMemory: 80 << 20, DontListen: true})
	require.NoError(t, err)
	srv.Start()
	defer func() { srv.Shutdown(); srv.WaitForShutdown() }()
	conn, err := nats.Connect("", nats.InProcessServer(srv))
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	small := natsconn.Topology{UsageBytes: 1 << 20}
	for range 2 { // the second time it is there
		require.NoError(t, natsconn.Ensure(t.Context(), js, small))
		stream, err := js.Stream(t.Context(), "KV_"+wire.BucketPins)
		require.NoError(t, err)
		require.EqualValues(t, 64<<20, stream.CachedInfo().Config.MaxBytes)
	}
	small.PinsBytes = 1 << 40
	require.NoError(t, natsconn.Ensure(t.Context(), js, small))
}
