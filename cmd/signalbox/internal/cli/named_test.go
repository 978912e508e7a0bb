package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func (r result) id() string {
	r.t.Helper()
	return r.is(cli.ExitOK).json()["data"].(map[string]any)["id"].(string)
}

// A key is known by its name wherever it is by its id, as long as that is clear.
func TestAPIKeysByName(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	ci := term.run("keys", "create", "--name", "ci", "-o", "json").id()
	for _, verb := range []string{"get", "pause", "resume", "rotate"} {
		term.run("keys", verb, "ci").is(cli.ExitOK).shows(ci)
	}
	term.run("profiles", "create", "--name", "careful", "--mode", "price").is(cli.ExitOK)
	term.run("profiles", "bind", "careful", "--key", "ci").is(cli.ExitOK).shows(ci)
	term.run("profiles", "effective", "--key", "ci").is(cli.ExitOK).shows("price")
	term.run("profiles", "unbind", "--key", "ci").is(cli.ExitOK)
	term.run("departments", "create", "--name", "Labs").is(cli.ExitOK)
	term.run("departments", "add-key", "Labs", "ci").is(cli.ExitOK).shows("dept_")
	term.run("departments", "remove-key", "ci").is(cli.ExitOK).hides("dept_")
	term.run("logs", "--key", "ci").is(cli.ExitOK)
	term.run("logs", "--key", "nobody").is(cli.ExitNotFound)

	term.run("keys", "update", "ci", "--name", "build").is(cli.ExitOK).shows(ci)
	term.run("keys", "get", "ci").is(cli.ExitNotFound)
	twin := term.run("keys", "create", "--name", "build", "-o", "json").id()
	for _, verb := range []string{"get", "revoke"} {
		got := term.run("keys", verb, "build").is(cli.ExitUsage)
		require.Contains(t, got.err, ci)
		require.Contains(t, got.err, twin)
	}
	term.run("keys", "revoke", twin).is(cli.ExitOK)
	term.run("keys", "revoke", "build").is(cli.ExitOK).shows(ci, "revoked")
}

func TestProviderKeysByName(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	ci := term.run("keys", "create", "--name", "ci", "-o", "json").id()
	create := func(name string, more ...string) string {
		term.in = "sk-canary-0123456789abcdefgh"
		return term.run(append([]string{"byok", "create", "--provider", "openai", "--name", name, "--key-stdin", "-o", "json"}, more...)...).id()
	}
	ours, theirs := create("ours", "--api-keys", "ci"), create("theirs")
	term.run("byok", "get", "ours").is(cli.ExitOK).shows(ours, ci)
	term.run("byok", "update", "theirs", "--api-keys", "ci").is(cli.ExitOK).shows(theirs, ci)
	term.run("byok", "update", "theirs", "--api-keys", "").is(cli.ExitOK).hides(ci)
	term.run("byok", "reorder", "--provider", "openai", "theirs", "ours").is(cli.ExitOK).shows(theirs, ours)
	term.run("byok", "disable", "ours").is(cli.ExitOK).shows(ours)
	term.run("byok", "enable", "ours").is(cli.ExitOK).shows(ours)
	term.run("byok", "delete", "ours").is(cli.ExitOK).shows(ours)
	term.run("byok", "delete", "ours").is(cli.ExitNotFound)
	again := create("theirs")
	got := term.run("byok", "delete", "theirs").is(cli.ExitUsage)
	require.Contains(t, got.err, again)
	require.Contains(t, got.err, theirs)
}

// What is bound is told after a change, and what is wrong is told of the flag.
func TestGuardrailsBindKeysByName(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	ci := term.run("keys", "create", "--name", "ci", "-o", "json").id()
	other := term.run("keys", "create", "--name", "other", "-o", "json").id()
	term.run("guardrails", "create", "--name", "interns", "--zdr").is(cli.ExitOK)
	require.Regexp(t, `BOUND TO +`+ci, term.run("guardrails", "bind", "interns", "--key", "ci").is(cli.ExitOK).out)
	require.Regexp(t, `BOUND TO +`+ci, term.run("guardrails", "bind", "interns", "--key", other).is(cli.ExitOK).shows(other).out)
	term.run("guardrails", "unbind", "interns", "--key", "ci").is(cli.ExitOK).shows(other).hides(ci)
	for _, unknown := range []string{"nobody", "key_01kb7n0z1v8q5r2m3t4w5x6y7z"} {
		got := term.run("guardrails", "bind", "interns", "--key", unknown)
		require.NotEqual(t, cli.ExitOK, got.code)
		require.Contains(t, got.err, "--key")
		require.NotContains(t, got.err, "key_ids")
	}
	term.run("keys", "create", "--name", "ci").is(cli.ExitOK)
	require.Contains(t, term.run("guardrails", "unbind", "interns", "--key", "ci").is(cli.ExitUsage).err, "--key: 2 API keys have the name ci")
}
