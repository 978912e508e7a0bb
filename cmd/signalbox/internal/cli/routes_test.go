package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestDynamicRoutes(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "plans.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	const graph = `
schema_version: 1
entry: start
nodes:
  - {id: start, type: start, next: plan}
  - id: plan
    type: condition
    when: {source: metadata, path: plan, op: equals, value: pro}
    true: big
    false: no
  - {id: big, type: model, model: MODEL, routing_mode: latency, next: end}
  - {id: no, type: reject, status: 402, code: no_plan, message: Buy a plan.}
  - {id: end, type: end}
`
	write(strings.Replace(graph, "MODEL", "openai/gpt-5", 1))
	term.run("routes", "create", "--name", "Who pays", "-f", file, "--note", "first").is(cli.ExitOK).shows("route_", "Who pays", "who-pays", "active")
	term.run("routes", "create", "--name", "Later", "--paused").is(cli.ExitOK).shows("paused")
	write(strings.Replace(graph, "MODEL", "openai/gpt-none", 1))
	term.run("routes", "update", "who-pays", "-f", file).is(cli.ExitUsage)
	write(strings.Replace(graph, "MODEL", "openai/gpt-5-mini", 1))
	term.run("routes", "update", "who-pays", "-f", file, "--note", "cheaper").is(cli.ExitOK)
	term.run("routes", "update", "who-pays").is(cli.ExitUsage)
	term.run("routes", "versions", "Who pays").is(cli.ExitOK).shows("cheaper", "first", "draft")
	term.run("routes", "versions", "Who pays", "1", "-o", "yaml").is(cli.ExitOK).shows("openai/gpt-5", "schema_version")
	term.run("routes", "diff", "who-pays", "1", "2").is(cli.ExitOK).shows("big", "model", "openai/gpt-5-mini")
	term.run("routes", "diff", "who-pays", "1", "x").is(cli.ExitUsage)
	write("body: {metadata: {plan: Pro}}")
	term.run("routes", "test", "who-pays", "2", "-f", file).is(cli.ExitOK).shows("start → plan → big → end", "openai/gpt-5-mini", "latency")
	write("{}")
	term.run("routes", "test", "who-pays", "2", "-f", file).is(cli.ExitOK).shows("402 no_plan: Buy a plan.")

	term.run("routes", "rollback", "who-pays").is(cli.ExitConflict)
	term.run("routes", "deploy", "who-pays", "1").is(cli.ExitOK)
	term.run("routes", "deploy", "who-pays").is(cli.ExitOK)
	term.run("routes", "list").is(cli.ExitOK).shows("Who pays", "Later", "DEPLOYED")
	back := term.run("routes", "rollback", "who-pays", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Equal(t, []any{1.0}, []any{back["deployed_version"]})

	key := term.run("keys", "create", "--name", "ci", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["id"].(string)
	term.run("routes", "set-keys", "later", "ci").is(cli.ExitOK).shows(key)
	term.run("routes", "set-keys", "who-pays", "ci").is(cli.ExitOK).shows(key, "MOVED")
	term.run("profiles", "effective", "--key", "ci").is(cli.ExitOK).shows("DYNAMIC ROUTE", "Who pays", "version 1")
	term.run("routes", "set-keys", "later", "ci").is(cli.ExitOK)
	term.run("profiles", "effective", "--key", "ci").is(cli.ExitOK).shows("Later", "not deployed")
	term.run("routes", "set-keys", "who-pays", "ci").is(cli.ExitOK)
	term.run("routes", "get", "later").is(cli.ExitOK).hides(key)
	term.run("routes", "replay", "who-pays", "2", "--since", "1h").is(cli.ExitOK).shows("COMPARED WITH", "COMPARABLE", "plan", "condition", "UNKNOWN")
	report := term.run("routes", "replay", "who-pays", "latest", "--limit", "5", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Equal(t, []any{2.0, 1.0, 0.0}, []any{report["version"], report["baseline_version"], report["requests"]})
	term.run("routes", "replay", "who-pays", "2", "--limit", "0").is(cli.ExitUsage)
	term.run("routes", "replay", "who-pays", "2", "--since", "yesterday").is(cli.ExitUsage)
	term.run("routes", "set-keys", "who-pays").is(cli.ExitUsage)
	term.run("routes", "set-keys", "who-pays", "--none").is(cli.ExitOK).hides(key)
	term.run("routes", "get", "nothing").is(cli.ExitNotFound)
	term.run("routes", "delete", "who-pays").is(cli.ExitUsage)
	term.run("routes", "delete", "who-pays", "--confirm-name", "Who pays").is(cli.ExitOK).shows("DELETED")
	term.run("routes", "get", "who-pays").is(cli.ExitNotFound)
}
