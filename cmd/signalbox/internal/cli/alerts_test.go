package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

const going = `
models:
  - id: acme/old
    lifecycle: {state: deprecated, retires_at: 2999-01-31, replacement: openai/gpt-5}
    endpoints: [{provider: openai, upstream_model: x}]
`

func TestModelsThatGoAreListed(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("models", "alerts").is(cli.ExitOK).shows("No model that goes")
	file := filepath.Join(term.dir, "going.yaml")
	require.NoError(t, os.WriteFile(file, []byte(going), 0o600))
	term.run("platform", "catalog", "apply", "-f", file).is(cli.ExitOK)
	term.run("keys", "create", "--name", "ci", "--models", "acme/old").is(cli.ExitOK)
	term.run("settings", "set", "default_model=acme/old").is(cli.ExitOK)
	listed := term.run("models", "alerts").is(cli.ExitOK)
	require.Regexp(t, `acme/old +deprecated +2999-01-31 +openai/gpt-5 +0 +– +settings: default_model; key ci: models`, listed.out)
	require.Len(t, term.run("models", "alerts", "-o", "json").is(cli.ExitOK).json()["data"], 1)
	term.run("models", "alerts", "acme/old").is(cli.ExitUsage)
}
