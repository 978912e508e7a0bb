package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoutingProfiles(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("profiles")
	const path = "/v1/routing/profiles"
	full := `{"default_model":"openai/gpt-5","fallback_models":["anthropic/claude-sonnet-4.5"],"routing_mode":"price",
		"provider":{"order":["openai"],"only":["openai","anthropic"],"allow_fallbacks":false,"sort":"latency","require_parameters":true,
			"max_price":{"input":"2.50","output":"20.00"},"preferred_max_latency":1.5,"preferred_min_throughput":40,"cache_aware_routing":false},
		"timeouts":{"first_byte_ms":5000,"request_ms":60000},"retries":0,"affinity":false}`

	made := p.do(call{method: "POST", path: path, token: w.key, body: `{"name":"Careful","routing":` + full + `}`}).is(http.StatusCreated)
	id := made.data()["id"].(string)
	require.Regexp(t, `^profile_`, id)
	require.Regexp(t, `^pub_`, made.json()["publication"].(map[string]any)["id"])
	got := p.do(call{method: "GET", path: path + "/" + id, token: w.key}).is(http.StatusOK)
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	require.Equal(t, made.data()["routing"], got.data()["routing"])
	routing := got.data()["routing"].(map[string]any)
	require.Equal(t, map[string]any{"input": "2.50", "output": "20.00"}, routing["provider"].(map[string]any)["max_price"])
	require.NotContains(t, routing, "auto", "what is not set is left out")
	require.InDelta(t, 0, routing["retries"], 0, "none is a number too")
	many := p.do(call{method: "POST", path: path, token: w.key, body: `{"name":"many","routing":{"retries":4,"timeouts":{"request_ms":1}}}`}).problem(http.StatusBadRequest, "validation_error")
	require.Len(t, *many.Violations, 2, "every problem at once")
	require.Equal(t, map[string]any{"workspace": false, "departments": []any{}, "keys": []any{}, "more": 0.0}, got.data()["bindings"])

	taken := p.do(call{method: "POST", path: path, token: w.key, body: `{"name":"careful"}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "name", (*taken.Violations)[0].Path)
	require.Len(t, p.do(call{method: "GET", path: path + "?name=CAREFUL", token: w.key}).is(http.StatusOK).json()["data"], 1)
	require.Empty(t, p.do(call{method: "GET", path: path + "?name=other", token: w.key}).is(http.StatusOK).json()["data"])

	p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"routing_profile_id":"` + id + `"}`}).is(http.StatusOK)
	require.Equal(t, id, p.do(call{method: "GET", path: "/v1/settings", token: w.key}).is(http.StatusOK).data()["routing_profile_id"])
	inUse := p.do(call{method: "DELETE", path: path + "/" + id, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Contains(t, inUse.Detail, "the whole workspace")
	require.Equal(t, "settings.routing_profile_id", (*inUse.Violations)[0].Path)

	stale := header(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"name":"x"}`}, "If-Match", `"9"`)
	p.do(stale).problem(http.StatusPreconditionFailed, "precondition_failed")
	changed := p.do(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"routing":{"auto":true}}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{"auto": true}, changed.data()["routing"], "routing is replaced as a whole")
	require.Equal(t, "Careful", changed.data()["name"])

	p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"routing_profile_id":null}`}).is(http.StatusOK)
	require.Equal(t, map[string]any{"id": id, "deleted": true}, p.do(call{method: "DELETE", path: path + "/" + id, token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "GET", path: path + "/" + id, token: w.key}).problem(http.StatusNotFound, "not_found")

	events := p.do(call{method: "GET", path: "/v1/audit-events?target_id=" + id, token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, events, 3)
	require.Equal(t, "profile.delete", events[0].(map[string]any)["action"])
	require.Contains(t, events[2].(map[string]any)["diff"], map[string]any{"path": "routing.provider.max_price.input", "before": "", "after": "2.50"})
}

func TestDepartmentsAndBindings(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("departments")
	cheap := p.newProfile(w, `{"name":"cheap","routing":{"routing_mode":"price","provider":{"only":["openai","anthropic"]}}}`)
	careful := p.newProfile(w, `{"name":"careful","routing":{"provider":{"ignore":["anthropic"]},"default_model":"openai/gpt-5"}}`)
	made := p.do(call{method: "POST", path: "/v1/departments", token: w.key, body: `{"name":"Research","routing_profile_id":"` + cheap + `"}`}).is(http.StatusCreated)
	department := made.data()["id"].(string)
	require.Regexp(t, `^dept_`, department)
	path := "/v1/departments/" + department
	got := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK)
	require.Equal(t, made.data(), got.data())
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	p.do(call{method: "POST", path: "/v1/departments", token: w.key, body: `{"name":"research"}`}).problem(http.StatusConflict, "conflict")
	require.Len(t, p.do(call{method: "GET", path: "/v1/departments?name=RESEARCH", token: w.key}).is(http.StatusOK).json()["data"], 1)

	key := p.do(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"ci","department_id":"` + department + `"}`}).is(http.StatusCreated).data()
	id := key["id"].(string)
	require.Equal(t, department, key["department_id"])
	bound := p.do(call{method: "PATCH", path: "/v1/keys/" + id, token: w.key, body: `{"routing_profile_id":"` + careful + `"}`}).is(http.StatusOK).data()
	require.Equal(t, careful, bound["routing_profile_id"])
	require.Equal(t, department, bound["department_id"], "an absent field was changed")
	require.Equal(t, map[string]any{"workspace": false, "departments": []any{department}, "keys": []any{}, "more": 0.0},
		p.do(call{method: "GET", path: "/v1/routing/profiles/" + cheap, token: w.key}).is(http.StatusOK).data()["bindings"])

	resolved := p.do(call{method: "GET", path: "/v1/routing/effective?key=" + id, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, id, resolved["key_id"])
	require.Subset(t, resolved["fields"], []any{
		map[string]any{"field": "routing_mode", "value": "price", "rung": "department", "routing_profile_id": cheap},
		map[string]any{"field": "provider.only", "value": "openai,anthropic", "rung": "department", "routing_profile_id": cheap},
		map[string]any{"field": "provider.ignore", "value": "anthropic", "rung": "key", "routing_profile_id": careful},
		map[string]any{"field": "default_model", "value": "openai/gpt-5", "rung": "key", "routing_profile_id": careful},
	})
	require.Equal(t, "openai/gpt-5", resolved["routing"].(map[string]any)["default_model"])
	whole := p.do(call{method: "GET", path: "/v1/routing/effective", token: w.key}).is(http.StatusOK).data()
	require.NotContains(t, whole, "key_id")
	require.NotContains(t, whole["routing"], "default_model", "the workspace has none")

	peopled := p.do(call{method: "DELETE", path: path, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Contains(t, peopled.Detail, id)
	inUse := p.do(call{method: "DELETE", path: "/v1/routing/profiles/" + careful, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Contains(t, inUse.Detail, id)

	// What only revoked keys hold can be deleted.
	p.do(call{method: "DELETE", path: "/v1/keys/" + id, token: w.key}).is(http.StatusOK)
	p.do(call{method: "DELETE", path: "/v1/routing/profiles/" + careful, token: w.key}).is(http.StatusOK)
	p.do(call{method: "PATCH", path: path, token: w.key, body: `{"routing_profile_id":null}`}).is(http.StatusOK)
	require.NotContains(t, p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data(), "routing_profile_id")
	p.do(call{method: "DELETE", path: path, token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path, token: w.key}).problem(http.StatusNotFound, "not_found")
	require.NotContains(t, p.do(call{method: "GET", path: "/v1/keys/" + id, token: w.key}).is(http.StatusOK).data(), "department_id")
}

// A member makes and changes keys of their own, and chooses no policy for them:
// else they would take off what an admin put on.
func TestMembersBindNothing(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("binding")
	member := p.scoped(w, "keys:write", "keys:read", "routing:read")
	p.join(w, member, "member")
	profile := p.newProfile(w, `{"name":"strict"}`)
	id := p.do(call{method: "POST", path: "/v1/keys", token: member, body: `{"name":"own"}`}).is(http.StatusCreated).data()["id"].(string)
	p.do(call{method: "PATCH", path: "/v1/keys/" + id, token: w.key, body: `{"routing_profile_id":"` + profile + `"}`}).is(http.StatusOK)
	for _, body := range []string{`{"routing_profile_id":null}`, `{"department_id":null}`, `{"routing_profile_id":"` + profile + `"}`} {
		p.do(call{method: "PATCH", path: "/v1/keys/" + id, token: member, body: body}).problem(http.StatusForbidden, "forbidden")
	}
	p.do(call{method: "POST", path: "/v1/keys", token: member, body: `{"name":"x","routing_profile_id":"` + profile + `"}`}).problem(http.StatusForbidden, "forbidden")
	renamed := p.do(call{method: "PATCH", path: "/v1/keys/" + id, token: member, body: `{"name":"renamed"}`}).is(http.StatusOK).data()
	require.Equal(t, profile, renamed["routing_profile_id"])
	p.do(call{method: "GET", path: "/v1/routing/effective?key=" + id, token: member}).is(http.StatusOK)
}

// TestTheStateOfAKeyIsItsRefusal: what holds for a key that is not let in is
// that it is not.
func TestTheStateOfAKeyIsItsRefusal(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("acme")
	key, _ := p.newKey(w, "ours")
	refusal := func() any {
		return p.do(call{method: "GET", path: "/v1/routing/effective?key=" + key, token: w.key}).is(http.StatusOK).data()["refusal"]
	}
	require.Nil(t, refusal())
	for _, c := range []struct{ method, step, reason string }{{"POST", "/pause", "key_paused"}, {"POST", "/resume", ""}, {"DELETE", "", "key_revoked"}} {
		p.do(call{method: c.method, path: "/v1/keys/" + key + c.step, token: w.key}).is(http.StatusOK)
		if c.reason == "" {
			require.Nil(t, refusal(), c.step)
			continue
		}
		told, _ := refusal().(map[string]any)
		require.Equal(t, []any{"unauthorized", c.reason}, []any{told["code"], told["reason"]}, c.step)
	}
}
