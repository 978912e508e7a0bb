package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/controlplane/app"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/logging"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/testkit/pgtest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

const operatorToken = "operator-token-of-the-tests-0123456789"

// terminal is a person at a shell, with a control plane to talk to.
type terminal struct {
	t    *testing.T
	env  map[string]string
	dir  string
	in   string // what the next commands read
	nats *natstest.Server
	http *http.Client // nil: the default one
	// waited is how long the commands would have waited; no test does.
	waited time.Duration

	keyring string         // its file
	reload  chan os.Signal // has the control plane look at it
}

// result is what a command left on the screen.
type result struct {
	t        *testing.T
	code     int
	out, err string
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	term := &terminal{t: t, dir: t.TempDir(), nats: natstest.New(t), env: map[string]string{"SIGNALBOX_OPERATOR_TOKEN": operatorToken}}
	cfg := app.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Database.URL = secret.NewString(pgtest.New(t).URL)
	cfg.NATS.URL = term.nats.URL()
	cfg.OperatorToken = secret.NewString(operatorToken)
	cfg.KeyringFile = filepath.Join(term.dir, "keyring.json")
	term.keyring, term.reload = cfg.KeyringFile, make(chan os.Signal, 1)
	_, err := seal.CreateFile(cfg.KeyringFile)
	require.NoError(t, err)
	a, err := app.New(t.Context(), cfg, app.Deps{Log: logging.Discard(), Now: time.Now, Version: "test", Reload: term.reload})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		http.DefaultClient.CloseIdleConnections()
	})
	term.env["SIGNALBOX_CONTROL_URL"] = "http://" + a.Addr()
	require.Eventually(t, func() bool {
		response, err := http.Get("http://" + a.Addr() + "/readyz")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond)
	return term
}

// signIn creates a workspace with the command line and uses its key from then on.
func (term *terminal) signIn() (workspace string) {
	term.t.Helper()
	made := term.run("workspaces", "create", "--name", "Acme", "--owner-email", "ada@example.com", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	term.env["SIGNALBOX_MANAGEMENT_KEY"] = made["management_key"].(map[string]any)["key"].(string)
	return made["workspace"].(map[string]any)["id"].(string)
}

func (term *terminal) deps(out, errs io.Writer) cli.Deps {
	return cli.Deps{
		Stdin: strings.NewReader(term.in), Stdout: out, Stderr: errs, Getenv: func(name string) string { return term.env[name] }, Dir: term.dir,
		HTTP: cmp.Or(term.http, http.DefaultClient), Version: "test",
		Wait: func(ctx context.Context, d time.Duration) error {
			term.waited += d
			return ctx.Err()
		},
	}
}

func (term *terminal) run(args ...string) result {
	term.t.Helper()
	var out, errs bytes.Buffer
	code := cli.Execute(term.t.Context(), term.deps(&out, &errs), args)
	return result{t: term.t, code: code, out: out.String(), err: errs.String()}
}

func (r result) is(code int) result {
	r.t.Helper()
	require.Equal(r.t, code, r.code, "%s%s", r.out, r.err)
	return r
}

func (r result) json() map[string]any {
	r.t.Helper()
	var v map[string]any
	require.NoError(r.t, json.Unmarshal([]byte(r.out), &v), r.out)
	return v
}

func (r result) shows(parts ...string) result {
	r.t.Helper()
	for _, part := range parts {
		require.Contains(r.t, r.out, part)
	}
	return r
}

func (r result) hides(parts ...string) result {
	r.t.Helper()
	for _, part := range parts {
		require.NotContains(r.t, r.out, part)
	}
	return r
}

var ids = id.SystemSource()

// served puts a request on the usage stream, as a gateway does.
func (term *terminal) served(ws string, sequence uint64) string {
	term.t.Helper()
	request, gateway := id.New[id.RequestKind](ids), id.New[id.GatewayKind](ids)
	started := request.Time() // the moment that the log keeps
	decision, err := json.Marshal(decide.Record{
		RequestedModel: "acme/small", DecidedModel: "acme/small", PolicyRevision: 3, CatalogRevision: 2,
		SwitchReason: decide.SwitchFallbackProvider, Chain: []string{"acme/small"}, Degraded: []string{"response_format", "seed"},
		Policy: []decide.ResolvedField{{Field: "routing_mode", Rung: "workspace", Value: "price"}},
		Candidates: []decide.RankedCandidate{
			{Model: "acme/small", Endpoint: "south:acme/small", Provider: "south", Score: 12, Factors: []decide.Factor{{Name: "spend", Input: 2e7, Unit: "nano_usd", Contribution: 12}}},
			{Model: "acme/small", Endpoint: "north:acme/small", Provider: "north", Rank: 1, Score: 4_000_000},
		},
		Exclusions: []decide.Exclusion{{Model: "acme/small", Endpoint: "east:acme/small", Stage: "data_policy", Reason: "zdr_required", Rung: "workspace_profile"}},
		Attempts: []decide.AttemptRecord{
			{Model: "acme/small", Provider: "south", Endpoint: "south:acme/small", Started: started, Duration: time.Second, Status: 503, Failure: "server_error", Reason: "first_choice"},
			{Model: "acme/small", Provider: "north", Endpoint: "north:acme/small", Started: started.Add(time.Second), FirstByte: time.Millisecond, Duration: 20 * time.Millisecond, Status: 200, Reason: "fallback_provider"},
		},
	})
	require.NoError(term.t, err)
	body, err := json.Marshal(wire.UsageEvent{
		Schema: wire.UsageSchema, ID: request, PrimaryID: request, Workspace: id.MustParse[id.WorkspaceKind](ws), Gateway: gateway, Sequence: sequence,
		Surface: "chat", StartedAt: started, Duration: 1020 * time.Millisecond, Outcome: wire.Success, Status: 200,
		RequestedModel: "acme/small", DecidedModel: "acme/small", Provider: "north", Endpoint: "north:acme/small", Attempts: 2,
		Usage: meter.Usage{Input: 1000, Output: 500},
		Cost: meter.Cost{Total: 1_234_567_890_123, Lines: []meter.Line{
			{Meter: "input", Units: 1000, Price: 3, Cost: 1_234_567_890_123},
		}},
		PolicyRevision: 3, CatalogRevision: 2, Decision: decision,
	})
	require.NoError(term.t, err)
	_, err = term.nats.Ready().JetStream().Publish(term.t.Context(), wire.SubjectUsage+"."+gateway.String(), body)
	require.NoError(term.t, err)
	return request.String()
}
