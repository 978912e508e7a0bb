package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOtherTenantsThingsAreNotThere walks every operation of the contract with
// the ids of another tenant.
func TestOtherTenantsThingsAreNotThere(t *testing.T) {
	p := newPlane(t)
	mine, theirs := p.tenant("mine"), p.tenant("theirs")
	key, _ := p.newKey(theirs, "theirs")
	credential := p.newProviderKey(theirs, "theirs", "sk-proj-of-the-other-tenant")
	hook, _ := p.newWebhook(theirs, "https://1.1.1.1/")
	delivery := p.newDelivery(theirs, hook, "given_up")
	publication := p.do(call{method: "GET", path: "/v1/publications", token: theirs.key}).is(http.StatusOK).json()["data"].([]any)[0].(map[string]any)["id"].(string)
	request := p.served(theirs, key, "theirs-session").ID.String()
	ids := map[string]string{
		"workspace_id": theirs.id, "user_id": theirs.user, "key_id": key, "management_key_id": theirs.keyID,
		"publication_id": publication, "request_id": request, "credential_id": credential,
		"webhook_id": hook, "delivery_id": delivery,
		"routing_profile_id": p.newProfile(theirs, `{"name":"theirs"}`), "department_id": p.newDepartment(theirs, `{"name":"theirs"}`),
		"budget_id":    p.newBudget(theirs, `{"interval":"lifetime","limit_usd":"1"}`),
		"guardrail_id": p.newGuardrail(theirs, `{"name":"theirs"}`), "dynamic_route_id": p.newDynamicRoute(theirs, "theirs"),
		"preset": p.newPreset(theirs, `{"slug":"theirs","publish":true}`), "rate_limit_policy_id": p.newRatePolicy(theirs, `{"name":"theirs","requests_per_minute":1}`),
	}
	ids["rate_limit_assignment_id"] = p.newAssignment(theirs, `{"policy_id":"`+ids["rate_limit_policy_id"]+`","target_type":"key","target_id":"`+key+`"}`)
	theirMembers := "/v1/departments/" + ids["department_id"] + "/members"
	p.do(call{method: "PUT", path: theirMembers + "/" + theirs.user, token: theirs.key, body: `{}`}).is(http.StatusOK)
	snapshot := func() string {
		var all strings.Builder
		for _, path := range []string{"/v1/keys", "/v1/management-keys", "/v1/byok", "/v1/settings", "/v1/routing/profiles", "/v1/routing/auto", "/v1/departments", theirMembers, "/v1/guardrails", "/v1/rate-limits/policies", assignmentsPath, "/v1/budgets", "/v1/department-budgets", routesPath, "/v1/presets", "/v1/presets/publisher", "/v1/alerts/lifecycle", "/v1/alerts/budgets", "/v1/webhooks", "/v1/webhooks/" + hook + "/deliveries", "/v1/workspaces", "/v1/audit-events", "/v1/publications"} {
			all.WriteString(still(p.do(call{method: "GET", path: path, token: theirs.key}).is(http.StatusOK).body))
		}
		return all.String()
	}
	before := snapshot()
	for _, c := range operations(t, ids) {
		c.token = mine.key
		switch named := strings.Count(c.path, "_") > 0; {
		case strings.HasPrefix(c.path, "/v1/platform/"):
			p.do(c).problem(http.StatusForbidden, "forbidden")
		case c.path == "/v1/byok/reorder":
			c.body = strings.ReplaceAll(c.body, "byok_0000000000e008ztk5wvz3r2m1", credential)
			require.NotContains(t, p.do(c).problem(http.StatusBadRequest, "validation_error").Detail, credential)
		case c.method == "POST" && c.path == assignmentsPath:
			c.body = strings.ReplaceAll(c.body, "rlp_0000000000e008ztk5wvz3r2m1", ids["rate_limit_policy_id"])
			require.Equal(t, "policy_id", (*p.do(c).problem(http.StatusBadRequest, "validation_error").Violations)[0].Path)
		case c.path == "/v1/department-budgets" && c.method == "POST":
			c.body = strings.ReplaceAll(c.body, "dept_0000000000e008ztk5wvz3r2m1", ids["department_id"])
			p.do(c).problem(http.StatusNotFound, "not_found")
		case c.path == "/v1/presets/fork":
			c.body = strings.ReplaceAll(c.body, "@nobody/nothing", ids["preset"])
			p.do(c).problem(http.StatusNotFound, "not_found")
		case named:
			p.do(c).problem(http.StatusNotFound, "not_found")
		default: // a list or a creation: it works, on one's own
			got := p.do(c)
			require.Less(t, got.status, 300, "%s %s: %s", c.method, c.path, got.body)
			for _, id := range ids {
				require.NotContains(t, got.body, id, "%s %s shows another tenant's id", c.method, c.path)
			}
		}
	}
	// Another tenant's profile or department cannot be bound, whatever to.
	own, _ := p.newKey(mine, "own")
	bindsProfile, bindsDepartment := `{"routing_profile_id":"`+ids["routing_profile_id"]+`"}`, `{"department_id":"`+ids["department_id"]+`"}`
	for _, c := range []call{
		patch("/v1/settings", bindsProfile),
		patch("/v1/keys/"+own, bindsProfile), patch("/v1/keys/"+own, bindsDepartment),
		post("/v1/keys", `{"name":"x",`+bindsProfile[1:]), post("/v1/keys", `{"name":"x",`+bindsDepartment[1:]),
		patch("/v1/departments/"+p.newDepartment(mine, `{"name":"own"}`), bindsProfile), post("/v1/departments", `{"name":"x",`+bindsProfile[1:]),
		get("/v1/routing/effective?key=" + key),
		post("/v1/budgets", `{"interval":"weekly","limit_usd":"1","guardrail_id":"`+ids["guardrail_id"]+`"}`),
		get("/v1/usage/spend?key_id=" + key), get("/v1/usage/spend?department_id=" + ids["department_id"]), get("/v1/usage/spend?guardrail_id=" + ids["guardrail_id"]),
		{method: "GET", path: "/v1/department-budgets/" + ids["budget_id"]},
	} {
		c.token = mine.key
		p.do(c).problem(http.StatusNotFound, "not_found")
	}
	// Nor can a guardrail bind what another tenant has.
	guardrail := "/v1/guardrails/" + p.newGuardrail(mine, `{"name":"own"}`)
	for path, body := range map[string]string{
		"/keys/add": `{"key_ids":["` + own + `","` + key + `"]}`, "/keys/remove": `{"key_ids":["` + key + `"]}`,
		"/members/add": `{"user_ids":["` + theirs.user + `"]}`, "/members/remove": `{"user_ids":["` + theirs.user + `"]}`,
	} {
		refused := p.do(call{method: "POST", path: guardrail + path, token: mine.key, body: body}).problem(http.StatusBadRequest, "validation_error")
		require.Len(t, *refused.Violations, 1, path)
	}
	require.Empty(t, p.do(call{method: "GET", path: guardrail + "/keys", token: mine.key}).is(http.StatusOK).json()["data"])
	// Nor is a rate-limit policy assigned to what another tenant has, which is answered like what nobody has, and nobody of
	// theirs joins a department.
	policy := p.newRatePolicy(mine, `{"name":"own","requests_per_minute":1}`)
	for kind, target := range map[string][2]string{
		"key": {key, "key_0000000000e008ztk5wvz3r2m1"}, "member": {theirs.user, "user_0000000000e008ztk5wvz3r2m1"},
		"department": {ids["department_id"], "dept_0000000000e008ztk5wvz3r2m1"}, "guardrail": {ids["guardrail_id"], "guard_0000000000e008ztk5wvz3r2m1"},
	} {
		var told [2]any
		for i, id := range target {
			body := `{"policy_id":"` + policy + `","target_type":"` + kind + `","target_id":"` + id + `"}`
			told[i] = *p.do(call{method: "POST", path: assignmentsPath, token: mine.key, body: body}).problem(http.StatusBadRequest, "validation_error").Violations
		}
		require.Equal(t, told[1], told[0], kind)
	}
	for _, filter := range []string{"target_id=" + key, "target_id=" + ids["department_id"], "policy_id=" + ids["rate_limit_policy_id"], "target_type=key"} {
		require.Empty(t, p.do(call{method: "GET", path: assignmentsPath + "?" + filter, token: mine.key}).is(http.StatusOK).json()["data"], filter)
	}
	p.do(call{method: "PUT", path: "/v1/departments/" + p.newDepartment(mine, `{"name":"closed"}`) + "/members/" + theirs.user, token: mine.key, body: `{}`}).
		problem(http.StatusNotFound, "not_found")
	// Nor is a dynamic route attached to another tenant's key.
	route := routesPath + "/" + p.newDynamicRoute(mine, "own")
	refused := p.do(call{method: "PUT", path: route + "/keys", token: mine.key, body: `{"key_ids":["` + own + `","` + key + `"]}`}).
		problem(http.StatusBadRequest, "validation_error")
	require.Equal(t, "key_ids[1]", (*refused.Violations)[0].Path)
	// A member path with one's own workspace and another's user.
	p.do(call{method: "GET", path: "/v1/workspaces/" + mine.id + "/members/" + theirs.user, token: mine.key}).problem(http.StatusNotFound, "not_found")
	require.Equal(t, before, snapshot(), "something of the other tenant changed")
	for path, want := range map[string]int{"/v1/logs?key_id=" + key: 0, "/v1/logs": 0} {
		require.Len(t, p.do(call{method: "GET", path: path, token: mine.key}).is(http.StatusOK).json()["data"], want)
	}
}

func TestOwnWorkspaceWorksWithEveryOperation(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("own")
	for _, c := range operations(t, map[string]string{
		"workspace_id": w.id, "user_id": w.user, "key_id": "", "management_key_id": "", "publication_id": "", "request_id": "", "credential_id": "",
		"routing_profile_id": "", "department_id": "", "guardrail_id": "", "dynamic_route_id": "", "preset": "",
		"rate_limit_policy_id": "", "rate_limit_assignment_id": "", "budget_id": "", "webhook_id": "", "delivery_id": "",
	}) {
		if c.method == "DELETE" || c.method == "POST" && c.path == "/v1/department-budgets" || c.path == "/v1/byok/reorder" || c.method == "POST" && c.path == assignmentsPath || c.path == "/v1/presets/fork" || c.method == "PUT" && strings.HasSuffix(c.path, "/rules") || strings.Contains(c.path, "//") || strings.HasSuffix(c.path, "/") {
			continue // needs a thing of its own; other tests have one
		}
		c.token = w.key
		if strings.HasPrefix(c.path, "/v1/platform/") {
			c.token = operatorToken
		}
		got := p.do(c)
		require.Less(t, got.status, 300, "%s %s: %s", c.method, c.path, got.body)
	}
}

func TestEveryOperationChecksCallerAndScope(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("scope")
	narrow := p.scoped(w, "models:read") // which no operation here asks for
	for _, c := range operations(t, map[string]string{
		"workspace_id": w.id, "user_id": w.user, "key_id": "key_x", "management_key_id": "mk_x", "publication_id": "pub_x", "request_id": "req_x",
		"routing_profile_id": "profile_x", "department_id": "dept_x", "guardrail_id": "guard_x", "dynamic_route_id": "route_x", "preset": "preset_x",
		"credential_id": "byok_x", "rate_limit_policy_id": "rlp_x", "rate_limit_assignment_id": "rla_x", "budget_id": "budget_x", "webhook_id": "hook_x", "delivery_id": "dlv_x",
	}) {
		p.do(c).problem(http.StatusUnauthorized, "unauthorized")
		c.token = narrow
		got := p.do(c)
		switch {
		case c.path == "/v1/whoami":
			got.is(http.StatusOK)
		case strings.HasPrefix(c.path, "/v1/platform/"):
			got.problem(http.StatusForbidden, "forbidden")
		default:
			got.problem(http.StatusForbidden, "insufficient_scope")
		}
	}
}
