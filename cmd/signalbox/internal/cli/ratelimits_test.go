package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
)

func TestRateLimits(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	made := term.run("rate-limits", "policies", "create", "--name", "calm", "--requests", "60", "--concurrent", "5", "--fail-closed").is(cli.ExitOK)
	made.shows("rlp_", "calm", "60", "deny")
	require.Regexp(t, `TOKENS PER MINUTE +–`, made.out)
	require.Regexp(t, `FAIL CLOSED +yes`, made.out)
	changed := term.run("rate-limits", "policies", "update", "calm", "--requests", "none", "--tokens", "100000", "--fail-closed=false").is(cli.ExitOK)
	require.Regexp(t, `REQUESTS PER MINUTE +–\nTOKENS PER MINUTE +100000\nCONCURRENT REQUESTS +5\nFAIL CLOSED +no\nON UNAVAILABLE +allow`, changed.out)
	term.run("rate-limits", "policies", "update", "calm", "--on-unavailable", "local_share").is(cli.ExitOK).shows("local_share")
	term.run("rate-limits", "policies", "list").is(cli.ExitOK).shows("calm", "100000", "local_share")
	policy := term.run("rate-limits", "policies", "get", "CALM", "-o", "json").is(cli.ExitOK).id()
	for _, wrong := range [][]string{
		{"create", "--requests", "1"},
		{"create", "--name", "x", "--requests", "0"},
		{"create", "--name", "x", "--tokens", "many"},
		{"create", "--name", "x", "--requests", "1", "--on-unavailable", "panic"},
		{"update", "calm", "--concurrent", ""},
	} {
		term.run(append([]string{"rate-limits", "policies"}, wrong...)...).is(cli.ExitUsage)
	}
	require.NotEqual(t, cli.ExitOK, term.run("rate-limits", "policies", "create", "--name", "x").code, "it limits nothing")
	term.run("rate-limits", "policies", "get", "nothing").is(cli.ExitNotFound)

	key := term.run("keys", "create", "--name", "ci", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	id, user := key["id"].(string), key["created_by"].(string)
	term.run("departments", "create", "--name", "research").is(cli.ExitOK)
	term.run("guardrails", "create", "--name", "interns", "--zdr").is(cli.ExitOK)
	assign := func(target ...string) string {
		t.Helper()
		return term.run(append([]string{"rate-limits", "assignments", "create", "calm", "-o", "json"}, target...)...).is(cli.ExitOK).id()
	}
	ofKey := assign("--key", "ci")
	for _, target := range [][]string{{"--member", "ada@example.com"}, {"--department", "research"}, {"--guardrail", "interns"}, {"--end-users"}} {
		one := assign(target...)
		term.run(append([]string{"rate-limits", "assignments", "list"}, target...)...).is(cli.ExitOK).shows(one).hides(ofKey)
	}
	term.run("rate-limits", "assignments", "list", "--policy", "calm").is(cli.ExitOK).shows(ofKey, "calm", "key "+id, "member "+user, "end users")
	for _, wrong := range [][]string{{"create", "calm"}, {"create", "calm", "--key", "ci", "--end-users"}, {"list", "--key", "ci", "--member", user}} {
		term.run(append([]string{"rate-limits", "assignments"}, wrong...)...).is(cli.ExitUsage)
	}
	term.run("rate-limits", "assignments", "create", "calm", "--member", "nobody@example.com").is(cli.ExitNotFound)
	require.Contains(t, term.run("rate-limits", "policies", "delete", "calm").err, ofKey, "it names what to delete")
	for _, one := range term.run("rate-limits", "assignments", "list", "-o", "json").is(cli.ExitOK).json()["data"].([]any) {
		term.run("rate-limits", "assignments", "delete", one.(map[string]any)["id"].(string)).is(cli.ExitOK).shows("DELETED")
	}
	term.run("rate-limits", "policies", "delete", policy).is(cli.ExitOK).shows(policy)
}

func TestDepartmentMembers(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("departments", "create", "--name", "research").is(cli.ExitOK)
	user := term.run("departments", "members", "set", "research", "ada@example.com", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["user_id"].(string)
	require.Regexp(t, user+` +member +no `, term.run("departments", "members", "list", "research").is(cli.ExitOK).out)
	term.run("departments", "members", "set", "research", user, "--position", "lead", "--override").is(cli.ExitOK).shows("lead", "yes")
	term.run("departments", "members", "set", "research", user, "--position", "boss").is(cli.ExitUsage)
	term.run("departments", "members", "set", "research", "nobody@example.com").is(cli.ExitNotFound)
	require.Contains(t, term.run("departments", "delete", "research").err, "the member "+user)
	term.run("departments", "members", "remove", "research", "ADA@example.com").is(cli.ExitOK).shows(user)
	term.run("departments", "members", "remove", "research", user).is(cli.ExitNotFound)
	term.run("departments", "delete", "research").is(cli.ExitOK)
}
