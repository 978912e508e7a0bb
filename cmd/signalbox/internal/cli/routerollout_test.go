package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestRollouts(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "graph.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	graph := func(model string) string {
		return "schema_version: 1\nentry: s\nnodes:\n  - {id: s, type: start, next: m}\n  - {id: m, type: model, model: " + model + ", next: e}\n  - {id: e, type: end}\n"
	}
	write(graph("openai/gpt-5"))
	term.run("routes", "create", "--name", "plans", "-f", file).is(cli.ExitOK)
	write(graph("openai/gpt-5-mini"))
	term.run("routes", "update", "plans", "-f", file).is(cli.ExitOK)
	start := []string{"routes", "rollout", "start", "plans", "--steps", "12.5%:10m, 100:1h", "--max-error-rate", "0.05", "--min-requests", "20"}
	term.run(start...).is(cli.ExitConflict)
	term.run("routes", "deploy", "plans", "1").is(cli.ExitOK)
	term.run("routes", "rollout", "status", "plans").is(cli.ExitNotFound)

	term.run("routes", "rollout", "start", "plans").is(cli.ExitUsage)
	term.run("routes", "rollout", "start", "plans", "--steps", "ten:1m", "--max-error-rate", "0.1").is(cli.ExitUsage)
	term.run("routes", "rollout", "start", "plans", "--steps", "NaN:1m", "--max-error-rate", "0.1").is(cli.ExitUsage)
	term.run("routes", "rollout", "start", "plans", "--steps", "10%", "--max-error-rate", "0.1").is(cli.ExitUsage)
	term.run("routes", "rollout", "start", "plans", "--steps", "10%:1m", "--max-error-rate", "NaN").is(cli.ExitUsage)
	require.Contains(t, term.run("routes", "rollout", "start", "plans", "--steps", "10%:1m").is(cli.ExitUsage).err, "--max-cost-ratio")
	write("steps: [{percent: 10, hold: 1m}]\nguard: {min_requests: 1}\n")
	require.Contains(t, term.run("routes", "rollout", "start", "plans", "-f", file).is(cli.ExitUsage).err, "max_p95_latency_ratio or max_cost_ratio")
	term.run(append(start, "--wait", "20s")...).is(cli.ExitOK).shows("rollout_", "2 beside 1", "running", "[12.5%:10m], 100%:1h", "hold", "0.05", "0 requests", "p95 –, – each")
	term.run(start...).is(cli.ExitConflict)
	term.run("routes", "get", "plans").is(cli.ExitOK).shows("version 2 at 12.5%, running")
	term.run("routes", "get", "plans", "-o", "json").is(cli.ExitOK).shows(`"percent": 12.5`, `"state": "running"`)
	term.run("routes", "versions", "plans").is(cli.ExitOK).shows("candidate 12.5%", "deployed")
	term.run("routes", "rollout", "pause", "plans").is(cli.ExitOK).shows("paused", "resume")
	term.run("routes", "list").is(cli.ExitOK).shows("version 2 at 12.5%, paused")
	term.run("routes", "rollout", "advance", "plans").is(cli.ExitConflict)
	term.run("routes", "rollout", "resume", "plans").is(cli.ExitOK).shows("running")
	term.run("routes", "rollout", "advance", "plans").is(cli.ExitOK).shows("[100%:1h]")
	term.run("routes", "rollout", "abort", "plans").is(cli.ExitOK).shows("aborted", "ENDED")
	term.run("routes", "get", "plans").is(cli.ExitOK).hides("ROLLOUT")
	term.run("routes", "versions", "plans").is(cli.ExitOK).hides("candidate")
	term.run("routes", "list", "-o", "json").is(cli.ExitOK).shows(`"rollout": null`)
	followed := term.run("routes", "rollout", "status", "plans", "--follow").is(cli.ExitFailure).shows("aborted", "Z  ")
	require.Contains(t, followed.err, "signalbox routes rollout status plans")

	write("steps: [{percent: 0.01, hold: 1s}]\nguard: {max_cost_ratio: 2, min_requests: 1}\n")
	term.run("routes", "rollout", "start", "plans", "2", "-f", file, "--max-error-rate", "0.1").is(cli.ExitUsage)
	typo := filepath.Join(term.dir, "typo.yaml")
	require.NoError(t, os.WriteFile(typo, []byte("steps: [{percent: 0.01, hold: 1s}]\nguard: {max_cost_ratio: 2, max_eror_rate: 0.1, min_requests: 1}\n"), 0o600))
	require.Contains(t, term.run("routes", "rollout", "start", "plans", "2", "-f", typo).is(cli.ExitUsage).err, "max_eror_rate")
	term.run("routes", "rollout", "start", "plans", "2", "-f", file).is(cli.ExitOK).shows("[0.01%:1s]", "MAX COST RATIO")
	term.run("routes", "rollout", "advance", "plans").is(cli.ExitOK).shows("completed")
	term.run("routes", "rollout", "status", "plans", "--follow").is(cli.ExitOK).shows("completed", "0 of 0 failed")
	term.run("routes", "rollout", "list", "plans").is(cli.ExitOK).shows("completed", "aborted", "2 of 2", "1 of 1")
	term.run("routes", "get", "plans", "-o", "json").is(cli.ExitOK).shows(`"deployed_version": 2`)
}
