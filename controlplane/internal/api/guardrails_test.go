package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuardrails(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("guardrails")
	const path = "/v1/guardrails"
	body := `{"name":"Careful","description":"for the interns","enabled":true,"whole_workspace":false,
		"models":{"allow":["openai/*"],"block":["openai/gpt-5"]},"providers":{"allow":["OPENAI"],"block":["anthropic"]},
		"data_policy":{"require_zero_data_retention":false,"deny_training":false}}`
	create := header(call{method: "POST", path: path, token: w.key, body: body}, "Idempotency-Key", "once")
	made := p.do(create).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(create).is(http.StatusCreated).json(), "a repeated call is one guardrail")
	id := made.data()["id"].(string)
	require.Regexp(t, `^guard_`, id)
	require.Regexp(t, `^pub_`, made.json()["publication"].(map[string]any)["id"])
	got := p.do(call{method: "GET", path: path + "/" + id, token: w.key}).is(http.StatusOK)
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	shown := got.data()
	require.Equal(t, map[string]any{"keys": []any{}, "members": []any{}, "more": 0.0}, shown["bindings"])
	delete(shown, "bindings")
	require.Equal(t, made.data(), shown)
	require.Equal(t, map[string]any{"allow": []any{"openai/*"}, "block": []any{"openai/gpt-5"}}, shown["models"])
	require.Equal(t, map[string]any{"allow": []any{"openai"}, "block": []any{"anthropic"}}, shown["providers"])

	taken := p.do(call{method: "POST", path: path, token: w.key, body: `{"name":"careful"}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "name", (*taken.Violations)[0].Path)
	require.Len(t, p.do(call{method: "GET", path: path + "?name=CAREFUL", token: w.key}).is(http.StatusOK).json()["data"], 1)
	p.newGuardrail(w, `{"name":"another"}`)
	first := p.do(call{method: "GET", path: path + "?limit=1", token: w.key}).is(http.StatusOK).json()
	require.Len(t, first["data"], 1)
	require.NotNil(t, first["next_cursor"])

	stale := header(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"enabled":false}`}, "If-Match", `"9"`)
	p.do(stale).problem(http.StatusPreconditionFailed, "precondition_failed")
	changed := p.do(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"models":{"block":["openai/gpt-5"]},"whole_workspace":true}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{"allow": []any{}, "block": []any{"openai/gpt-5"}}, changed.data()["models"], "the lists are replaced as a whole")
	require.Equal(t, []any{"openai"}, changed.data()["providers"].(map[string]any)["allow"], "and others stay")
	require.NotEqual(t, made.header.Get("ETag"), changed.header.Get("ETag"))
	inUse := p.do(call{method: "DELETE", path: path + "/" + id, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "whole_workspace", (*inUse.Violations)[0].Path)
	p.do(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"whole_workspace":false}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{"id": id, "deleted": true}, p.do(call{method: "DELETE", path: path + "/" + id, token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "GET", path: path + "/" + id, token: w.key}).problem(http.StatusNotFound, "not_found")
}

// A guardrail is bound to keys and members; what a key is held to shows every
// one, by the widest way in which it binds.
func TestBindingGuardrails(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("binding")
	key, _ := p.newKey(w, "bound")
	g, second := p.newGuardrail(w, `{"name":"a","providers":{"block":["anthropic"]}}`), p.newGuardrail(w, `{"name":"b","data_policy":{"deny_training":true}}`)
	path := "/v1/guardrails/" + g
	bound := p.do(call{method: "POST", path: path + "/keys/add?wait=20s", token: w.key, body: `{"key_ids":["` + key + `"]}`}).is(http.StatusOK)
	require.Equal(t, `"2"`, bound.header.Get("ETag"))
	require.Equal(t, g, bound.data()["id"])
	p.do(call{method: "POST", path: "/v1/guardrails/" + second + "/keys/add", token: w.key, body: `{"key_ids":["` + key + `"]}`}).is(http.StatusOK)
	p.do(call{method: "POST", path: path + "/members/add", token: w.key, body: `{"user_ids":["` + w.user + `"]}`}).is(http.StatusOK)
	p.do(header(call{method: "POST", path: path + "/members/remove", token: w.key, body: `{"user_ids":["` + w.user + `"]}`}, "If-Match", `"2"`)).
		problem(http.StatusPreconditionFailed, "precondition_failed")

	keys := p.do(call{method: "GET", path: path + "/keys", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, key, keys[0].(map[string]any)["key_id"])
	require.NotEmpty(t, keys[0].(map[string]any)["added_at"])
	members := p.do(call{method: "GET", path: path + "/members", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, w.user, members[0].(map[string]any)["user_id"])
	require.Equal(t, map[string]any{"keys": []any{key}, "members": []any{w.user}, "more": 0.0},
		p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data()["bindings"])

	effective := p.do(call{method: "GET", path: "/v1/routing/effective?key=" + key, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, []any{
		map[string]any{"id": g, "name": "a", "scope": "member"}, map[string]any{"id": second, "name": "b", "scope": "key"},
	}, effective["guardrails"])
	require.Contains(t, effective["fields"], map[string]any{"field": "guardrail.providers.block", "value": "anthropic", "rung": "member_guardrail", "guardrail_id": g})
	require.Equal(t, true, effective["routing"].(map[string]any)["provider"].(map[string]any)["deny_training"])

	inUse := p.do(call{method: "DELETE", path: path, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Len(t, *inUse.Violations, 2)
	p.do(call{method: "POST", path: path + "/members/remove", token: w.key, body: `{"user_ids":["` + w.user + `"]}`}).is(http.StatusOK)
	off := call{method: "POST", path: "/v1/guardrails/" + second + "/keys/remove", token: w.key, body: `{"key_ids":["` + key + `"]}`}
	require.Equal(t, second, p.do(off).is(http.StatusOK).data()["id"])
	require.Empty(t, p.do(call{method: "GET", path: "/v1/guardrails/" + second + "/keys", token: w.key}).is(http.StatusOK).json()["data"])
	p.do(call{method: "DELETE", path: "/v1/keys/" + key, token: w.key}).is(http.StatusOK)
	p.do(call{method: "DELETE", path: path, token: w.key}).is(http.StatusOK)
	events := p.do(call{method: "GET", path: "/v1/audit-events?action=guardrail.remove_members", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, []any{map[string]any{"path": "members", "before": w.user, "after": ""}}, events[0].(map[string]any)["diff"])
}

// Members see what holds for them and take nothing of it off.
func TestMembersTakeNoGuardrailOff(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("held")
	member := p.scoped(w, "keys:write", "guardrails:read", "guardrails:write")
	p.join(w, member, "member")
	g := p.newGuardrail(w, `{"name":"strict"}`)
	p.do(call{method: "GET", path: "/v1/guardrails/" + g, token: member}).is(http.StatusOK)
	for _, c := range []call{
		post("/v1/guardrails", `{"name":"x"}`), patch("/v1/guardrails/"+g, `{"enabled":false}`),
		{method: "DELETE", path: "/v1/guardrails/" + g},
		post("/v1/guardrails/"+g+"/members/remove", `{"user_ids":["`+w.user+`"]}`), post("/v1/guardrails/"+g+"/keys/remove", `{"key_ids":["key_0000000000e008ztk5wvz3r2m1"]}`),
	} {
		c.token = member
		p.do(c).problem(http.StatusForbidden, "forbidden")
	}
}
