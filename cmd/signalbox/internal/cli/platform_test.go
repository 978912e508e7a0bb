package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

const overrides = `
providers:
  - slug: north
    type: openai-compatible
    base_url: http://127.0.0.1:1/v1
    api_key: ${NORTH_KEY}
models:
  - id: acme/small
    lifecycle: {deprecated_at: 2026-01-31}
    endpoints:
      - {provider: north, upstream_model: small-v1, price: {input: 0.000000001, output: "2"}}
`

func TestTheOperatorsCatalogByCommand(t *testing.T) {
	term := newTerminal(t)
	file := filepath.Join(term.dir, "overrides.yaml")
	require.NoError(t, os.WriteFile(file, []byte(overrides), 0o600))

	require.Contains(t, term.run("platform", "catalog", "diff", "-f", file).is(cli.ExitUsage).err, "NORTH_KEY is not set")
	require.Contains(t, term.run("platform", "catalog", "diff", "-f", "/nowhere.yaml").is(cli.ExitUsage).err, "the file cannot be read")
	large := filepath.Join(term.dir, "large.yaml")
	require.NoError(t, os.WriteFile(large, []byte("#"+strings.Repeat("x", 4<<20)), 0o600))
	require.Contains(t, term.run("platform", "catalog", "apply", "-f", large).is(cli.ExitUsage).err, "larger than 4 MiB")
	for text, wrong := range map[string]string{
		overrides + "\n---\nproviders: []\n":      "more after its first document",
		"providers: []\nproviders: [{slug: a}]\n": "a name twice",
		"providers: [": "neither YAML nor JSON",
	} {
		bad := filepath.Join(term.dir, "bad.yaml")
		require.NoError(t, os.WriteFile(bad, []byte(text), 0o600))
		require.Contains(t, term.run("platform", "catalog", "apply", "-f", bad).is(cli.ExitUsage).err, wrong)
	}
	term.env["NORTH_KEY"] = "sk-canary-of-the-shell"
	require.Contains(t, term.run("platform", "catalog", "diff", "-f", file).is(cli.ExitOK).out, "models.acme/small.endpoints.north.price.input")
	require.NotContains(t, term.run("platform", "catalog", "get").is(cli.ExitOK).out, "acme/small", "diff changes nothing")
	applied := term.run("platform", "catalog", "apply", "-f", file, "--wait", "20s").is(cli.ExitOK)
	require.Contains(t, applied.out, "0.000000001")
	require.Contains(t, applied.out, "providers.north.api_key")
	require.Contains(t, term.run("platform", "catalog", "apply", "-f", file, "-o", "json").is(cli.ExitOK).out, `"path": "providers.north.api_key"`, "it is sealed anew")

	// What is shown can be applied again: nothing changes, and the key stays.
	shown := term.run("platform", "catalog", "get", "--file").is(cli.ExitOK).out
	require.NotContains(t, shown, "canary")
	term.in = shown
	require.Contains(t, term.run("platform", "catalog", "apply", "-f", "-").is(cli.ExitOK).out, "NOTHING CHANGES")

	term.in = "when: {source: workspace_tag, op: in, value: [gold, 7]}\nthen: {provider: north}\n"
	term.run("platform", "rules", "put", "acme/small", "gold", "-f", "-").is(cli.ExitOK)
	term.in = "when: {source: model, op: exists}\nthen: {provider: north}\n"
	term.run("platform", "rules", "put", "acme/small", "all", "-f", "-", "--position", "0").is(cli.ExitOK)
	listed := term.run("platform", "rules", "list", "acme/small").is(cli.ExitOK).out
	require.Regexp(t, `(?s)all .*gold `, listed)
	require.Contains(t, listed, `"value":["gold",7]`)
	term.run("platform", "rules", "order", "acme/small", "gold", "all").is(cli.ExitOK)
	require.Regexp(t, `(?s)gold .*all `, term.run("platform", "rules", "list", "acme/small").is(cli.ExitOK).out)
	term.run("platform", "rules", "rm", "acme/small", "all").is(cli.ExitOK)
	term.in = "when: {source: model, op: exists}\nthen: {provider: north}\n"
	require.Contains(t, term.run("platform", "rules", "put", "acme/smal", "all", "-f", "-").is(cli.ExitNotFound).err, "The catalog has no such model")
	term.in = "when: {source: body, op: exists}\nthen: {}\n"
	wrong := term.run("platform", "rules", "put", "acme/small", "bad", "-f", "-")
	require.NotEqual(t, cli.ExitOK, wrong.code)
	require.Contains(t, wrong.err, "when.source")

	ws := term.signIn()
	require.Contains(t, term.run("platform", "tags", "set", ws, "gold", "eu").is(cli.ExitOK).out, "eu,gold")
	require.Contains(t, term.run("platform", "tags", "get", ws, "-o", "json").is(cli.ExitOK).out, `"gold"`)
	require.Contains(t, term.run("platform", "tags", "set", ws).is(cli.ExitOK).out, "none")

	require.Contains(t, term.run("platform", "audit").is(cli.ExitOK).out, "rule.put")
	term.run("platform", "catalog", "rm", "endpoint", "acme/small").is(cli.ExitUsage)
	term.run("platform", "catalog", "rm", "model", "acme/small").is(cli.ExitOK)
	term.run("platform", "catalog", "rm", "provider", "north").is(cli.ExitOK)
	require.Contains(t, term.run("platform", "catalog", "get", "--version", "1").is(cli.ExitOK).out, "acme/small")
}
