package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestBudgets(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	id := func(args ...string) string {
		return term.run(append(args, "-o", "json")...).is(cli.ExitOK).json()["data"].(map[string]any)["id"].(string)
	}
	made := term.run("budgets", "create", "--interval", "monthly", "--limit-usd", "500", "--enforcement", "reserve", "--include-byok", "--wait", "10s").
		is(cli.ExitOK).shows("budget_", "the workspace", "500.00", "reserve", "SPENT USD", "0.00", "0 %")
	require.Regexp(t, `OWN PROVIDER KEYS +count\n`, made.out)
	term.run("guardrails", "create", "--name", "interns").is(cli.ExitOK)
	ofGuardrail := id("budgets", "create", "--interval", "daily", "--limit-usd", "5", "--guardrail", "interns")
	ofAgent := id("budgets", "create", "--interval", "lifetime", "--limit-usd", "0.000000001", "--agent", "night bot")
	term.run("budgets", "list").is(cli.ExitOK).shows("the workspace", "guard_", "agent night bot", "PROJECTED USD", "never")
	term.run("budgets", "list", "--agent", "night bot").is(cli.ExitOK).shows(ofAgent).hides(ofGuardrail)
	term.run("budgets", "list", "--guardrail", "interns", "--interval", "daily").is(cli.ExitOK).shows(ofGuardrail).hides(ofAgent)
	term.run("budgets", "get", "monthly").is(cli.ExitOK).shows("500.00")
	term.run("budgets", "get", "daily").is(cli.ExitNotFound) // the workspace has none
	term.run("budgets", "get", ofAgent, "-o", "yaml").is(cli.ExitOK).shows("agent: night bot", "reset_at: null")
	term.run("budgets", "update", "monthly", "--limit-usd", "600", "--enforcement", "track", "--include-byok=false").is(cli.ExitOK).shows("600.00", "track", "do not count")
	term.run("budgets", "update", ofAgent, "--limit-usd", "7").is(cli.ExitOK).shows("7.00")
	term.run("usage", "spend").is(cli.ExitOK).shows("monthly", "lifetime", "600.00", "0 %").hides("7.00")
	term.run("usage", "spend", "--agent", "night bot").is(cli.ExitOK).shows("7.00").hides("600.00")
	term.run("usage", "spend", "--guardrail", "interns").is(cli.ExitOK).shows("5.00")
	taken := term.run("budgets", "create", "--interval", "monthly", "--limit-usd", "1").is(cli.ExitConflict)
	require.Contains(t, taken.err, "interval")
	for _, args := range [][]string{
		{"budgets", "create", "--interval", "dayly", "--limit-usd", "1"},
		{"budgets", "create", "--interval", "daily"},
		{"budgets", "create", "--interval", "daily", "--limit-usd", "0"},
		{"budgets", "create", "--interval", "daily", "--limit-usd", "many"},
		{"budgets", "create", "--interval", "daily", "--limit-usd", "1", "--enforcement", "strict"},
		{"budgets", "update", "monthly"},
		{"budgets", "list", "--interval", "hourly"},
		{"usage", "spend", "--agent", "a", "--key", "b"},
	} {
		term.run(args...).is(cli.ExitUsage)
	}
	require.Contains(t, term.run("budgets", "create", "--interval", "dayly", "--limit-usd", "1").err, "daily, weekly, monthly, lifetime")
	term.run("budgets", "delete", "monthly").is(cli.ExitOK).shows("DELETED", "budget_")
	term.run("budgets", "delete", "monthly").is(cli.ExitNotFound)
	term.run("guardrails", "delete", "interns").is(cli.ExitOK)
	term.run("budgets", "get", ofGuardrail).is(cli.ExitNotFound)
}

func TestDepartmentBudgets(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("departments", "create", "--name", "Research").is(cli.ExitOK)
	term.run("department-budgets", "create", "--department", "research", "--interval", "weekly", "--limit-usd", "100").is(cli.ExitOK).shows("dept_", "100.00", "RESETS")
	list := term.run("department-budgets", "list", "--department", "Research", "-o", "json").is(cli.ExitOK).json()["data"].([]any)
	budget := list[0].(map[string]any)["id"].(string)
	term.run("department-budgets", "list", "--interval", "weekly").is(cli.ExitOK).shows(budget, "dept_")
	term.run("department-budgets", "list", "--interval", "daily").is(cli.ExitOK).hides(budget)
	term.run("department-budgets", "get", budget).is(cli.ExitOK).shows("weekly")
	term.run("department-budgets", "update", budget, "--limit-usd", "50").is(cli.ExitOK).shows("50.00")
	term.run("usage", "spend", "--department", "research").is(cli.ExitOK).shows("50.00", "weekly").hides("lifetime")
	term.run("department-budgets", "create", "--department", "research", "--interval", "lifetime", "--limit-usd", "1").is(cli.ExitUsage)
	term.run("department-budgets", "create", "--department", "nobody", "--interval", "daily", "--limit-usd", "1").is(cli.ExitNotFound)
	term.run("budgets", "get", budget).is(cli.ExitNotFound)
	term.run("department-budgets", "delete", budget).is(cli.ExitOK).shows("DELETED", budget)
	term.run("department-budgets", "get", budget).is(cli.ExitNotFound)
}

func TestKeyLimits(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("keys", "create", "--name", "ci", "--daily-requests", "100", "--monthly-cost-usd", "20", "--enforcement", "reserve", "--agent", "bot").is(cli.ExitOK).
		shows("100 requests", "20.00 USD", "reserve", "bot").hides("SOFT BLOCKED")
	term.run("keys", "get", "ci").is(cli.ExitOK).shows("0 of 100 requests until", "0.00 of 20.00 USD until").hides("WEEKLY")
	term.run("keys", "update", "ci", "--daily-requests", "none", "--daily-cost-usd", "1.5", "--soft-block", "--include-byok-in-limit", "--agent", "none").is(cli.ExitOK).
		shows("1.50 USD", "20.00 USD", "SOFT BLOCKED", "OWN PROVIDER KEYS").hides("requests", "bot")
	got := term.run("keys", "get", "ci", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Equal(t, true, got["soft_blocked"])
	require.Equal(t, "reserve", got["enforcement"], "a flag that was not given changed something")
	term.run("keys", "update", "ci", "--soft-block=false", "--enforcement", "track").is(cli.ExitOK).hides("SOFT BLOCKED", "reserve")
	term.run("keys", "update", "ci", "--weekly-requests", "7", "--weekly-cost-usd", "3").is(cli.ExitOK).shows("7 requests, 3.00 USD")
	term.run("usage", "spend", "--key", "ci").is(cli.ExitOK).shows("daily", "1.50", "3.00", "0 %").hides("lifetime")
	for _, args := range [][]string{
		{"--daily-requests", "many"},
		{"--daily-requests", "1.5"},
		{"--daily-requests", "0"},
		{"--weekly-requests", "-1"},
		{"--monthly-cost-usd", "0"},
		{"--monthly-cost-usd", "-1"},
		{"--enforcement", "strict"},
		{"--agent", ""},
		{"--daily-cost-usd", ""},
	} {
		term.run(append([]string{"keys", "update", "ci"}, args...)...).is(cli.ExitUsage)
	}
	term.run("keys", "update", "ci").is(cli.ExitUsage)
}
