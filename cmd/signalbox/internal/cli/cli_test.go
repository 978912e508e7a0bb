package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/cli"
	"github.com/signalbox-dev/signalbox/shared/testkit/transcript"
)

func TestKeysFromCreationToRevocation(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	made := term.run("keys", "create", "--name", "ci", "--models", "openai/*,acme/small", "--surfaces", "chat", "--expires", "24h", "--wait", "10s").
		is(cli.ExitOK).shows("NAME", "ci", "openai/*,acme/small", "active", "not shown again")
	require.Regexp(t, `KEY +sb_v1_`, made.out)
	list := term.run("keys", "list", "-o", "json").is(cli.ExitOK).json()
	require.Nil(t, list["next_cursor"])
	key := list["data"].([]any)[0].(map[string]any)["id"].(string)

	term.run("keys", "update", key, "--name", "renamed", "--no-expiry", "--models", "").is(cli.ExitOK).shows("renamed")
	got := term.run("keys", "get", key, "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.NotContains(t, got, "expires_at")
	require.Empty(t, got["models"])
	require.Equal(t, []any{"chat"}, got["surfaces"], "a flag that was not given changed something")
	term.run("keys", "pause", key).is(cli.ExitOK).shows("paused")
	term.run("keys", "list", "--status", "paused").is(cli.ExitOK).shows(key)
	term.run("keys", "resume", key).is(cli.ExitOK).shows("active")
	term.run("keys", "rotate", key, "--grace", "1h").is(cli.ExitOK).shows("OLD SECRET UNTIL", "sb_v1_")
	term.run("keys", "revoke", key).is(cli.ExitOK).shows("revoked")
	refused := term.run("keys", "resume", key).is(cli.ExitConflict)
	require.Contains(t, refused.err, "final")
	require.Contains(t, refused.err, "req_")
	term.run("audit", "--action", "key.revoke").is(cli.ExitOK).shows("key.revoke", key, "status: active → revoked")
}

func TestPagesAreFollowed(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	for range 5 {
		term.run("keys", "create", "--name", "many").is(cli.ExitOK)
	}
	require.Len(t, term.run("keys", "list", "--limit", "3", "-o", "json").is(cli.ExitOK).json()["data"], 3)
	require.Len(t, term.run("keys", "list", "--limit", "0", "-o", "json").is(cli.ExitOK).json()["data"], 5)
}

func TestProfilesAndDepartments(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("profiles", "create", "--name", "careful", "--mode", "price", "--only", "openai,anthropic", "--max-output-price", "20.00",
		"--first-byte-timeout", "5s", "--allow-fallbacks=false", "--retries", "0").is(cli.ExitOK).
		shows("careful", "provider.only", "openai,anthropic", "provider.max_price.output", "timeouts.first_byte_ms", "5000")
	routing := func() map[string]any {
		return term.run("profiles", "get", "careful", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["routing"].(map[string]any)
	}
	require.InDelta(t, 0, routing()["retries"], 0, "none is a number")
	term.run("profiles", "update", "careful", "--retries", "4").is(cli.ExitUsage)
	term.run("profiles", "update", "careful", "--retries", "-1", "--only", "", "--default-model", "openai/gpt-5", "--max-output-price", "").is(cli.ExitOK)
	require.Equal(t, map[string]any{
		"default_model": "openai/gpt-5", "routing_mode": "price", "provider": map[string]any{"allow_fallbacks": false},
		"timeouts": map[string]any{"first_byte_ms": 5000.0},
	}, routing())
	file := filepath.Join(term.dir, "careful.yaml")
	require.NoError(t, os.WriteFile(file, []byte("routing:\n  auto: true\n  retries: 2\n  provider: {max_price: {input: \"1.50\"}}\n"), 0o600))
	term.run("profiles", "update", "careful", "-f", file).is(cli.ExitOK)
	require.Equal(t, map[string]any{"auto": true, "retries": 2.0, "provider": map[string]any{"max_price": map[string]any{"input": "1.50"}}}, routing())
	require.NoError(t, os.WriteFile(file, []byte("name: x\nrouting: {provider: {onli: [openai]}}\n"), 0o600))
	term.run("profiles", "create", "-f", file).is(cli.ExitUsage)
	term.run("profiles", "create", "--mode", "price").is(cli.ExitUsage)
	term.run("profiles", "list").is(cli.ExitOK).shows("careful", "auto,provider.max_price.input,retries")

	key := term.run("keys", "create", "--name", "ci", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["id"].(string)
	term.run("departments", "create", "--name", "Research", "--profile", "careful").is(cli.ExitOK).shows("dept_", "profile_")
	term.run("departments", "add-key", "research", key).is(cli.ExitOK).shows("dept_")
	term.run("profiles", "bind", "careful", "--key", key).is(cli.ExitOK).shows("profile_")
	term.run("profiles", "bind", "careful", "--workspace").is(cli.ExitOK).shows("routing_profile_id")
	term.run("profiles", "bind", "careful").is(cli.ExitUsage)
	term.run("profiles", "get", "careful").is(cli.ExitOK).shows("the workspace", "dept_", key)
	term.run("profiles", "effective", "--key", key).is(cli.ExitOK).shows("default_model", "signalbox/auto", "key", "workspace_profile", "retries")
	require.NotEqual(t, cli.ExitOK, term.run("profiles", "delete", "careful").code)
	term.run("profiles", "unbind", "--key", key).is(cli.ExitOK)
	term.run("profiles", "unbind", "--workspace").is(cli.ExitOK)
	term.run("profiles", "unbind", "--department", "Research").is(cli.ExitOK)
	require.Contains(t, term.run("departments", "delete", "Research").is(cli.ExitConflict).err, "departments remove-key KEY_ID")
	term.run("departments", "remove-key", key).is(cli.ExitOK)
	term.run("departments", "update", "Research", "--name", "Labs").is(cli.ExitOK).shows("Labs")
	term.run("departments", "list").is(cli.ExitOK).shows("Labs")
	term.run("departments", "get", "labs", "-o", "yaml").is(cli.ExitOK).shows("name: Labs")
	term.run("departments", "delete", "Labs").is(cli.ExitOK)
	term.run("profiles", "delete", "careful").is(cli.ExitOK)
	for _, args := range [][]string{
		{"profiles", "get", "careful"},
		{"profiles", "update", "careful", "--mode", "price"},
		{"profiles", "bind", "careful", "--key", key},
		{"profiles", "delete", "careful"},
		{"profiles", "delete", "profile_01kb7n0z1v8q5r2m3t4w5x6y7z"},
		{"profiles", "unbind", "--department", "Labs"},
		{"profiles", "effective", "--key", "key_01kb7n0z1v8q5r2m3t4w5x6y7z"},
		{"departments", "get", "Labs"},
		{"departments", "delete", "Labs"},
		{"departments", "add-key", "Labs", key},
		{"departments", "create", "--name", "New", "--profile", "careful"},
	} {
		missing := term.run(args...).is(cli.ExitNotFound)
		require.NotContains(t, missing.err, "--help", args)
	}
	term.run("settings", "set", "fallback_models=openai/gpt-5").is(cli.ExitOK).shows("openai/gpt-5")
	require.NotContains(t, term.run("settings", "set", "fallback_models=null").is(cli.ExitOK).out, "openai/gpt-5")
}

func TestGuardrails(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("guardrails", "create", "--name", "interns", "--description", "for the summer", "--allow-models", "openai/*,anthropic/*",
		"--block-models", "openai/gpt-5", "--block-providers", "ANTHROPIC").is(cli.ExitOK).
		shows("guard_", "interns", "models.allow", "openai/*,anthropic/*", "models.block", "providers.block", "anthropic")
	term.run("guardrails", "update", "interns", "--allow-models", "", "--deny-training", "--enabled=false").is(cli.ExitOK).
		shows("models.block", "data_policy.deny_training").hides("models.allow")
	file := filepath.Join(term.dir, "interns.yaml")
	require.NoError(t, os.WriteFile(file, []byte("enabled: true\nproviders: {allow: [openai]}\ndata_policy: {}\n"), 0o600))
	term.run("guardrails", "update", "interns", "-f", file).is(cli.ExitOK).shows("providers.allow", "models.block").hides("providers.block", "data_policy")
	require.NoError(t, os.WriteFile(file, []byte("name: x\nmodels: {deny: [openai]}\n"), 0o600))
	term.run("guardrails", "create", "-f", file).is(cli.ExitUsage)
	term.run("guardrails", "create", "--zdr").is(cli.ExitUsage)
	term.run("guardrails", "list").is(cli.ExitOK).shows("interns", "models.block,providers.allow")

	key := term.run("keys", "create", "--name", "ci", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	id, user := key["id"].(string), key["created_by"].(string)
	term.run("guardrails", "bind", "interns", "--key", id).is(cli.ExitOK).shows("guard_")
	term.run("guardrails", "bind", "interns", "--member", user).is(cli.ExitOK)
	term.run("guardrails", "bind", "interns", "--workspace").is(cli.ExitOK).shows("the workspace")
	term.run("guardrails", "bind", "interns").is(cli.ExitUsage)
	term.run("guardrails", "bind", "interns", "--workspace", "--key", id).is(cli.ExitUsage)
	term.run("guardrails", "get", "interns").is(cli.ExitOK).shows("the workspace", id, user)
	term.run("profiles", "effective", "--key", id).is(cli.ExitOK).shows("guardrail.models.block", "openai/gpt-5", "workspace_guardrail", "guard_")
	require.NotEqual(t, cli.ExitOK, term.run("guardrails", "delete", "interns").code)
	term.run("guardrails", "unbind", "interns", "--key", id).is(cli.ExitOK)
	term.run("guardrails", "unbind", "interns", "--member", user).is(cli.ExitOK)
	require.NotEqual(t, cli.ExitOK, term.run("guardrails", "unbind", "interns", "--member", user).code)
	term.run("guardrails", "unbind", "interns", "--workspace").is(cli.ExitOK).hides("the workspace")
	term.run("guardrails", "delete", "interns").is(cli.ExitOK).shows("guard_")
	term.run("guardrails", "get", "interns").is(cli.ExitNotFound)
}

// TestNamesThatBeginLikeIDs: only a whole id is taken for one.
func TestNamesThatBeginLikeIDs(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	for group, name := range map[string]string{"guardrails": "guard_interns", "departments": "dept_interns", "profiles": "profile_interns"} {
		args := []string{group, "create", "--name", name}
		if group == "guardrails" {
			args = append(args, "--zdr")
		}
		made := term.run(append(args, "-o", "json")...).is(cli.ExitOK).json()["data"].(map[string]any)["id"].(string)
		term.run(group, "get", name).is(cli.ExitOK).shows(made)
		term.run(group, "get", made).is(cli.ExitOK).shows(name)
		term.run(group, "delete", name).is(cli.ExitOK)
		require.NotContains(t, term.run(group, "get", name).is(cli.ExitNotFound).err, "--help")
	}
}

// TestAFileIsOneDocument: what a second one says would be lost.
func TestAFileIsOneDocument(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	file := filepath.Join(term.dir, "two.yaml")
	for text, wrong := range map[string]string{
		"name: a\nenabled: true\n---\nname: b\n": "more after its first document",
		"name: a\n---\n{":                        "more after its first document",
		`{"name":"a"} {"name":"b"}`:              "more after its first document",
		"---\nname: [\n":                         "neither YAML nor JSON",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		for _, group := range []string{"guardrails", "profiles"} {
			require.Contains(t, term.run(group, "create", "-f", file).is(cli.ExitUsage).err, wrong, text)
			term.run(group, "get", "a").is(cli.ExitNotFound)
		}
	}
	for text, name := range map[string]string{
		"name: a\nModels: {block: [openai/gpt-5]}\n":                             "Models",
		"name: a\nmodels: {block: [openai/gpt-5], Block: [openai/gpt-5-mini]}\n": "models.Block",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.Contains(t, term.run("guardrails", "create", "-f", file).is(cli.ExitUsage).err, name, "names are taken as they are spelt")
	}
	require.NoError(t, os.WriteFile(file, []byte("---\nname: a\nmodels: {block: [openai/gpt-5]}\n...\n"), 0o600))
	term.run("guardrails", "create", "-f", file).is(cli.ExitOK).shows("openai/gpt-5")
}

func TestWorkspaceSettingsAndRollout(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	term.run("whoami").is(cli.ExitOK).shows(ws, "ada@example.com", "owner", "keys:write")
	term.run("workspaces", "list").is(cli.ExitOK).shows(ws, "acme")
	term.run("workspaces", "list", "--all").is(cli.ExitOK).shows(ws)
	term.run("workspaces", "get", ws).is(cli.ExitOK).shows("Acme")
	term.run("workspaces", "members", ws).is(cli.ExitOK).shows("ada@example.com", "owner")
	term.run("settings", "set", "routing_mode=price", "max_attempts=3", "beta_channel=true", "fallback_models=openai/gpt-5,anthropic/claude-sonnet-4.5", "default_model=openai/gpt-5-mini").
		is(cli.ExitOK).shows("price", "openai/gpt-5,anthropic/claude-sonnet-4.5", "openai/gpt-5-mini")
	term.run("settings", "set", "default_model=null", "fallback_models=", "beta_channel=no").is(cli.ExitOK)
	got := term.run("settings", "get", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	require.Nil(t, got["default_model"])
	require.Empty(t, got["fallback_models"])
	require.EqualValues(t, 3, got["max_attempts"])
	for _, pair := range []string{"max_attempts", "max_attempts=many", "beta_channel=perhaps", "shade=red"} {
		term.run("settings", "set", pair).is(cli.ExitUsage)
	}
	require.Contains(t, term.run("settings", "set", "max_attempts=999").is(cli.ExitUsage).err, "max_attempts: must be at most 20")

	publication := term.run("publications", "list", "-o", "json").is(cli.ExitOK).json()["data"].([]any)[0].(map[string]any)["id"].(string)
	term.run("publications", "get", publication).is(cli.ExitOK).shows("settings.update", "gateways")
	term.run("gateways").is(cli.ExitOK).shows("STATE")
	term.run("usage", "--by", "model", "--since", "24h").is(cli.ExitOK).shows("total", "0.00")

	term.run("management-keys", "create", "--name", "x").is(cli.ExitUsage)
	made := term.run("management-keys", "create", "--name", "reader", "--template", "read-only", "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)
	term.run("management-keys", "create", "--name", "narrow", "--scopes", "keys:read,logs:read").is(cli.ExitOK).shows("keys:read,logs:read", "sb_mk_v1_")
	term.run("management-keys", "list").is(cli.ExitOK).shows("reader", "narrow")
	term.run("management-keys", "get", made["id"].(string)).is(cli.ExitOK).shows("read-only")
	term.run("management-keys", "rotate", made["id"].(string)).is(cli.ExitOK).shows("sb_mk_v1_")
	term.run("management-keys", "revoke", made["id"].(string)).is(cli.ExitOK).shows("revoked")

	term.nats.Stop()
	pending := term.run("settings", "set", "max_attempts=4", "--wait", "50ms").is(cli.ExitPending)
	require.Contains(t, pending.out, "max_attempts", "the answer is shown all the same")
	require.Contains(t, pending.err, "publications")
	term.run("workspaces", "delete", ws, "--confirm-name", "Acme").is(cli.ExitOK).shows("DELETED")
	term.run("whoami").is(cli.ExitRefused)
}

func TestOutputForms(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	term.run("keys", "create", "--name", "yes: [it] \"is\"").is(cli.ExitOK)
	var fromYAML struct {
		Data []struct{ Name, Status string }
	}
	require.NoError(t, yaml.Unmarshal([]byte(term.run("keys", "list", "-o", "yaml").is(cli.ExitOK).out), &fromYAML))
	require.Equal(t, `yes: [it] "is"`, fromYAML.Data[0].Name)
	term.run("keys", "list", "-o", "xml").is(cli.ExitUsage)
}

func TestWhereTheConnectionComesFrom(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	key, control := term.env["SIGNALBOX_MANAGEMENT_KEY"], term.env["SIGNALBOX_CONTROL_URL"]
	delete(term.env, "SIGNALBOX_MANAGEMENT_KEY")
	delete(term.env, "SIGNALBOX_CONTROL_URL")
	require.Contains(t, term.run("whoami").is(cli.ExitRefused).err, "SIGNALBOX_MANAGEMENT_KEY")

	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	term.env["SIGNALBOX_MANAGEMENT_KEY_FILE"] = file
	require.Contains(t, term.run("whoami").is(cli.ExitUsage).err, "--control-url")
	term.run("whoami", "--control-url", control).is(cli.ExitOK)
	term.run("whoami", "--control-url", "ftp://nowhere").is(cli.ExitUsage)
	delete(term.env, "SIGNALBOX_MANAGEMENT_KEY_FILE")

	require.NoError(t, os.MkdirAll(filepath.Join(term.dir, ".signalbox"), 0o755))
	dev, err := json.Marshal(map[string]string{"control_url": control, "management_key": key})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(term.dir, ".signalbox", "dev.json"), dev, 0o600))
	term.dir = filepath.Join(term.dir, "below", "that")
	require.NoError(t, os.MkdirAll(term.dir, 0o755))
	term.run("whoami").is(cli.ExitOK)

	away := term.run("whoami", "--control-url", "http://127.0.0.1:1").is(cli.ExitUnavailable)
	require.NotContains(t, away.err, key)
}

func TestMistakesHaveExitCodes(t *testing.T) {
	term := newTerminal(t)
	term.signIn()
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"bogus"}, cli.ExitUsage},
		{[]string{"keys", "list", "--bogus"}, cli.ExitUsage},
		{[]string{"keys", "get"}, cli.ExitUsage},
		{[]string{"keys", "create"}, cli.ExitUsage},
		{[]string{"keys", "create", "--name", ""}, cli.ExitUsage},
		{[]string{"keys", "create", "--name", "x", "--expires", "tomorrow"}, cli.ExitUsage},
		{[]string{"keys", "create", "--name", "x", "--wait", "31s"}, cli.ExitUsage},
		{[]string{"keys", "update", "key_x"}, cli.ExitUsage},
		{[]string{"keys", "get", "key_x"}, cli.ExitNotFound},
		{[]string{"explain", "req_x"}, cli.ExitNotFound},
		{[]string{"usage", "--by", "shade"}, cli.ExitUsage},
		{[]string{"version"}, cli.ExitOK},
		{[]string{"--help"}, cli.ExitOK},
		{[]string{"keys"}, cli.ExitOK},
		{[]string{"completion", "bash"}, cli.ExitOK},
	} {
		got := term.run(c.args...)
		require.Equal(t, c.code, got.code, "%v: %s%s", c.args, got.out, got.err)
		require.Equal(t, c.code == cli.ExitOK, got.err == "", "%v: %s", c.args, got.err)
	}
	for _, c := range [][]string{{"kyes", "did you mean keys?"}, {"keys", "lst", "get or list"}, {"keys", "create", "--help after a command"}, {"usage", "--by", "shade", "--by must be one of model, provider, key\n"}} {
		require.Contains(t, term.run(c[:len(c)-1]...).err, c[len(c)-1])
	}
	term.run("whoami", "--control-url", term.env["SIGNALBOX_CONTROL_URL"]+"/v1").is(cli.ExitOK)
	same := []string{"keys", "create", "--name", "once", "--idempotency-key", "k"}
	term.run(same...).is(cli.ExitOK)
	term.run(same...).is(cli.ExitOK).shows("not shown again: it was in the first answer")
	term.run("keys", "create", "--name", "other", "--idempotency-key", "k").is(cli.ExitConflict)
}

func TestModelsComeFromTheGateway(t *testing.T) {
	term := newTerminal(t)
	var surface string
	models := `{"id":"acme/small","context_length":128000,"providers":["north","south"]},{"id":"acme/odd"}`
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		surface = r.URL.Query().Get("surface")
		if r.Header.Get("Authorization") != "Bearer sb_v1_test" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"The key is not valid.","code":"unauthorized","reason":"invalid_key","request_id":"req_7"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[`+models+`]}`)
	}))
	defer gateway.Close()
	term.env["SIGNALBOX_GATEWAY_URL"], term.env["SIGNALBOX_API_KEY"] = gateway.URL+"/", "sb_v1_test"
	term.run("models", "--surface", "chat").is(cli.ExitOK).shows("acme/small  128000   north,south", "acme/odd    –        –")
	require.Equal(t, "chat", surface)
	models = ""
	term.run("models").is(cli.ExitOK).shows("No models: ")
	term.env["SIGNALBOX_API_KEY"] = "sb_v1_other"
	refused := term.run("models").is(cli.ExitRefused)
	require.Contains(t, refused.err, "invalid_key")
	require.Contains(t, refused.err, "req_7")
}

func TestLogsAndExplain(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	first := term.served(ws, 1)
	require.Eventually(t, func() bool { return term.run("logs", "get", first).code == cli.ExitOK }, 15*time.Second, 50*time.Millisecond)
	for _, args := range [][]string{{"logs"}, {"logs", "list", "--outcome", "success"}, {"logs", "--status", "2xx"}} {
		term.run(args...).is(cli.ExitOK).shows(first, "acme/small", "north", "1234.567890123")
	}
	require.NotContains(t, term.run("logs", "--outcome", "refused").is(cli.ExitOK).out, first)
	term.run("logs", "get", first).is(cli.ExitOK).shows("POLICY REVISION")
	term.run("explain", first).is(cli.ExitOK).shows(
		"asked for acme/small", "answered with status 200 by north", "policy revision 3", "from the workspace",
		"south:acme/small", "east:acme/small", "zdr_required", "(data_policy, by the workspace profile)", "503 server_error", "fallback_provider", "left out: response_format, seed.",
		"1000 × 0.000000003 USD per million", "1234.567890123 USD", "0.02 USD",
	)
	require.Regexp(t, `\+1000 ms +20 ms +1 ms +north`, term.run("explain", first).out)
	require.Equal(t, first, term.run("explain", first, "-o", "json").is(cli.ExitOK).json()["data"].(map[string]any)["id"])
}

func TestFollowShowsRequestsAsTheyArrive(t *testing.T) {
	term := newTerminal(t)
	ws := term.signIn()
	var out transcript.Buffer
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	done := make(chan int, 1)
	go func() {
		done <- cli.Execute(ctx, term.deps(&out, io.Discard), []string{"logs", "--follow", "-o", "json"})
	}()
	first, second := term.served(ws, 1), term.served(ws, 2)
	require.Eventually(t, func() bool {
		text := out.String()
		return strings.Contains(text, first) && strings.Contains(text, second)
	}, 15*time.Second, 20*time.Millisecond)
	third := term.served(ws, 3)
	require.Eventually(t, func() bool { return strings.Contains(out.String(), third) }, 15*time.Second, 20*time.Millisecond)
	interrupt()
	require.Equal(t, cli.ExitInterrupted, <-done)
	require.Equal(t, 1, strings.Count(out.String(), `"id":"`+first), "a request was shown twice")
	require.Len(t, strings.Split(strings.TrimSpace(out.String()), "\n"), 3)
}
