package usage_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// BenchmarkConsumer measures events per second from a full stream into
// Postgres, each in a message of its own and in batches: 20 workspaces, 8
// models, 4 gateways, a decision record of 1.5 KB each, two consumers. NATS,
// Postgres and the consumers share the machine.
func BenchmarkConsumer(b *testing.B) {
	for _, together := range []int{1, 64} {
		b.Run(fmt.Sprintf("together=%d", together), func(b *testing.B) { consumeAll(b, together) })
	}
}

func consumeAll(b *testing.B, together int) {
	bench := newBench(b)
	bench.fill(b.N, together)
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

// fill publishes n events, so many of one gateway in a message.
func (b *bench) fill(n, together int) {
	js, err := jetstream.New(b.conn.NATS(), jetstream.WithPublishAsyncMaxPending(256))
	require.NoError(b.t, err)
	defer js.CleanupPublisher()
	decision := json.RawMessage(`{"requested_model":"acme/large","candidates":["` + strings.Repeat("x", 1500) + `"]}`)
	workspaces := make([]id.Workspace, 20)
	for i := range workspaces {
		workspaces[i] = id.New[id.WorkspaceKind](ids)
	}
	for sent := 0; sent < n; {
		gw := id.New[id.GatewayKind](ids)
		for seq := uint64(1); sent < n && seq <= uint64(max(1, n/4)); {
			msg := nats.NewMsg(wire.SubjectUsage + "." + gw.String())
			msg.Header.Set(wire.HeaderUsageSequence, strconv.FormatUint(seq, 10))
			count := min(together, n-sent)
			for range count {
				ev := b.event()
				ev.Workspace, ev.Gateway, ev.Sequence = workspaces[sent%20], gw, seq
				ev.DecidedModel, ev.Decision = fmt.Sprintf("acme/model-%d", sent%8), decision
				body, err := json.Marshal(ev)
				require.NoError(b.t, err)
				if together == 1 {
					msg.Data = body
				} else {
					msg.Data = wire.AppendUsageRecord(msg.Data, body)
				}
				sent, seq = sent+1, seq+1
			}
			if together > 1 {
				var encoding string
				msg.Data, encoding = wire.CompressUsage(nil, msg.Data)
				msg.Header.Set(wire.HeaderUsageBatch, strconv.Itoa(count))
				if encoding != "" {
					msg.Header.Set(wire.HeaderUsageEncoding, encoding)
				}
			}
			_, err := js.PublishMsgAsync(msg)
			require.NoError(b.t, err)
		}
	}
	<-js.PublishAsyncComplete()
}
