package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRateLimitPolicies(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("rates")
	const path = "/v1/rate-limits/policies"
	create := header(call{method: "POST", path: path, token: w.key, body: `{"name":"Calm","requests_per_minute":60,"concurrent_requests":null,"fail_closed":true}`},
		"Idempotency-Key", "once")
	made := p.do(create).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(create).is(http.StatusCreated).json(), "a repeated call is one policy")
	id := made.data()["id"].(string)
	require.Regexp(t, `^rlp_`, id)
	require.Regexp(t, `^pub_`, made.json()["publication"].(map[string]any)["id"])
	got := p.do(call{method: "GET", path: path + "/" + id, token: w.key}).is(http.StatusOK)
	require.Equal(t, made.data(), got.data())
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	said := got.data()
	for _, when := range []string{"created_at", "updated_at", "id"} {
		require.NotEmpty(t, said[when])
		delete(said, when)
	}
	require.Equal(t, map[string]any{
		"name": "Calm", "requests_per_minute": 60.0, "tokens_per_minute": nil, "concurrent_requests": nil, "fail_closed": true, "on_unavailable": "deny",
	}, said)

	taken := p.do(call{method: "POST", path: path, token: w.key, body: `{"name":"calm","tokens_per_minute":1}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "name", (*taken.Violations)[0].Path)
	require.Len(t, p.do(call{method: "GET", path: path + "?name=CALM", token: w.key}).is(http.StatusOK).json()["data"], 1)
	p.newRatePolicy(w, `{"name":"another","tokens_per_minute":100000000000,"concurrent_requests":1000000,"requests_per_minute":10000000,"on_unavailable":"local_share"}`)
	first := p.do(call{method: "GET", path: path + "?limit=1", token: w.key}).is(http.StatusOK).json()
	require.Len(t, first["data"], 1)
	require.NotNil(t, first["next_cursor"])

	p.do(header(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"name":"x"}`}, "If-Match", `"9"`)).
		problem(http.StatusPreconditionFailed, "precondition_failed")
	changed := p.do(header(call{method: "PATCH", path: path + "/" + id, token: w.key, body: `{"requests_per_minute":null,"tokens_per_minute":500}`},
		"If-Match", made.header.Get("ETag"))).is(http.StatusOK)
	require.Equal(t, []any{nil, 500.0, "deny"}, []any{changed.data()["requests_per_minute"], changed.data()["tokens_per_minute"], changed.data()["on_unavailable"]})
	require.NotEqual(t, made.header.Get("ETag"), changed.header.Get("ETag"))
	events := p.do(call{method: "GET", path: "/v1/audit-events?action=rate_limit_policy.update", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, []any{
		map[string]any{"path": "requests_per_minute", "before": "60", "after": ""}, map[string]any{"path": "tokens_per_minute", "before": "", "after": "500"},
	}, events[0].(map[string]any)["diff"])
	p.do(call{method: "DELETE", path: path + "/" + id + "?wait=20s", token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path + "/" + id, token: w.key}).problem(http.StatusNotFound, "not_found")
}

func TestRateLimitAssignments(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("assigned")
	key, _ := p.newKey(w, "ci")
	policy := p.newRatePolicy(w, `{"name":"calm","requests_per_minute":60}`)
	target := `{"policy_id":"` + policy + `","target_type":"key","target_id":"` + key + `"}`
	made := p.do(call{method: "POST", path: assignmentsPath, token: w.key, body: target}).is(http.StatusCreated)
	id := made.data()["id"].(string)
	require.Regexp(t, `^rla_`, id)
	require.NotEmpty(t, made.data()["created_at"])
	require.Equal(t, []any{policy, "key", key}, []any{made.data()["policy_id"], made.data()["target_type"], made.data()["target_id"]})
	require.Equal(t, made.data(), p.do(call{method: "GET", path: assignmentsPath + "/" + id, token: w.key}).is(http.StatusOK).data())
	twice := p.do(call{method: "POST", path: assignmentsPath, token: w.key, body: target}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "target_id", (*twice.Violations)[0].Path)
	everyone := p.do(call{method: "POST", path: assignmentsPath, token: w.key, body: `{"policy_id":"` + policy + `","target_type":"end_user_default","target_id":null}`}).
		is(http.StatusCreated).data()
	require.Nil(t, everyone["target_id"])
	for _, kind := range []struct{ name, id string }{
		{"member", w.user}, {"department", p.newDepartment(w, `{"name":"d"}`)}, {"guardrail", p.newGuardrail(w, `{"name":"g"}`)},
	} {
		p.newAssignment(w, `{"policy_id":"`+policy+`","target_type":"`+kind.name+`","target_id":"`+kind.id+`"}`)
		found := p.do(call{method: "GET", path: assignmentsPath + "?target_id=" + kind.id, token: w.key}).is(http.StatusOK).json()["data"].([]any)
		require.Len(t, found, 1)
		require.Equal(t, kind.name, found[0].(map[string]any)["target_type"])
	}
	for filter, want := range map[string]int{
		"": 5, "?policy_id=" + policy: 5, "?target_type=key": 1, "?target_type=department&target_id=" + key: 0, "?policy_id=rlp_0000000000e008ztk5wvz3r2m1": 0,
	} {
		require.Len(t, p.do(call{method: "GET", path: assignmentsPath + filter, token: w.key}).is(http.StatusOK).json()["data"], want, filter)
	}

	inUse := p.do(call{method: "DELETE", path: "/v1/rate-limits/policies/" + policy, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Len(t, *inUse.Violations, 5)
	require.Contains(t, inUse.Detail, "("+id+")")
	p.do(call{method: "DELETE", path: "/v1/keys/" + key, token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: assignmentsPath + "/" + id, token: w.key}).problem(http.StatusNotFound, "not_found")
	gone := p.do(call{method: "DELETE", path: assignmentsPath + "/" + everyone["id"].(string), token: w.key}).is(http.StatusOK)
	require.Equal(t, map[string]any{"id": everyone["id"], "deleted": true}, gone.data())
	p.do(call{method: "DELETE", path: assignmentsPath + "/" + everyone["id"].(string), token: w.key}).problem(http.StatusNotFound, "not_found")
}

func TestDepartmentMembers(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("inside")
	department, other := p.newDepartment(w, `{"name":"a"}`), p.newDepartment(w, `{"name":"b"}`)
	path := "/v1/departments/" + department + "/members"
	put := func(path, body string) call {
		return call{method: "PUT", path: path + "/" + w.user + "?wait=20s", token: w.key, body: body}
	}
	member := p.do(put(path, `{}`)).is(http.StatusOK).data()
	require.NotEmpty(t, member["added_at"])
	added := member["added_at"]
	require.Equal(t, map[string]any{"user_id": w.user, "position": "member", "override": false, "added_at": added}, member)
	member = p.do(put(path, `{"position":"lead","override":true}`)).is(http.StatusOK).data()
	require.Equal(t, map[string]any{"user_id": w.user, "position": "lead", "override": true, "added_at": added}, member)
	require.Equal(t, []any{member}, p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).json()["data"])
	second := p.do(put("/v1/departments/"+other+"/members", `{"override":true}`)).problem(http.StatusConflict, "conflict")
	require.Equal(t, "override", (*second.Violations)[0].Path)
	require.Contains(t, second.Detail, department)
	require.Equal(t, false, p.do(put(path, `{"position":"lead"}`)).is(http.StatusOK).data()["override"], "what is absent is as for a new one")
	inUse := p.do(call{method: "DELETE", path: "/v1/departments/" + department, token: w.key}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "members", (*inUse.Violations)[0].Path)
	require.Equal(t, map[string]any{"id": w.user, "deleted": true}, p.do(call{method: "DELETE", path: path + "/" + w.user, token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "DELETE", path: path + "/" + w.user, token: w.key}).problem(http.StatusNotFound, "not_found")
	p.do(call{method: "DELETE", path: "/v1/departments/" + department, token: w.key}).is(http.StatusOK)
	events := p.do(call{method: "GET", path: "/v1/audit-events?target_type=department&action=department.remove_member", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, []any{map[string]any{"path": "members." + w.user, "before": "lead", "after": ""}}, events[0].(map[string]any)["diff"])
}

// Members see what limits them and take nothing of it off.
func TestMembersLiftNoRateLimit(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("limited")
	member := p.scoped(w, "rate_limits:read", "rate_limits:write", "workspaces:read", "workspaces:write")
	p.join(w, member, "member")
	policy, department := p.newRatePolicy(w, `{"name":"calm","requests_per_minute":60}`), p.newDepartment(w, `{"name":"d"}`)
	assignment := p.newAssignment(w, `{"policy_id":"`+policy+`","target_type":"end_user_default"}`)
	for _, path := range []string{"/v1/rate-limits/policies/" + policy, assignmentsPath + "/" + assignment, "/v1/departments/" + department + "/members"} {
		p.do(call{method: "GET", path: path, token: member}).is(http.StatusOK)
	}
	for _, c := range []call{
		post("/v1/rate-limits/policies", `{"name":"x","requests_per_minute":1}`), patch("/v1/rate-limits/policies/"+policy, `{"requests_per_minute":1000}`),
		{method: "DELETE", path: "/v1/rate-limits/policies/" + policy},
		post(assignmentsPath, `{"policy_id":"`+policy+`","target_type":"end_user_default"}`),
		{method: "DELETE", path: assignmentsPath + "/" + assignment},
		{method: "PUT", path: "/v1/departments/" + department + "/members/" + w.user, body: `{"override":true}`},
		{method: "DELETE", path: "/v1/departments/" + department + "/members/" + w.user},
	} {
		c.token = member
		p.do(c).problem(http.StatusForbidden, "forbidden")
	}
}
