package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wholeConfig sets every field of a preset's configuration.
const wholeConfig = `{"system_prompt":"Be brief.","model":"openai/gpt-5","allowed_models":["openai/*"],"fallback_models":["openai/gpt-5-mini"],
	"routing_mode":"latency","provider":{"order":["OPENAI"],"require_zero_data_retention":false,"max_price":{"input":"10"},"deny_training":true,"allow_fallbacks":true},
	"allowed_providers":["openai"],"denied_providers":["anthropic"],"provider_weights":{"openai":2.5},
	"params":{"temperature":0.2,"seed":9007199254740993,"tools":[]},"guardrail_ids":["GUARDRAIL"],"cache":{"enabled":true,"ttl_seconds":60}}`

func TestPresets(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("presets")
	guardrail := p.newGuardrail(w, `{"name":"g"}`)
	config := strings.Replace(wholeConfig, "GUARDRAIL", guardrail, 1)
	create := header(call{method: "POST", path: "/v1/presets", token: w.key, body: `{"slug":"help.desk:v1","name":"Help desk","description":"d","config":` + config + `}`}, "Idempotency-Key", "once")
	made := p.do(create).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(create).is(http.StatusCreated).json(), "a repeated call is one preset")
	require.Equal(t, "@help.desk:v1", made.data()["canonical_model"])
	require.Equal(t, "team", made.data()["visibility"])
	require.Nil(t, made.data()["latest_version"])
	require.Equal(t, true, made.data()["changed"])
	require.Equal(t, w.user, made.data()["created_by"])
	shown := made.data()["config"].(map[string]any)
	for _, field := range []string{
		"system_prompt", "model", "allowed_models", "fallback_models", "routing_mode", "provider", "allowed_providers", "denied_providers",
		"provider_weights", "params", "guardrail_ids", "cache",
	} {
		require.Contains(t, shown, field)
	}
	require.Contains(t, made.body, `"seed":9007199254740993`, "numbers stay what they are")
	require.Equal(t, []any{"openai"}, shown["provider"].(map[string]any)["order"])

	for _, path := range []string{"help.desk:v1", "HELP.desk:v1", made.data()["id"].(string)} {
		got := p.do(call{method: "GET", path: "/v1/presets/" + path, token: w.key}).is(http.StatusOK)
		require.Equal(t, made.data(), got.data(), path)
		require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	}
	const path = "/v1/presets/help.desk:v1"
	stale := header(call{method: "PATCH", path: path, token: w.key, body: `{"name":"x"}`}, "If-Match", `"9"`)
	p.do(stale).problem(http.StatusPreconditionFailed, "precondition_failed")
	published := p.do(call{method: "POST", path: path + "/versions?wait=20s", token: w.key, body: `{"release_notes":"first\nrelease"}`}).is(http.StatusCreated)
	require.Equal(t, "v1", published.data()["version_label"])
	require.Equal(t, "first\nrelease", published.data()["release_notes"])
	require.Equal(t, false, published.json()["preset"].(map[string]any)["changed"])
	none := p.do(call{method: "POST", path: path + "/versions", token: w.key, body: `{}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "nothing_to_publish", *none.Reason)

	changed := p.do(call{method: "PATCH", path: path, token: w.key, body: `{"config":{"system_prompt":"","params":{"temperature":1},"default_model":"openai/gpt-5-mini"}}`}).is(http.StatusOK)
	shown = changed.data()["config"].(map[string]any)
	require.NotContains(t, shown, "system_prompt", "an empty field takes it away")
	require.Equal(t, map[string]any{"temperature": 1.0}, shown["params"])
	require.Equal(t, "openai/gpt-5-mini", shown["model"])
	require.Contains(t, shown, "provider", "others stay")
	second := p.do(call{method: "POST", path: path + "/versions", token: w.key, body: `{"deploy":true}`}).is(http.StatusCreated)
	require.Equal(t, "deployed", second.data()["status"])
	first := p.do(call{method: "GET", path: path + "/versions/1", token: w.key}).is(http.StatusOK)
	require.Equal(t, published.data(), first.data(), "a version stays what it was")
	p.do(call{method: "GET", path: path + "/versions/3", token: w.key}).problem(http.StatusNotFound, "not_found")
	diff := p.do(call{method: "GET", path: path + "/versions/1/diff/2", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, []any{
		map[string]any{"path": "model", "before": "openai/gpt-5", "after": "openai/gpt-5-mini"},
		map[string]any{"path": "params.seed", "before": 9007199254740992.0}, // as a float reads it
		map[string]any{"path": "params.temperature", "before": 0.2, "after": 1.0},
		map[string]any{"path": "params.tools", "before": []any{}},
		map[string]any{"path": "system_prompt", "before": "Be brief."},
	}, diff)
	p.do(call{method: "POST", path: path + "/versions/1/deploy", token: w.key}).is(http.StatusOK)
	back := p.do(call{method: "POST", path: path + "/rollback", token: w.key}).is(http.StatusOK)
	require.EqualValues(t, 2, back.data()["version"])
	start := p.do(call{method: "POST", path: path + "/rollback", token: w.key}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "nothing_to_roll_back", *start.Reason)
	versions := p.do(call{method: "GET", path: path + "/versions?limit=1", token: w.key}).is(http.StatusOK).json()
	require.Len(t, versions["data"], 1)
	require.NotNil(t, versions["next_cursor"])
	replacedAll := p.do(call{method: "PATCH", path: path, token: w.key, body: `{"config":{"model":"openai/gpt-5"},"replace_config":true}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{"model": "openai/gpt-5"}, replacedAll.data()["config"])
	p.do(call{method: "DELETE", path: path + "?confirm_name=help.desk:v1", token: w.key}).problem(http.StatusBadRequest, "validation_error")
	archived := p.do(call{method: "DELETE", path: path + "?confirm_name=Help+desk", token: w.key}).is(http.StatusOK)
	require.NotNil(t, archived.data()["archived_at"])
	require.Empty(t, p.do(call{method: "GET", path: "/v1/presets", token: w.key}).is(http.StatusOK).json()["data"])
	require.Len(t, p.do(call{method: "GET", path: "/v1/presets?archived=true&visibility=team", token: w.key}).is(http.StatusOK).json()["data"], 1)
}

func TestPresetsAreSharedAndForked(t *testing.T) {
	p := newPlane(t)
	w, other := p.tenant("acme"), p.tenant("other")
	require.Nil(t, p.do(call{method: "GET", path: "/v1/presets/publisher", token: w.key}).is(http.StatusOK).data()["handle"])
	refused := p.do(call{method: "POST", path: "/v1/presets", token: w.key, body: `{"slug":"desk","visibility":"public"}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "public_profile_required", *refused.Reason)
	p.do(call{method: "PUT", path: "/v1/presets/publisher", token: w.key, body: `{"handle":"Acme"}`}).problem(http.StatusBadRequest, "validation_error")
	require.Equal(t, "acme", p.do(call{method: "PUT", path: "/v1/presets/publisher", token: w.key, body: `{"handle":"acme"}`}).is(http.StatusOK).data()["handle"])
	p.do(call{method: "PUT", path: "/v1/presets/publisher", token: other.key, body: `{"handle":"acme"}`}).problem(http.StatusConflict, "conflict")
	made := p.do(call{method: "POST", path: "/v1/presets", token: w.key, body: `{"slug":"desk","visibility":"public","publish":true,"config":{"system_prompt":"hi"}}`}).is(http.StatusCreated).data()
	require.Equal(t, "@acme/desk", made["canonical_model"])

	fork := p.do(call{method: "POST", path: "/v1/presets/fork", token: other.key, body: `{"from":"@acme/desk","slug":"ours"}`}).is(http.StatusCreated).data()
	require.Equal(t, map[string]any{"preset_id": made["id"], "version": 1.0}, fork["upstream"])
	require.Equal(t, []any{fork["upstream"]}, fork["ancestry"])
	p.do(call{method: "PATCH", path: "/v1/presets/desk", token: w.key, body: `{"config":{"system_prompt":"hello"}}`}).is(http.StatusOK)
	p.do(call{method: "POST", path: "/v1/presets/desk/versions", token: w.key, body: `{"deploy":true}`}).is(http.StatusCreated)
	updated := p.do(call{method: "POST", path: "/v1/presets/ours/upstream", token: other.key, body: `{}`}).is(http.StatusOK).data()
	require.Equal(t, "hello", updated["config"].(map[string]any)["system_prompt"])
	p.do(call{method: "GET", path: "/v1/presets/desk", token: other.key}).problem(http.StatusNotFound, "not_found")
}

// A member has presets of their own; what deploys takes its scope, and what
// reaches beyond the workspace an admin.
func TestPresetsOfMembers(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("members")
	theirs := p.newPreset(w, `{"slug":"theirs","publish":true}`)
	hidden := p.newPreset(w, `{"slug":"hidden","visibility":"private"}`)
	writer := p.scoped(w, "presets:read", "presets:write")
	lacking := p.do(call{method: "POST", path: "/v1/presets", token: writer, body: `{"slug":"x","publish":true}`}).problem(http.StatusForbidden, "insufficient_scope")
	require.Equal(t, []string{"presets:deploy"}, *lacking.MissingScopes)
	p.do(call{method: "POST", path: "/v1/presets/theirs/versions", token: writer, body: `{"deploy":true}`}).problem(http.StatusForbidden, "insufficient_scope")

	member := p.scoped(w, "presets:read", "presets:write", "presets:deploy")
	p.join(w, member, "member")
	p.do(call{method: "GET", path: "/v1/presets/" + theirs, token: member}).is(http.StatusOK)
	p.do(call{method: "GET", path: "/v1/presets/" + hidden, token: member}).problem(http.StatusNotFound, "not_found")
	own := p.do(call{method: "POST", path: "/v1/presets", token: member, body: `{"slug":"own","publish":true}`}).is(http.StatusCreated).data()["id"].(string)
	p.do(call{method: "PATCH", path: "/v1/presets/" + own, token: member, body: `{"description":"mine"}`}).is(http.StatusOK)
	p.do(call{method: "PATCH", path: "/v1/presets/" + own, token: w.key, body: `{"description":"an admin's"}`}).is(http.StatusOK)
	for _, c := range []call{
		patch("/v1/presets/"+theirs, `{"description":"x"}`), post("/v1/presets/"+theirs+"/versions", `{}`), post("/v1/presets/"+theirs+"/versions/1/deploy", ``),
		post("/v1/presets/"+theirs+"/rollback", ``),
		{method: "DELETE", path: "/v1/presets/" + theirs + "?confirm_name=theirs"},
		patch("/v1/presets/"+own, `{"visibility":"public"}`),
		{method: "PUT", path: "/v1/presets/publisher", body: `{"handle":"theirs"}`},
	} {
		c.token = member
		p.do(c).problem(http.StatusForbidden, "forbidden")
	}
}

// What no preset can be called is none, and never a mistake of ours.
func TestPresetsThatCannotBe(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("names")
	p.newPreset(w, `{"slug":"desk","publish":true}`)
	for _, name := range []string{"%00", "desk%00", "@%00", "desk%23" + "1"} {
		p.do(call{method: "GET", path: "/v1/presets/" + name, token: w.key}).problem(http.StatusNotFound, "not_found")
	}
	for _, from := range []string{`\u0000`, `@acme\u0000/desk`, `@acme/desk\u0000`, `@acme/desk#1`, `@/`, `@`} {
		p.do(call{method: "POST", path: "/v1/presets/fork", token: w.key, body: `{"from":"` + from + `","slug":"ours"}`}).problem(http.StatusNotFound, "not_found")
	}
}

// A cursor beyond all numbers is the end of no list and the begin of the first.
func TestCursorsBeyondTheNumbersOfVersions(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("cursors")
	p.newPreset(w, `{"slug":"desk","publish":true}`)
	route := p.newDynamicRoute(w, "a")
	for operation, path := range map[string]string{
		"listPresetVersions": "/v1/presets/desk/versions", "listDynamicRouteVersions": routesPath + "/" + route + "/versions",
	} {
		mark := sha256.Sum256([]byte(operation))
		cursor := base64.RawURLEncoding.EncodeToString(append(bytes.Repeat([]byte{0xff}, 16), mark[:4]...))
		page := p.do(call{method: "GET", path: path + "?cursor=" + cursor, token: w.key}).is(http.StatusOK).json()
		require.Len(t, page["data"], 1, operation)
	}
}
