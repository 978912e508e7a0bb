package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const measured = `
providers: [{slug: north, type: openai-compatible, base_url: "http://127.0.0.1:1/v1", keyless: true}]
models:
  - id: acme/small
    endpoints: [{provider: north, upstream_model: x}, {provider: north, region: eu, upstream_model: x}]
`

func TestHealthOfEndpoints(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "measured.yaml")
	require.NoError(t, os.WriteFile(file, []byte(measured), 0o600))
	term.run("platform", "catalog", "apply", "-f", file).is(cli.ExitOK)
	until := time.Date(2999, 1, 2, 3, 4, 5, 0, time.UTC)
	report, err := json.Marshal(wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: until, Endpoints: []wire.ReportedHealth{
		{ID: "north:acme/small", Requests: 250, Uptime: 0.975, Errors: 0.025, FirstByte: 412 * time.Millisecond, State: "open", Until: until, Throughput: 1409000.4},
	}})
	require.NoError(t, err)
	conn := term.nats.Ready().NATS()
	sub, err := conn.QueueSubscribe(wire.SubjectHealthReport, wire.QueueHealth, func(m *nats.Msg) { _ = conn.Publish(m.Reply, report) })
	require.NoError(t, err)
	require.NoError(t, conn.Flush())
	t.Cleanup(func() { _ = sub.Unsubscribe() })

	require.Regexp(t, `north:acme/small +open +2999-01-02 03:04:05Z +100\+ +97.5 % +97.5 % +412 ms +1409000\n`, term.run("health").is(cli.ExitOK).out)
	require.Regexp(t, `north:acme/small@eu +– +– +under 100`, term.run("health", "--model", "acme/small").is(cli.ExitOK).out)
	for asked, args := range map[string][]string{
		"at the provider nobody":  {"--provider", "nobody"},
		"of the model acme/nope":  {"--model", "acme/nope", "-o", "json"},
		"acme/small at the provi": {"--model", "acme/small", "--provider", "nobody"},
	} {
		got := term.run(append([]string{"health"}, args...)...).is(cli.ExitNotFound)
		require.Contains(t, got.err, asked)
		require.Empty(t, got.out)
	}
	require.Len(t, term.run("health", "-o", "json").is(cli.ExitOK).json()["data"], 1)
}
