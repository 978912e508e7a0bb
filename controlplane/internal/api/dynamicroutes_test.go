package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("routes")
	body := `{"name":"By plan","description":"who pays","config":` + aGraph + `,"note":"first"}`
	create := header(call{method: "POST", path: routesPath, token: w.key, body: body}, "Idempotency-Key", "once")
	made := p.do(create).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(create).is(http.StatusCreated).json(), "a repeated call is one route")
	require.Empty(t, made.json()["warnings"])
	route := made.data()
	id := route["id"].(string)
	require.Regexp(t, `^route_`, id)
	require.Equal(t, []any{"by-plan", "active", 1.0, nil, []any{}}, []any{route["slug"], route["status"], route["latest_version"], route["deployed_version"], route["key_ids"]})
	config, err := json.Marshal(route["config"])
	require.NoError(t, err)
	require.JSONEq(t, aGraph, string(config))
	path := routesPath + "/" + id
	got := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK)
	require.Equal(t, route, got.data())
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))

	stale := header(call{method: "PATCH", path: path, token: w.key, body: `{"status":"paused"}`}, "If-Match", `"9"`)
	require.Equal(t, int64(1), *p.do(stale).problem(http.StatusPreconditionFailed, "precondition_failed").CurrentVersion)
	changed := p.do(call{method: "PATCH", path: path, token: w.key, body: `{"status":"paused","slug":"plans"}`}).is(http.StatusOK)
	require.Equal(t, []any{"paused", "plans", 1.0}, []any{changed.data()["status"], changed.data()["slug"], changed.data()["latest_version"]})
	p.do(call{method: "PATCH", path: path, token: w.key, body: `{"status":"active"}`}).is(http.StatusOK)

	p.newDynamicRoute(w, "another")
	first := p.do(call{method: "GET", path: routesPath + "?limit=1", token: w.key}).is(http.StatusOK).json()
	require.NotNil(t, first["next_cursor"])
	found := p.do(call{method: "GET", path: routesPath + "?name=PLANS", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Empty(t, found, "a slug is as it is written")
	found = p.do(call{method: "GET", path: routesPath + "?name=plans", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Zero(t, found[0].(map[string]any)["key_count"])

	p.do(call{method: "DELETE", path: path, token: w.key}).problem(http.StatusBadRequest, "validation_error")
	p.do(call{method: "DELETE", path: path + "?confirm_name=by+plan", token: w.key}).problem(http.StatusBadRequest, "validation_error")
	gone := p.do(call{method: "DELETE", path: path + "?confirm_name=By+plan", token: w.key}).is(http.StatusOK)
	require.Equal(t, map[string]any{"id": id, "deleted": true}, gone.data())
	p.do(call{method: "GET", path: path, token: w.key}).problem(http.StatusNotFound, "not_found")
	require.Len(t, p.do(call{method: "GET", path: path + "/versions", token: w.key}).is(http.StatusOK).json()["data"], 1)
}

func TestVersionsOfDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("versions")
	path := routesPath + "/" + p.newDynamicRoute(w, "a")
	second := strings.Replace(aGraph, "openai/gpt-5", "openai/gpt-5-mini", 1)
	save := func(config string) call {
		return call{method: "POST", path: path + "/versions", token: w.key, body: `{"config":` + config + `,"note":"cheaper"}`}
	}
	saved := p.do(save(second)).is(http.StatusCreated)
	require.Equal(t, []any{2.0, "draft", "cheaper", 1.0, w.user}, []any{
		saved.data()["version"], saved.data()["status"], saved.data()["note"], saved.data()["parent"], saved.data()["created_by"],
	})
	again := p.do(save(second)).is(http.StatusOK)
	require.Equal(t, saved.data(), again.data())
	require.NotContains(t, again.json(), "publication")
	require.Equal(t, saved.header.Get("ETag"), again.header.Get("ETag"))
	require.Equal(t, saved.data(), p.do(call{method: "GET", path: path + "/versions/2", token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "GET", path: path + "/versions/9", token: w.key}).problem(http.StatusNotFound, "not_found")
	page := p.do(call{method: "GET", path: path + "/versions?limit=1", token: w.key}).is(http.StatusOK).json()
	require.Equal(t, []any{2.0}, []any{page["data"].([]any)[0].(map[string]any)["version"]})
	rest := p.do(call{method: "GET", path: path + "/versions?cursor=" + page["next_cursor"].(string), token: w.key}).is(http.StatusOK).json()
	require.Equal(t, []any{1.0, nil}, []any{rest["data"].([]any)[0].(map[string]any)["version"], rest["next_cursor"]})

	diff := p.do(call{method: "GET", path: path + "/versions/1/diff/2", token: w.key}).is(http.StatusOK).data()
	require.Equal(t, []any{map[string]any{"node": "m", "fields": []any{map[string]any{"path": "model", "before": "openai/gpt-5", "after": "openai/gpt-5-mini"}}}}, diff["changed"])
	trial := p.do(call{method: "POST", path: path + "/versions/2/test", token: w.key, body: `{"facts":{"body":{"model":"x"},"usage":{"daily":{"requests":3,"cost_usd":"1.5"}}}}`}).is(http.StatusOK).data()
	require.Equal(t, []any{[]any{"s", "m", "e"}, "openai/gpt-5-mini"}, []any{trial["visited"], trial["action"].(map[string]any)["model"]})

	const canary = "canary-7f3a"
	bad := `{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},{"id":"m","type":"model","model":"` + canary + `","shade":1,"next":"gone"}]}`
	refused := p.do(save(bad))
	require.NotContains(t, refused.body, canary)
	places := map[string]string{}
	for _, v := range *refused.problem(http.StatusBadRequest, "validation_error").Violations {
		places[v.Path] = *pointed(v.Node)
	}
	for _, place := range []string{"config.nodes[1].model", "config.nodes[1].shade", "config.nodes[1].next"} {
		require.Equal(t, "m", places[place], "%s in %v", place, places)
	}
}

func TestReplayOfDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("replays")
	key, _ := p.newKey(w, "used")
	event := p.served(w, key, "session-7")
	route := p.newDynamicRoute(w, "a")
	p.do(call{method: "PUT", path: routesPath + "/" + route + "/keys", token: w.key, body: `{"key_ids":["` + key + `"]}`}).is(http.StatusOK)
	replay := func(version, body string) answer {
		return p.do(call{method: "POST", path: routesPath + "/" + route + "/versions/" + version + "/replay", token: w.key, body: body})
	}
	report := replay("1", `{"limit":1}`).is(http.StatusOK).data()
	replay("1", "").is(http.StatusOK)
	require.Equal(t, []any{1.0, nil, true, 1.0, 1.0, 0.0}, []any{
		report["version"], report["baseline_version"], report["limited"], report["requests"], report["comparable"], report["unknown_total"],
	})
	oldest, err := time.Parse(time.RFC3339, report["oldest"].(string))
	require.NoError(t, err)
	require.True(t, event.ID.Time().Equal(oldest))
	require.Len(t, report["by_node"], 3)
	require.Equal(t, map[string]any{"requests": 0.0, "before_ms": 0.0, "after_ms": 0.0, "delta_ms": 0.0}, report["latency"])

	empty := replay("1", `{"since":"`+time.Now().Add(-time.Second).UTC().Format(time.RFC3339)+`"}`)
	require.NotNil(t, empty.is(http.StatusOK).data()["models"])
	replay("1", `{"limit":10001}`).problem(http.StatusBadRequest, "validation_error")
	replay("1", `{"since":"2001-01-01T00:00:00Z"}`).problem(http.StatusBadRequest, "validation_error")
	replay("9", `{}`).problem(http.StatusNotFound, "not_found")
}

func pointed(text *string) *string {
	if text == nil {
		return new(string)
	}
	return text
}

func TestDeployingDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("deploys")
	path := routesPath + "/" + p.newDynamicRoute(w, "a")
	p.do(call{method: "POST", path: path + "/rollback", token: w.key}).problem(http.StatusConflict, "conflict")
	deployed := p.do(call{method: "POST", path: path + "/versions/1/deploy?wait=20s", token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{1.0}, []any{deployed.data()["deployed_version"]})
	require.Regexp(t, `^pub_`, deployed.json()["publication"].(map[string]any)["id"])
	again := p.do(call{method: "POST", path: path + "/versions/1/deploy", token: w.key}).is(http.StatusOK)
	require.NotContains(t, again.json(), "publication")
	require.Equal(t, deployed.header.Get("ETag"), again.header.Get("ETag"))
	p.do(header(call{method: "POST", path: path + "/versions/1/deploy", token: w.key}, "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")

	p.do(call{method: "PATCH", path: path, token: w.key, body: `{"config":` + strings.Replace(aGraph, "gpt-5", "gpt-5-mini", 1) + `}`}).is(http.StatusOK)
	p.do(call{method: "POST", path: path + "/versions/2/deploy", token: w.key}).is(http.StatusOK)
	back := p.do(call{method: "POST", path: path + "/rollback", token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{1.0, 2.0}, []any{back.data()["deployed_version"], back.data()["latest_version"]})
	p.do(call{method: "POST", path: path + "/rollback", token: w.key}).problem(http.StatusConflict, "conflict")

	one, _ := p.newKey(w, "one")
	keys := call{method: "PUT", path: path + "/keys", token: w.key, body: `{"key_ids":["` + one + `"]}`}
	attached := p.do(keys).is(http.StatusOK)
	require.Equal(t, []any{[]any{one}, []any{}}, []any{attached.data()["key_ids"], attached.json()["moved"]})
	require.NotContains(t, p.do(keys).is(http.StatusOK).json(), "publication", "nothing changed")
	id := attached.data()["id"]
	require.Equal(t, id, p.do(call{method: "GET", path: "/v1/keys/" + one, token: w.key}).is(http.StatusOK).data()["dynamic_route_id"])
	keys.path = routesPath + "/" + p.newDynamicRoute(w, "b") + "/keys"
	require.Equal(t, []any{map[string]any{"key_id": one, "from": id}}, p.do(keys).is(http.StatusOK).json()["moved"])
	p.do(call{method: "DELETE", path: "/v1/keys/" + one, token: w.key}).is(http.StatusOK)
	p.do(keys).problem(http.StatusBadRequest, "validation_error")
}

// Saving and deploying are two rights, and members have neither.
func TestWhoDeploysDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("rights")
	path := routesPath + "/" + p.newDynamicRoute(w, "a")
	writer := p.scoped(w, "routing:write")
	for _, c := range []call{{method: "POST", path: path + "/versions/1/deploy"}, {method: "POST", path: path + "/rollback"}, {method: "PUT", path: path + "/keys", body: `{"key_ids":[]}`}} {
		c.token = writer
		require.Equal(t, []string{"routing:deploy"}, *p.do(c).problem(http.StatusForbidden, "insufficient_scope").MissingScopes)
	}
	member := p.scoped(w, "routing:read", "routing:write", "routing:deploy")
	p.join(w, member, "member")
	p.do(call{method: "GET", path: path, token: member}).is(http.StatusOK)
	p.do(call{method: "POST", path: path + "/versions/1/deploy", token: member}).problem(http.StatusForbidden, "forbidden")
	p.do(call{method: "POST", path: path + "/versions", token: member, body: `{"config":` + aGraph + `}`}).problem(http.StatusForbidden, "forbidden")
}
