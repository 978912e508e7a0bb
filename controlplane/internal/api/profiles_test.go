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
		"timeouts":{"first_byte_ms":5000,"request_ms":60000},"affinity":false}`

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
	require.Equal(t, map[string]any{"workspace": false}, got.data()["bindings"])

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
