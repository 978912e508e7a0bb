package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestPresets(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "support.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("slug: support\nname: Support\nconfig:\n  system_prompt: |\n    Be brief.\n  model: openai/gpt-5\n  params: {temperature: 0.2, seed: 9007199254740993}\n")
	term.run("presets", "create", "-f", file, "--publish", "--notes", "first", "--wait", "20s").is(cli.ExitOK).
		shows("preset_", "@support", "Support", "team", "config.model", "openai/gpt-5", "9007199254740993", "published")
	term.run("presets", "create", "-f", file).is(cli.ExitConflict)
	term.run("presets", "create", "--visibility", "team").is(cli.ExitUsage)
	term.run("presets", "create", "x", "--visibility", "mine").is(cli.ExitUsage)
	term.run("presets", "list").is(cli.ExitOK).shows("@support", "VISIBILITY")
	term.run("presets", "list", "--visibility", "private").is(cli.ExitOK).hides("@support")
	term.run("presets", "get", "@support").is(cli.ExitOK).shows("Be brief.")

	write("config: {model: openai/gpt-5-mini}\n")
	term.run("presets", "update", "support", "-f", file, "--merge").is(cli.ExitOK).shows("Be brief.", "openai/gpt-5-mini", "changed")
	term.run("presets", "update", "support", "-f", file, "--description", "for all").is(cli.ExitOK).hides("Be brief.").shows("for all")
	write("slug: other\nconfig: {}\n")
	term.run("presets", "update", "support", "-f", file).is(cli.ExitUsage)
	write("config: {modell: x}\n")
	term.run("presets", "update", "support", "-f", file).is(cli.ExitUsage)
	term.run("presets", "publish", "support", "--deploy").is(cli.ExitOK).shows("v2", "deployed")
	term.run("presets", "publish", "support").is(cli.ExitConflict)
	term.run("presets", "versions", "support").is(cli.ExitOK).shows("v1", "v2", "superseded", "first")
	term.run("presets", "versions", "support", "1").is(cli.ExitOK).shows("Be brief.").hides("v2")
	term.run("presets", "diff", "support", "1", "2").is(cli.ExitOK).shows("system_prompt", "openai/gpt-5-mini", "params.seed")
	term.run("presets", "diff", "support", "1", "latest").is(cli.ExitOK).shows("VERSION 2", "openai/gpt-5-mini")
	term.run("presets", "diff", "support", "1", "v2").is(cli.ExitUsage)
	term.run("presets", "rollback", "support").is(cli.ExitOK).shows("v1", "deployed")
	term.run("presets", "rollback", "support").is(cli.ExitConflict)
	term.run("presets", "deploy", "support", "2", "--wait", "20s").is(cli.ExitOK).shows("v2")

	// What get writes is what update takes.
	term.run("presets", "get", "support", "--file", file).is(cli.ExitOK)
	term.run("presets", "update", "support", "-f", file, "--merge").is(cli.ExitOK).shows("published")
	term.run("presets", "versions", "support", "1", "--file", "-").is(cli.ExitOK).shows("config:", "  Be brief.", "9007199254740993")
	term.run("presets", "versions", "support", "latest").is(cli.ExitOK).shows("v2")
	term.run("presets", "versions", "support", "--file", "-").is(cli.ExitUsage)
	term.run("presets", "deploy", "support").is(cli.ExitOK).shows("v2")

	term.run("presets", "update", "support", "--visibility", "public").is(cli.ExitConflict)
	term.run("presets", "publisher").is(cli.ExitOK).shows("–")
	term.run("presets", "publisher", "acme").is(cli.ExitOK).shows("acme")
	term.run("presets", "update", "support", "--visibility", "public").is(cli.ExitOK).shows("@acme/support")
	term.run("presets", "fork", "@acme/support", "ours").is(cli.ExitOK).shows("@ours", "FORK OF", "#2")
	term.run("presets", "fork", "support", "pinned", "--version", "1", "--visibility", "private").is(cli.ExitOK).shows("#1", "private")
	term.run("presets", "upstream", "pinned", "2").is(cli.ExitOK).shows("#2")
	term.run("presets", "upstream", "support").is(cli.ExitConflict)
	term.run("presets", "archive", "ours").is(cli.ExitUsage)
	term.run("presets", "archive", "ours", "--confirm-name", "Support").is(cli.ExitOK).shows("ARCHIVED")
	require.Contains(t, term.run("presets", "get", "none").is(cli.ExitNotFound).err, "no preset with the name none")

	write("slug: dated\nname: 2024-06-01\nconfig: {params: {user: 2024-06-01}}\n")
	term.run("presets", "create", "-f", file).is(cli.ExitOK).shows("2024-06-01").hides("T00:00:00")
	write("slug: twice\nname: a\nname: b\n")
	term.run("presets", "create", "-f", file).is(cli.ExitUsage)
}
