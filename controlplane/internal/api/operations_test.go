package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestKeysLiveAndDie(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("keys")
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)

	created := p.do(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"first","expires_at":"` + expires +
		`","models":["openai/*"],"surfaces":["chat","messages"]}`}).is(http.StatusCreated)
	key := created.data()
	id := key["id"].(string)
	require.Regexp(t, `^key_`, id)
	require.Regexp(t, `^sb_v1_[0-9a-z]{16}_[0-9A-Za-z]{43}$`, key["key"])
	require.Equal(t, "active", key["status"])
	require.Equal(t, w.user, key["created_by"])
	require.Equal(t, []any{"openai/*"}, key["models"])
	require.Equal(t, []any{"chat", "messages"}, key["surfaces"])
	require.Equal(t, expires, key["expires_at"])
	require.Regexp(t, `^pub_`, created.json()["publication"].(map[string]any)["id"])

	got := p.do(call{method: "GET", path: "/v1/keys/" + id, token: w.key}).is(http.StatusOK)
	require.NotContains(t, got.data(), "key")
	require.Equal(t, created.header.Get("ETag"), got.header.Get("ETag"))
	require.NotContains(t, got.body, key["key"])

	updated := p.do(call{
		method: "PATCH", path: "/v1/keys/" + id, token: w.key,
		body: `{"name":"second","expires_at":null,"models":[],"surfaces":["chat"]}`,
	}).is(http.StatusOK)
	require.Equal(t, "second", updated.data()["name"])
	require.NotContains(t, updated.data(), "expires_at")
	require.Empty(t, updated.data()["models"])
	require.NotEqual(t, created.header.Get("ETag"), updated.header.Get("ETag"))

	kept := p.do(call{method: "PATCH", path: "/v1/keys/" + id, token: w.key, body: `{"name":"third"}`}).is(http.StatusOK)
	require.Equal(t, []any{"chat"}, kept.data()["surfaces"], "an absent field was changed")

	require.Equal(t, "paused", p.do(call{method: "POST", path: "/v1/keys/" + id + "/pause", token: w.key}).is(http.StatusOK).data()["status"])
	require.Equal(t, "active", p.do(call{method: "POST", path: "/v1/keys/" + id + "/resume", token: w.key}).is(http.StatusOK).data()["status"])

	rotated := p.do(call{method: "POST", path: "/v1/keys/" + id + "/rotate", token: w.key, body: `{"grace_seconds":60}`}).is(http.StatusOK).data()
	require.NotEqual(t, key["key"], rotated["key"])
	require.Equal(t, key["kid"], rotated["kid"])
	require.Contains(t, rotated, "previous_secret_until")

	revoked := p.do(call{method: "DELETE", path: "/v1/keys/" + id, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, "revoked", revoked["status"])
	p.do(call{method: "POST", path: "/v1/keys/" + id + "/resume", token: w.key}).problem(http.StatusConflict, "conflict")

	other, _ := p.newKey(w, "other")
	page := p.do(call{method: "GET", path: "/v1/keys?status=active", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, page, 1)
	require.Equal(t, other, page[0].(map[string]any)["id"])
}

func TestManagementKeys(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("mk")
	list := p.do(call{method: "GET", path: "/v1/management-keys", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, list, 1)
	require.Equal(t, "full-control", list[0].(map[string]any)["template"])

	made := p.do(call{method: "POST", path: "/v1/management-keys", token: w.key, body: `{"name":"reader","template":"read-only"}`}).is(http.StatusCreated).data()
	id, reader := made["id"].(string), made["key"].(string)
	require.Regexp(t, `^sb_mk_v1_`, reader)
	p.do(call{method: "GET", path: "/v1/management-keys/" + id, token: w.key}).is(http.StatusOK)

	p.do(call{method: "GET", path: "/v1/keys", token: reader}).is(http.StatusOK)
	refused := p.do(call{method: "POST", path: "/v1/keys", token: reader, body: `{"name":"x"}`}).problem(http.StatusForbidden, "insufficient_scope")
	require.Equal(t, []string{"keys:write"}, *refused.MissingScopes)

	// Nobody grants what they lack.
	granter := p.scoped(w, "management_keys:write", "keys:read")
	p.do(call{method: "POST", path: "/v1/management-keys", token: granter, body: `{"name":"x","scopes":["keys:read"]}`}).is(http.StatusCreated)
	lacking := p.do(call{method: "POST", path: "/v1/management-keys", token: granter, body: `{"name":"x","scopes":["keys:write"]}`}).
		problem(http.StatusForbidden, "insufficient_scope")
	require.Equal(t, []string{"keys:write"}, *lacking.MissingScopes)
	p.do(call{method: "POST", path: "/v1/management-keys", token: granter, body: `{"name":"x","template":"full-control"}`}).
		problem(http.StatusForbidden, "insufficient_scope")

	for _, body := range []string{`{"name":"x"}`, `{"name":"x","template":"read-only","scopes":["keys:read"]}`, `{"name":"x","scopes":["keys:fly"]}`} {
		p.do(call{method: "POST", path: "/v1/management-keys", token: w.key, body: body}).problem(http.StatusBadRequest, "validation_error")
	}

	rotated := p.do(call{method: "POST", path: "/v1/management-keys/" + id + "/rotate", token: w.key, body: `{}`}).is(http.StatusOK).data()
	p.do(call{method: "GET", path: "/v1/keys", token: reader}).problem(http.StatusUnauthorized, "unauthorized")
	fresh := rotated["key"].(string)
	p.do(call{method: "GET", path: "/v1/keys", token: fresh}).is(http.StatusOK)

	p.do(call{method: "DELETE", path: "/v1/management-keys/" + id, token: w.key}).is(http.StatusOK)
	gone := p.do(call{method: "GET", path: "/v1/keys", token: fresh}).problem(http.StatusUnauthorized, "unauthorized")
	require.Equal(t, "key_revoked", *gone.Reason)
}

func TestWorkspaces(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("acme")
	list := p.do(call{method: "GET", path: "/v1/workspaces", token: w.key}).is(http.StatusOK).json()
	require.Len(t, list["data"], 1)
	require.Nil(t, list["next_cursor"])
	require.Equal(t, "acme", p.do(call{method: "GET", path: "/v1/workspaces/" + w.id, token: w.key}).is(http.StatusOK).data()["slug"])

	members := p.do(call{method: "GET", path: "/v1/workspaces/" + w.id + "/members", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, members, 1)
	member := p.do(call{method: "GET", path: "/v1/workspaces/" + w.id + "/members/" + w.user, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, "owner", member["role"])
	require.Equal(t, "acme@example.com", member["email"])

	renamed := p.do(call{method: "PATCH", path: "/v1/workspaces/" + w.id, token: w.key, body: `{"name":"Acme Two"}`}).is(http.StatusOK).data()
	require.Equal(t, "Acme Two", renamed["name"])
	p.do(call{method: "PATCH", path: "/v1/workspaces/" + w.id, token: w.key, body: `{"tags":["vip"]}`}).problem(http.StatusBadRequest, "validation_error")

	who := p.do(call{method: "GET", path: "/v1/whoami", token: w.key}).is(http.StatusOK).data()
	require.Equal(t, w.id, who["workspace_id"])
	require.Equal(t, "owner", who["role"])
	require.Contains(t, who["scopes"], "workspaces:delete")
	require.Equal(t, "operator", p.do(call{method: "GET", path: "/v1/whoami", token: operatorToken}).is(http.StatusOK).data()["kind"])

	_, plaintext := p.newKey(w, "doomed")
	require.NotEmpty(t, plaintext)
	p.do(call{method: "DELETE", path: "/v1/workspaces/" + w.id + "?confirm_name=Acme", token: w.key}).problem(http.StatusBadRequest, "validation_error")
	p.do(call{method: "DELETE", path: "/v1/workspaces/" + w.id + "?confirm_name=Acme+Two", token: w.key}).is(http.StatusOK)
	gone := p.do(call{method: "GET", path: "/v1/workspaces/" + w.id, token: w.key}).problem(http.StatusUnauthorized, "unauthorized")
	require.Equal(t, "key_revoked", *gone.Reason)

	p.do(call{
		method: "POST", path: "/v1/platform/workspaces", token: operatorToken,
		body: `{"name":"A","slug":"again","owner":{"email":"a@example.com"}}`,
	}).is(http.StatusCreated)
	taken := p.do(call{
		method: "POST", path: "/v1/platform/workspaces", token: operatorToken,
		body: `{"name":"B","slug":"again","owner":{"email":"a@example.com"}}`,
	}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "slug", (*taken.Violations)[0].Path)
	all := p.do(call{method: "GET", path: "/v1/platform/workspaces", token: operatorToken}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, all, 2, "a refused creation left something behind")
}

func TestSettingsAndTheirRecords(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("settings")
	before := p.do(call{method: "GET", path: "/v1/settings", token: w.key}).is(http.StatusOK)
	require.Equal(t, "balanced", before.data()["routing_mode"])
	require.Nil(t, before.data()["default_model"])

	changed := p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"routing_mode":"price","default_model":"openai/gpt-5",
		"fallback_models":["anthropic/claude-sonnet-4.5"],"beta_channel":true,"alpha_channel":true,"byok_fallback_enabled":false,
		"retired_model_routing":true,"models_without_model":"use_first","max_attempts":3,"max_models":5,"cache_aware_routing":false,
		"replay_values":true,"log_retention_days":7,"require_zero_data_retention":true,"deny_training":true}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{
		"routing_mode": "price", "default_model": "openai/gpt-5", "fallback_models": []any{"anthropic/claude-sonnet-4.5"},
		"beta_channel": true, "alpha_channel": true, "byok_fallback_enabled": false, "retired_model_routing": true,
		"models_without_model": "use_first", "max_attempts": 3.0, "max_models": 5.0, "cache_aware_routing": false,
		"replay_values": true, "log_retention_days": 7.0, "require_zero_data_retention": true, "deny_training": true,
		"routing_profile_id": nil,
	}, changed.data())
	require.Nil(t, p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"default_model":null}`}).is(http.StatusOK).data()["default_model"])
	bad := p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"beta_channel":false}`}).problem(http.StatusBadRequest, "validation_error")
	require.Equal(t, "alpha_channel", (*bad.Violations)[0].Path)

	events := p.do(call{method: "GET", path: "/v1/audit-events?action=settings.update", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, events, 2)
	event := events[1].(map[string]any)
	require.Equal(t, changed.header.Get("X-Signalbox-Request-Id"), event["request_id"])
	require.Equal(t, w.keyID, event["actor"].(map[string]any)["id"])
	require.Contains(t, event["diff"], map[string]any{"path": "routing_mode", "before": "balanced", "after": "price"})
	require.Empty(t, p.do(call{method: "GET", path: "/v1/audit-events?action=key.create", token: w.key}).is(http.StatusOK).json()["data"])
	require.Len(t, p.do(call{method: "GET", path: "/v1/audit-events?actor_id=" + w.user + "&target_type=settings&until=2100-01-01T00:00:00Z", token: w.key}).
		is(http.StatusOK).json()["data"], 2)

	ref := changed.json()["publication"].(map[string]any)
	publication := p.do(call{method: "GET", path: "/v1/publications/" + ref["id"].(string), token: w.key}).is(http.StatusOK).data()
	require.Equal(t, []any{"settings.update"}, publication["changes"])
	require.Equal(t, ref["revision"], publication["revision"])
	require.NotEmpty(t, p.do(call{method: "GET", path: "/v1/publications?limit=2", token: w.key}).is(http.StatusOK).json()["next_cursor"])
	require.Empty(t, p.do(call{method: "GET", path: "/v1/gateways", token: w.key}).is(http.StatusOK).json()["data"])
}

func TestWaitForReceipts(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("wait")
	// Without gateways a change is done when it is in NATS.
	p.do(call{method: "PATCH", path: "/v1/settings?wait=20s", token: w.key, body: `{"max_attempts":2}`}).is(http.StatusOK)
	p.nats.Stop()
	waited := p.do(call{method: "PATCH", path: "/v1/settings?wait=50ms", token: w.key, body: `{"max_attempts":4}`}).is(http.StatusAccepted)
	require.EqualValues(t, 4, waited.data()["max_attempts"], "the body is the same, only the status differs")
	require.EqualValues(t, 1, waited.json()["publication"].(map[string]any)["pending"], "what is not published is pending")
	p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"max_attempts":5}`}).is(http.StatusOK)
	for _, wait := range []string{"31s", "5", "-1s", "1h", "999999ms"} {
		p.do(call{method: "PATCH", path: "/v1/settings?wait=" + wait, token: w.key, body: `{"max_attempts":6}`}).problem(http.StatusBadRequest, "validation_error")
	}
}

func TestLogsAndUsageOfAnIdleWorkspace(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("idle")
	require.Empty(t, p.do(call{method: "GET", path: "/v1/logs?outcome=success&status=2xx", token: w.key}).is(http.StatusOK).json()["data"])
	usage := p.do(call{method: "GET", path: "/v1/usage?group_by=model&interval=day&since=2026-01-01T00:00:00Z", token: w.key}).is(http.StatusOK).data()
	require.Empty(t, usage["rows"])
	require.Equal(t, "0.00", usage["totals"].(map[string]any)["cost_usd"])
}
