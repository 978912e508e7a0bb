package cli_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestProviderKeysByCommand(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	const canary = "sk-canary-0123456789abcdefgh"
	term.in = canary + "\n"
	made := term.run("byok", "create", "--provider", "openai", "--name", "ours", "--models", "openai/*", "--key-stdin").is(cli.ExitOK).
		shows("sk-can…efgh", "priority", "openai/*")
	require.NotContains(t, made.out+made.err, canary)
	first := term.run("byok", "list", "-o", "json").is(cli.ExitOK).json()["data"].([]any)[0].(map[string]any)["id"].(string)

	term.in = "sk-another-9876543210fedcba"
	second := term.run("byok", "create", "--provider", "openai", "--name", "other", "--disabled", "--key-stdin", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Equal(t, false, second["enabled"])
	id := second["id"].(string)
	term.run("byok", "enable", id).is(cli.ExitOK).shows("yes")
	term.run("byok", "disable", id).is(cli.ExitOK).shows("no")
	ordered := term.run("byok", "reorder", id, first, "--provider", "openai", "-o", "json").is(cli.ExitOK).json()["data"].([]any)
	require.Equal(t, id, ordered[0].(map[string]any)["id"])
	term.run("byok", "reorder", id, "--provider", "openai").is(cli.ExitUsage)
	require.Regexp(t, "(?s)"+id+".*"+first, term.run("byok", "order", "--provider", "openai").is(cli.ExitOK).out)
	require.Empty(t, term.run("byok", "order", "--provider", "openai", "--use", "fallback", "-o", "json").is(cli.ExitOK).json()["data"])

	term.in = "sk-renewed-00000000001111"
	term.run("byok", "update", id, "--name", "renewed", "--key-stdin").is(cli.ExitOK).shows("renewed", "…1111")
	term.run("byok", "update", id, "--use", "fallback").is(cli.ExitOK).shows("fallback", "renewed")
	term.run("byok", "get", id).is(cli.ExitOK).shows("…1111")
	term.run("byok", "list", "--provider", "openai").is(cli.ExitOK).shows(first, id)
	term.run("byok", "list").is(cli.ExitOK).shows("VERIFIED", "never")
	term.run("byok", "verify", id).is(cli.ExitUnavailable)
	term.run("byok", "delete", id).is(cli.ExitOK).shows("yes")
	term.run("byok", "get", id).is(cli.ExitNotFound)
}

// A key is verified by its id or its name, and scripts hear the outcome.
func TestVerifyingAProviderKeyByCommand(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	ids := make(map[string]string)
	for _, name := range []string{"good", "bad", "twice", "twice"} {
		term.in = "sk-canary-0123456789abcdefgh"
		made := term.run("byok", "create", "--provider", "openai", "--name", name, "--key-stdin", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
		ids[name] = made["id"].(string)
	}
	reply := wire.CheckReply{Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckListModels, Latency: 42 * time.Millisecond}
	asked, err := term.nats.Ready().NATS().QueueSubscribeSync(wire.SubjectCheck, wire.QueueCheck)
	require.NoError(t, err)
	answer := func() {
		m, err := asked.NextMsgWithContext(t.Context())
		require.NoError(t, err)
		body, err := json.Marshal(reply)
		require.NoError(t, err)
		require.NoError(t, m.Respond(body))
	}
	verify := func(key string) result {
		ended := make(chan result, 1)
		go func() { ended <- term.run("byok", "verify", key) }()
		answer()
		return <-ended
	}
	verify("good").is(cli.ExitOK).shows("valid", "list_models", "42 ms")
	reply = wire.CheckReply{Status: wire.CheckInvalid, HTTPStatus: 401, Call: wire.CheckCompletion, Model: "openai/gpt-5-nano"}
	got := verify(ids["bad"]).is(cli.ExitFailure).shows("invalid", "completion of openai/gpt-5-nano")
	require.Contains(t, got.err, "the provider refuses the key (it answered with status 401)")
	term.run("byok", "list").is(cli.ExitOK).shows("valid", "invalid", "never")
	got = term.run("byok", "verify", "bad").is(cli.ExitFailure)
	require.Contains(t, got.err, "rate_limit_exceeded", "a moment ago")
	term.run("byok", "verify", "nobody").is(cli.ExitNotFound)
	got = term.run("byok", "verify", "twice").is(cli.ExitUsage)
	require.Contains(t, got.err, ids["twice"])
}

// A key comes from standard input and from nowhere else.
func TestAProviderKeyIsOnNoCommandLine(t *testing.T) {
	term := &terminal{t: t, dir: t.TempDir(), env: map[string]string{"SIGNALBOX_MANAGEMENT_KEY": "sb_mk_v1_x", "SIGNALBOX_CONTROL_URL": "http://127.0.0.1:1"}}
	term.run("byok", "create", "--provider", "openai", "--name", "x").is(cli.ExitUsage)
	term.run("byok", "create", "--provider", "openai", "--name", "x", "--key-stdin=false").is(cli.ExitUsage)
	term.run("byok", "create", "--provider", "openai", "--name", "x", "--key", "sk-canary").is(cli.ExitUsage)
	got := term.run("byok", "create", "--provider", "openai", "--name", "x", "--key-stdin").is(cli.ExitUsage)
	require.Contains(t, got.err, "no key on standard input")
	term.run("byok", "update", "byok_x").is(cli.ExitUsage)
}
