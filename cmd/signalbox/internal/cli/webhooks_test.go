package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestWebhooksByCommand(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	made := term.run("webhooks", "create", "--name", "ours", "--url", "https://1.1.1.1/hook", "--events", "budget.alert", "--disabled", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Regexp(t, `^sb_whsec_`, made["secret"])
	hook := made["id"].(string)
	listed := term.run("webhooks", "list").is(cli.ExitOK).shows(hook, "https://1.1.1.1/hook", "budget.alert")
	require.NotContains(t, listed.out, made["secret"])
	term.run("webhooks", "get", "ours").is(cli.ExitOK).shows(hook)
	term.run("webhooks", "rotate-secret", "ours").is(cli.ExitOK).shows("SECRET  ", "sb_whsec_", "Keep the secret now").hides("KEY")
	term.run("webhooks", "update", "ours").is(cli.ExitUsage)
	term.run("webhooks", "update", "ours", "--name", "renamed").is(cli.ExitOK).shows("renamed")
	term.run("webhooks", "update", "renamed", "--url", "https://10.0.0.1/").is(cli.ExitUsage)
	rotated := term.run("webhooks", "rotate-secret", "renamed").is(cli.ExitOK).shows("sb_whsec_", "OLD SECRET UNTIL")
	require.NotContains(t, rotated.out, made["secret"])
	term.run("webhooks", "deliveries", "renamed", "--state", "given_up").is(cli.ExitOK).shows("STATE")
	term.run("webhooks", "redeliver", "renamed", "dlv_0000000000e008ztk5wvz3r2m1").is(cli.ExitConflict)
	term.run("webhooks", "test", "nobody").is(cli.ExitNotFound)
	term.run("webhooks", "delete", "renamed").is(cli.ExitOK).shows(hook)
	term.run("alerts", "budgets", "--shares", "100,50").is(cli.ExitOK).shows("50 %", "100 %")
	term.run("alerts", "shares").is(cli.ExitOK).shows("50 %", "100 %").hides("80 %")
	term.run("alerts", "budgets", "--shares", "0").is(cli.ExitUsage)
	term.run("alerts", "budgets").is(cli.ExitOK).shows("SHARE")
}
