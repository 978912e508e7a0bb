package cli_test

import (
	"bytes"
	"context"
	"errors"
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
