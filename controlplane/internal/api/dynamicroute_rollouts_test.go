package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRolloutsOfDynamicRoutes(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("rollouts")
	path := routesPath + "/" + p.newDynamicRoute(w, "plans")
	p.do(call{method: "POST", path: path + "/versions", token: w.key, body: `{"config":` + strings.Replace(aGraph, "gpt-5", "gpt-5-mini", 1) + `}`}).is(http.StatusCreated)
	const plan = `{"steps":[{"percent":2.5,"hold":"10m"},{"percent":100,"hold":"1h30m"}],
		"guard":{"max_error_rate":0.05,"max_p95_latency_ratio":1.5,"max_cost_ratio":2,"min_requests":50}}`
	start := call{method: "POST", path: path + "/versions/2/rollout", token: w.key, body: plan}
	p.do(start).problem(http.StatusConflict, "conflict")
	p.do(call{method: "POST", path: path + "/versions/1/deploy", token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path + "/rollout", token: w.key}).problem(http.StatusNotFound, "not_found")

	bad := start
	bad.body = `{"steps":[{"percent":2.555,"hold":"soon"},{"percent":1e1,"hold":"10m"},{"percent":101,"hold":"1s"}],"guard":{"min_requests":0}}`
	var places []string
	for _, v := range *p.do(bad).problem(http.StatusBadRequest, "validation_error").Violations {
		places = append(places, v.Path)
	}
	require.Equal(t, []string{"steps[0].percent", "steps[0].hold", "steps[1].percent", "steps[2].percent", "guard", "guard.min_requests"}, places)

	made := p.do(header(start, "Idempotency-Key", "once")).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(header(start, "Idempotency-Key", "once")).is(http.StatusCreated).json())
	require.Regexp(t, `^pub_`, made.json()["publication"].(map[string]any)["id"])
	r := made.data()
	require.Regexp(t, `^rollout_`, r["id"])
	require.Equal(t, []any{2.0, 1.0, "running", 1.0, 2.5, "hold", nil, w.user}, []any{
		r["candidate_version"], r["stable_version"], r["state"], r["step"], r["percent"], r["waiting_for"], r["ended_at"], r["created_by"],
	})
	require.Equal(t, []any{map[string]any{"percent": 2.5, "hold": "10m"}, map[string]any{"percent": 100.0, "hold": "1h30m"}}, r["steps"])
	require.Equal(t, map[string]any{"max_error_rate": 0.05, "max_p95_latency_ratio": 1.5, "max_cost_ratio": 2.0, "min_requests": 50.0}, r["guard"])
	require.Equal(t, map[string]any{"requests": 0.0, "failures": 0.0, "error_rate": 0.0, "p95_ms": 0.0, "mean_cost_usd": "0.00"}, r["arms"].(map[string]any)["candidate"])
	require.NotContains(t, r, "evidence")
	got := p.do(call{method: "GET", path: path + "/rollout", token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{r, made.header.Get("ETag")}, []any{got.data(), got.header.Get("ETag")})

	conflict := p.do(start).problem(http.StatusConflict, "conflict")
	require.Contains(t, conflict.Detail, r["id"])
	require.Contains(t, p.do(call{method: "POST", path: path + "/rollback", token: w.key}).problem(http.StatusConflict, "conflict").Detail, r["id"])

	steer := func(how string) call { return call{method: "POST", path: path + "/rollout/" + how, token: w.key} }
	paused := p.do(steer("pause")).is(http.StatusOK)
	require.Equal(t, []any{"paused", "resume"}, []any{paused.data()["state"], paused.data()["waiting_for"]})
	again := p.do(steer("pause")).is(http.StatusOK)
	require.NotContains(t, again.json(), "publication")
	require.Equal(t, paused.header.Get("ETag"), again.header.Get("ETag"))
	p.do(steer("advance")).problem(http.StatusConflict, "conflict")
	p.do(header(steer("resume"), "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	require.Equal(t, "running", p.do(header(steer("resume"), "If-Match", paused.header.Get("ETag"))).is(http.StatusOK).data()["state"])
	require.Equal(t, []any{2.0, 100.0}, fields(p.do(steer("advance")).is(http.StatusOK).data(), "step", "percent"))
	aborted := p.do(steer("abort")).is(http.StatusOK).data()
	require.Equal(t, "aborted", aborted["state"])
	require.NotNil(t, aborted["ended_at"])
	require.Contains(t, aborted["evidence"].(map[string]any), "arms")
	require.NotContains(t, aborted, "waiting_for")
	p.do(steer("abort")).problem(http.StatusConflict, "conflict")

	p.do(start).is(http.StatusCreated)
	p.do(steer("advance")).is(http.StatusOK)
	require.Equal(t, "completed", p.do(steer("advance")).is(http.StatusOK).data()["state"])
	require.Equal(t, []any{2.0}, fields(p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data(), "deployed_version"))
	page := p.do(call{method: "GET", path: path + "/rollouts?limit=1", token: w.key}).is(http.StatusOK).json()
	require.Equal(t, "completed", page["data"].([]any)[0].(map[string]any)["state"])
	rest := p.do(call{method: "GET", path: path + "/rollouts?cursor=" + page["next_cursor"].(string), token: w.key}).is(http.StatusOK).json()
	require.Equal(t, []any{r["id"], nil}, []any{rest["data"].([]any)[0].(map[string]any)["id"], rest["next_cursor"]})
}

func fields(object map[string]any, names ...string) (values []any) {
	for _, name := range names {
		values = append(values, object[name])
	}
	return values
}
