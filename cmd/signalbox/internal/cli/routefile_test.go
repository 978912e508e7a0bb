package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

// A graph that a command wrote is taken back as it is, and the route is named
// where it is attached.
func TestRouteFiles(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "graph.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	graph := func(value, model string) string {
		return "schema_version: 1\nentry: s\nnodes:\n  - {id: s, type: start, next: c}\n" +
			"  - {id: c, type: condition, when: {source: metadata, path: paid, op: equals, value: \"" + value + "\"}, \"true\": m, \"false\": e}\n" +
			"  - {id: m, type: model, model: " + model + ", next: e}\n  - {id: e, type: end}\n"
	}
	term.run("routes", "create", "--name", "Ünï çode", "--paused").is(cli.ExitOK).shows("uni-code")
	term.run("routes", "get", "uni-code", "--file", file).is(cli.ExitNotFound)
	write(graph("yes", "openai/gpt-5"))
	term.run("routes", "create", "--name", "plans", "-f", file).is(cli.ExitOK)
	term.run("routes", "deploy", "plans").is(cli.ExitOK)
	write(graph("no", "openai/gpt-5-mini"))
	term.run("routes", "update", "plans", "-f", file).is(cli.ExitOK)
	term.run("routes", "get", "plans", "-o", "yaml").is(cli.ExitOK).shows("config_version: 2", "deployed_version: 1", `value: "no"`)

	term.run("routes", "get", "plans", "--file", "-").is(cli.ExitOK).shows("schema_version: 1", "gpt-5-mini", `"no"`).hides("slug")
	term.run("routes", "versions", "plans", "1", "--file", file).is(cli.ExitOK)
	term.run("routes", "update", "plans", "-f", file).is(cli.ExitOK)
	term.run("routes", "diff", "plans", "1", "latest").is(cli.ExitOK).hides("gpt-5")
	term.run("routes", "get", "plans", "--file", file).is(cli.ExitOK)
	term.run("routes", "update", "plans", "-f", file).is(cli.ExitOK)
	term.run("routes", "versions", "plans", "latest").is(cli.ExitOK).shows("VERSION     3\n")
	term.run("routes", "versions", "plans", "--file", file).is(cli.ExitUsage)
	require.Contains(t, term.run("routes", "get", "plans", "--file", filepath.Join(term.dir, "none", "x")).is(cli.ExitUsage).err, "cannot be written")
	write("model: openai/gpt-5\n")
	term.run("routes", "test", "plans", "latest", "-f", file).is(cli.ExitOK).shows("PATH")

	write("body: {model: x}\nusage: {daily: {cost_usd: much}}\n")
	wrong := term.run("routes", "test", "plans", "latest", "-f", file).is(cli.ExitUsage).err
	require.Contains(t, wrong, "usage.daily.cost_usd")
	require.NotContains(t, wrong, "facts.")
	write("model: openai/gpt-5\nbody: [\n")
	wrong = term.run("routes", "test", "plans", "latest", "-f", file).is(cli.ExitUsage).err
	require.Contains(t, wrong, file+": the file is neither YAML nor JSON: line ")

	term.run("keys", "create", "--name", "ci").is(cli.ExitOK)
	term.run("keys", "get", "ci").is(cli.ExitOK).shows("ROUTE")
	term.run("routes", "set-keys", "plans", "ci").is(cli.ExitOK)
	term.run("keys", "get", "ci").is(cli.ExitOK).shows("plans").hides("route_")
	term.run("keys", "list").is(cli.ExitOK).shows("plans").hides("route_")
	term.run("keys", "get", "ci", "-o", "json").is(cli.ExitOK).shows("route_")

	// Every place is told once, with the node that an index stands for.
	write("schema_version: 1\nentry: s\nnodes:\n  - {id: s, type: start, next: gone}\n  - {id: m, type: model, model: openai/gpt-5, next: lost}\n")
	failed := term.run("routes", "update", "plans", "-f", file).is(cli.ExitUsage).err
	require.Contains(t, failed, "things are wrong:")
	require.Contains(t, failed, "nodes[0].next (node s): ")
	require.Contains(t, failed, "(node m): ")
}
