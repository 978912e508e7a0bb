package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestCredits(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	term.run("credits", "show").is(cli.ExitOK).shows("BALANCE USD", "0.00", "off", "250000")
	term.run("credits", "entries").is(cli.ExitOK).shows("NUMBER")
	term.run("credits", "top-up", "100", "--workspace", ws, "--reference", "inv-1", "--wait", "10s").is(cli.ExitOK).shows("top_up", "100.00", "inv-1")
	term.run("credits", "top-up", "100", "--workspace", ws, "--reference", "inv-1").is(cli.ExitOK).shows("NUMBER", "1")
	term.run("credits", "top-up", "99", "--workspace", ws, "--reference", "inv-1").is(cli.ExitConflict)
	term.run("credits", "adjust", "--amount", "-12.5", "--workspace", ws, "--reason", "charged twice").is(cli.ExitOK).shows("adjustment", "87.50", "charged twice")
	term.run("credits", "show", "-o", "json").is(cli.ExitOK).shows(`"balance_nanos": 87500000000`)
	term.run("credits", "entries").is(cli.ExitOK).shows("-12.50", "87.50", "inv-1")
	term.run("credits", "entries", "--workspace", ws, "--limit", "1", "-o", "json").is(cli.ExitOK).shows("charged twice").hides("inv-1")
	require.Contains(t, term.run("credits", "top-up", "0", "--workspace", ws).is(cli.ExitUsage).err, "amount_usd")
	term.run("credits", "top-up", "5").is(cli.ExitUsage)
	term.run("credits", "adjust", "--amount", "1", "--workspace", ws).is(cli.ExitUsage)
}

// lossy is a connection that breaks after the control plane did what it was asked.
type lossy struct{ keys []string }

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || r.Method == http.MethodGet {
		return response, err
	}
	l.keys = append(l.keys, r.Header.Get("Idempotency-Key"))
	return nil, errors.Join(errors.New("connection reset"), response.Body.Close())
}

// A change whose answer is lost is told with its key, with which it can be
// repeated without being made twice.
func TestALostAnswerDoublesNothing(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	topUp := []string{"credits", "top-up", "5", "--workspace", ws}
	broken := &lossy{}
	term.http = &http.Client{Transport: broken}
	told := term.run(topUp...).is(cli.ExitUnavailable).err
	term.run("credits", "adjust", "--amount", "1", "--workspace", ws, "--reason", "x").is(cli.ExitUnavailable)
	require.Len(t, broken.keys, 2)
	require.NotEqual(t, broken.keys[0], broken.keys[1], "each command is another")
	require.Contains(t, told, "--idempotency-key "+broken.keys[0]+"\n")

	term.http = nil
	term.run(append(topUp, "--idempotency-key", broken.keys[0])...).is(cli.ExitOK).shows("5.00")
	term.run("credits", "show").is(cli.ExitOK).shows("6.00")
	term.run(topUp...).is(cli.ExitOK).shows("11.00")

	term.env["SIGNALBOX_CONTROL_URL"] = "http://127.0.0.1:1"
	require.NotContains(t, term.run(topUp...).is(cli.ExitUnavailable).err, "--idempotency-key", "nobody was there to do it")
}

// What stands before the control plane does not know what became of a call, nor
// does the control plane while the call is under way.
func TestAnAnswerThatLeavesOpenWhatBecameOfTheCall(t *testing.T) {
	status, after, length := http.StatusGatewayTimeout, "", ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		if length != "" {
			w.Header().Set("Content-Length", length)
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
	}))
	defer proxy.Close()
	run := func(args ...string) result {
		var out, errs bytes.Buffer
		code := cli.Execute(t.Context(), cli.Deps{Stdout: &out, Stderr: &errs, Dir: t.TempDir(), HTTP: proxy.Client(), Getenv: func(name string) string {
			return map[string]string{"SIGNALBOX_CONTROL_URL": proxy.URL, "SIGNALBOX_OPERATOR_TOKEN": "x", "SIGNALBOX_MANAGEMENT_KEY": "x"}[name]
		}}, args)
		return result{t: t, code: code, out: out.String(), err: errs.String()}
	}
	topUp := []string{"credits", "top-up", "5", "--workspace", "ws_x", "--idempotency-key", "mine"}
	require.Contains(t, run(topUp...).is(cli.ExitUnavailable).err, "--idempotency-key mine\n")
	require.NotContains(t, run("credits", "show").is(cli.ExitUnavailable).err, "--idempotency-key")
	status = http.StatusConflict
	require.NotContains(t, run(topUp...).is(cli.ExitConflict).err, "--idempotency-key", "it is refused")
	after = "1"
	require.Contains(t, run(topUp...).is(cli.ExitConflict).err, "--idempotency-key mine\n")
	bind := []string{"guardrails", "bind", "guard_01kb7n0z1v8q5r2m3t4w5x6y7z", "--member", "user_01kb7n0z1v8q5r2m3t4w5x6y7z", "--idempotency-key", "mine"}
	require.Contains(t, run(bind...).is(cli.ExitConflict).err, "--idempotency-key mine\n")
	status = http.StatusServiceUnavailable
	require.NotContains(t, run(topUp...).is(cli.ExitUnavailable).err, "--idempotency-key", "of the control plane: it did nothing")
	status, length = http.StatusCreated, "100"
	require.Contains(t, run(topUp...).is(cli.ExitUnavailable).err, "--idempotency-key mine\n", "the answer broke off")

	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.URL = secure.URL
	require.NotContains(t, run(topUp...).is(cli.ExitUnavailable).err, "--idempotency-key", "nothing was sent to whom nobody trusts")
}

func TestHowAWorkspacePays(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	term.run("workspaces", "billing", ws).is(cli.ExitOK).shows("BILLING", "off", "FIRST PAID")
	term.run("workspaces", "billing", ws, "--billing", "prepaid", "--floor", "5", "--byok-fee-rate", "25000").is(cli.ExitOK).shows("prepaid", "5.00", "25000")
	term.run("workspaces", "billing", ws, "--floor", "default").is(cli.ExitOK).shows("prepaid", "1.00")
	term.run("workspaces", "billing", ws, "--byok-fee-rate", "much").is(cli.ExitUsage)
	require.Contains(t, term.run("workspaces", "billing", ws, "--billing", "credit").is(cli.ExitUsage).err, "prepaid")

	member := term.run("workspaces", "members", ws, "-o", "json").is(cli.ExitOK).json()["data"].([]any)[0].(map[string]any)["user_id"].(string)
	term.run("workspaces", "allowance", ws).is(cli.ExitOK).shows("new", "nothing_yet", "no limit", "WORKSPACE SINCE")
	term.run("workspaces", "allowance", ws, "--per-minute", "300", "--user", member+"=40").is(cli.ExitOK).shows("300", "USER "+member, "40")
	term.run("workspaces", "allowance", ws, "--per-minute", "default", "--user", member+"=default").is(cli.ExitOK).hides("300", member)
	term.run("workspaces", "allowance", ws, "--user", member).is(cli.ExitUsage)
	term.run("workspaces", "allowance", ws, "--free-per-day", "0").is(cli.ExitUsage)
}

func TestReconcileTellsEveryDifference(t *testing.T) {
	var asked cli.Books
	var fails error
	var differences []cli.Difference
	dir := t.TempDir()
	run := func(args ...string) result {
		var out, errs bytes.Buffer
		d := cli.Deps{Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Dir: dir}
		d.Run.Reconcile = func(_ context.Context, _ string, b cli.Books, show func(cli.Difference) error) error {
			asked = b
			for _, d := range differences {
				if err := show(d); err != nil {
					return err
				}
			}
			return fails
		}
		code := cli.Execute(t.Context(), d, append([]string{"reconcile"}, args...))
		return result{t: t, code: code, out: out.String(), err: errs.String()}
	}
	run("--since", "2026-05-01", "--until", "2026-05-31", "--workspace", "ws_x").is(cli.ExitOK).shows("the books agree")
	require.Equal(t, cli.Books{Workspace: "ws_x", First: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Last: time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)}, asked)
	run().is(cli.ExitOK)
	require.True(t, asked.Database.IsZero())
	require.Equal(t, 7*24*time.Hour, asked.Last.Sub(asked.First))
	for _, wrong := range [][]string{{"--since", "May"}, {"--until", "2026-02-30"}, {"--since", "2026-05-02", "--until", "2026-05-01"}, {"-o", "yaml"}} {
		run(wrong...).is(cli.ExitUsage)
	}

	differences = []cli.Difference{
		{Workspace: "ws_x", Check: "hours_wallet", Place: "wallet", Figure: "charged_nanos", Have: 1_500_000_000, Want: -1},
		{Workspace: "ws_x", Check: "log_hours", Place: "2026-05-20T12Z", Figure: "requests", Have: 1},
	}
	told := run().is(cli.ExitFailure).shows("1500000000 (USD 1.50), and -1 (USD -0.000000001)", "requests: 1, and 0")
	require.Contains(t, told.err, "the books differ in 2 figures")
	run("-o", "json").is(cli.ExitFailure).shows(`{"workspace_id":"ws_x","check":"hours_wallet","place":"wallet","figure":"charged_nanos","have":1500000000,"want":-1}` + "\n")

	require.NoError(t, os.Mkdir(filepath.Join(dir, ".signalbox"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".signalbox", "dev.json"), []byte(`{"database_url": "postgres:///of-dev"}`), 0o600))
	run().is(cli.ExitFailure)
	require.Equal(t, "postgres:///of-dev", asked.Database.Reveal())

	differences, fails = nil, cli.Away(errors.New("the database cannot be reached"))
	run().is(cli.ExitUnavailable)
	fails = errors.New("it broke")
	run().is(cli.ExitFailure).hides("agree")
}
