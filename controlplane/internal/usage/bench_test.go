package usage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// BenchmarkConsumer measures events per second from a full stream into
// Postgres: 20 workspaces, 8 models, 4 gateways, a decision record of 1.5 KB
// each, two consumers. NATS, Postgres and the consumers share the machine.
func BenchmarkConsumer(b *testing.B) {
	bench := newBench(b)
	js, err := jetstream.New(bench.conn.NATS(), jetstream.WithPublishAsyncMaxPending(4096))
	require.NoError(b, err)
	defer js.CleanupPublisher()
	decision := json.RawMessage(`{"requested_model":"acme/large","candidates":["` + strings.Repeat("x", 1500) + `"]}`)
	workspaces := make([]id.Workspace, 20)
	for i := range workspaces {
		workspaces[i] = id.New[id.WorkspaceKind](ids)
	}
	gateways := make([]id.Gateway, 4)
	for i := range gateways {
		gateways[i] = id.New[id.GatewayKind](ids)
	}
	for i := range b.N {
		ev := bench.event()
		ev.Workspace, ev.Gateway, ev.Sequence = workspaces[i%20], gateways[i%4], uint64(i/4+1)
		ev.DecidedModel, ev.Decision = fmt.Sprintf("acme/model-%d", i%8), decision
		body, err := json.Marshal(ev)
		require.NoError(b, err)
		_, err = js.PublishAsync(wire.SubjectUsage+"."+ev.Gateway.String(), body, jetstream.WithMsgID(ev.ID.String()))
		require.NoError(b, err)
	}
	<-js.PublishAsyncComplete()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	c := usage.NewConsumer(bench.server.Connect(), there{}, bench.writer, 2, natstest.Discard())
	b.ResetTimer()
	start := time.Now()
	go func() { done <- c.Run(ctx) }()
	bench.drained()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "events/s")
	b.StopTimer()
	cancel()
	require.NoError(b, <-done)
}
