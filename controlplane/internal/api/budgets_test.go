package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// spent stores what an account of who spent today.
func (p *plane) spent(who tenant, account wire.Account, requests, cost, byok int64) {
	p.t.Helper()
	conn, err := pgx.Connect(p.t.Context(), p.db.URL)
	require.NoError(p.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	ws, err := id.Parse[id.WorkspaceKind](who.id)
	require.NoError(p.t, err)
	for _, query := range []string{
		`INSERT INTO spend_days (workspace_id, account, day, requests, cost_nanos, byok_nanos) VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, $3, $4, $5)`,
		`INSERT INTO spend_totals (workspace_id, account, requests, cost_nanos, byok_nanos) VALUES ($1, $2, $3, $4, $5)`,
	} {
		_, err := conn.Exec(p.t.Context(), query, ws.UUID(), string(account), requests, cost, byok)
		require.NoError(p.t, err)
	}
}

func TestBudgets(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("budgets")
	p.spent(w, wire.AccountWorkspace, 3, 5_000_000_000, 1_000_000_000)
	const path = "/v1/budgets"
	create := header(call{method: "POST", path: path, token: w.key, body: `{"interval":"lifetime","limit_usd":"10","enforcement":"reserve"}`}, "Idempotency-Key", "once")
	made := p.do(create).is(http.StatusCreated)
	require.Equal(t, made.json(), p.do(create).is(http.StatusCreated).json(), "a repeated call is one budget")
	budget := made.data()["id"].(string)
	require.Regexp(t, `^budget_`, budget)
	require.Regexp(t, `^pub_`, made.json()["publication"].(map[string]any)["id"])
	got := p.do(call{method: "GET", path: path + "/" + budget, token: w.key}).is(http.StatusOK)
	require.Equal(t, made.header.Get("ETag"), got.header.Get("ETag"))
	require.Equal(t, made.data(), got.data())
	shown := got.data()
	for field, want := range map[string]any{
		"interval": "lifetime", "enforcement": "reserve", "include_byok": false, "created_by": w.user,
		"limit_usd": "10.00", "limit_nanos": 1e10, "usage_usd": "4.00", "usage_nanos": 4e9, "remaining_usd": "6.00", "remaining_nanos": 6e9,
		"share": 0.4, "exceeded": false, "window_start": nil, "reset_at": nil,
		"projection": map[string]any{"linear_usd": nil, "linear_nanos": nil, "weekday_usd": nil, "weekday_nanos": nil},
	} {
		require.Equal(t, want, shown[field], field)
	}
	require.NotContains(t, shown, "agent")
	require.NotContains(t, shown, "guardrail_id")

	taken := p.do(call{method: "POST", path: path, token: w.key, body: `{"interval":"lifetime","limit_usd":"1"}`}).problem(http.StatusConflict, "conflict")
	require.Equal(t, "interval", (*taken.Violations)[0].Path)
	guardrail := p.newGuardrail(w, `{"name":"g"}`)
	ofGuardrail := p.newBudget(w, `{"interval":"daily","limit_usd":"0.000000001","guardrail_id":"`+guardrail+`"}`)
	ofAgent := p.do(call{method: "POST", path: path, token: w.key, body: `{"interval":"monthly","limit_usd":"999999999.999999999","agent":"night bot","include_byok":true}`}).
		is(http.StatusCreated).data()
	require.Equal(t, "night bot", ofAgent["agent"])
	require.Equal(t, "999999999.999999999", ofAgent["limit_usd"])
	require.NotNil(t, ofAgent["window_start"])
	require.NotNil(t, ofAgent["reset_at"])
	ids := func(query string) (list []any) {
		for _, one := range p.do(call{method: "GET", path: path + query, token: w.key}).is(http.StatusOK).json()["data"].([]any) {
			list = append(list, one.(map[string]any)["id"])
		}
		return list
	}
	require.Equal(t, []any{ofAgent["id"], ofGuardrail, budget}, ids(""))
	require.Equal(t, []any{ofGuardrail}, ids("?guardrail_id="+guardrail))
	require.Equal(t, []any{ofAgent["id"]}, ids("?agent=night%20bot"))
	require.Equal(t, []any{budget}, ids("?interval=lifetime"))

	stale := header(call{method: "PATCH", path: path + "/" + budget, token: w.key, body: `{"limit_usd":"5"}`}, "If-Match", `"9"`)
	p.do(stale).problem(http.StatusPreconditionFailed, "precondition_failed")
	changed := p.do(call{method: "PATCH", path: path + "/" + budget + "?wait=20s", token: w.key, body: `{"limit_usd":"5","include_byok":true}`}).is(http.StatusOK)
	require.Equal(t, "reserve", changed.data()["enforcement"], "what is not named stays")
	require.Equal(t, true, changed.data()["exceeded"])
	require.InDelta(t, 1, changed.data()["share"], 0)
	require.NotEqual(t, made.header.Get("ETag"), changed.header.Get("ETag"))
	require.Equal(t, map[string]any{"id": budget, "deleted": true}, p.do(call{method: "DELETE", path: path + "/" + budget, token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "GET", path: path + "/" + budget, token: w.key}).problem(http.StatusNotFound, "not_found")

	// A guardrail takes its budgets with it.
	p.do(call{method: "DELETE", path: "/v1/guardrails/" + guardrail, token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path + "/" + ofGuardrail, token: w.key}).problem(http.StatusNotFound, "not_found")
	events := p.do(call{method: "GET", path: "/v1/audit-events?action=guardrail.delete", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Contains(t, events[0].(map[string]any)["diff"], map[string]any{"path": "budgets", "before": ofGuardrail, "after": ""})
}

func TestDepartmentBudgets(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("dept-budgets")
	department := p.newDepartment(w, `{"name":"research"}`)
	const path = "/v1/department-budgets"
	made := p.do(call{method: "POST", path: path, token: w.key, body: `{"department_id":"` + department + `","interval":"weekly","limit_usd":"10"}`}).is(http.StatusCreated)
	budget := made.data()["id"].(string)
	require.Equal(t, department, made.data()["department_id"])
	require.NotContains(t, made.data(), "enforcement")
	require.Equal(t, made.data(), p.do(call{method: "GET", path: path + "/" + budget, token: w.key}).is(http.StatusOK).data())
	p.do(call{method: "POST", path: path, token: w.key, body: `{"department_id":"` + department + `","interval":"weekly","limit_usd":"1"}`}).problem(http.StatusConflict, "conflict")
	require.Len(t, p.do(call{method: "GET", path: path + "?department_id=" + department + "&interval=weekly", token: w.key}).is(http.StatusOK).json()["data"], 1)
	require.Empty(t, p.do(call{method: "GET", path: "/v1/budgets", token: w.key}).is(http.StatusOK).json()["data"])
	for _, c := range []call{
		get("/v1/budgets/" + budget), patch("/v1/budgets/"+budget, `{"enforcement":"reserve"}`), {method: "DELETE", path: "/v1/budgets/" + budget},
	} {
		c.token = w.key
		p.do(c).problem(http.StatusNotFound, "not_found")
	}
	changed := p.do(call{method: "PATCH", path: path + "/" + budget, token: w.key, body: `{"limit_usd":"0.5"}`}).is(http.StatusOK)
	require.Equal(t, "0.50", changed.data()["limit_usd"])
	p.do(header(call{method: "DELETE", path: path + "/" + budget, token: w.key}, "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	p.do(call{method: "DELETE", path: path + "/" + budget, token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: path + "/" + budget, token: w.key}).problem(http.StatusNotFound, "not_found")
}

// Members see budgets and change none; nobody lifts the limits of their own key.
func TestMembersLiftNoLimit(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("held-to")
	member := p.scoped(w, "keys:write", "keys:read", "budgets:read", "budgets:write", "usage:read")
	p.join(w, member, "member")
	budget := p.newBudget(w, `{"interval":"daily","limit_usd":"1"}`)
	own := p.do(call{method: "POST", path: "/v1/keys", token: member, body: `{"name":"own"}`}).is(http.StatusCreated).data()["id"].(string)
	p.do(call{method: "GET", path: "/v1/budgets/" + budget, token: member}).is(http.StatusOK)
	p.do(call{method: "GET", path: "/v1/usage/spend", token: member}).is(http.StatusOK)
	for _, c := range []call{
		post("/v1/budgets", `{"interval":"weekly","limit_usd":"1"}`), patch("/v1/budgets/"+budget, `{"limit_usd":"2"}`),
		{method: "DELETE", path: "/v1/budgets/" + budget},
		patch("/v1/keys/"+own, `{"limits":{"daily":{"cost_usd":null}}}`), patch("/v1/keys/"+own, `{"soft_blocked":false}`),
		patch("/v1/keys/"+own, `{"enforcement":"track"}`), patch("/v1/keys/"+own, `{"include_byok_in_limit":false}`), patch("/v1/keys/"+own, `{"agent":null}`),
		post("/v1/keys", `{"name":"x","agent":"other"}`), post("/v1/keys", `{"name":"x","limits":{}}`),
	} {
		c.token = member
		p.do(c).problem(http.StatusForbidden, "forbidden")
	}
	p.do(call{method: "PATCH", path: "/v1/keys/" + own, token: member, body: `{"name":"renamed"}`}).is(http.StatusOK)
}

func TestKeyLimits(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("key-limits")
	made := p.do(call{method: "POST", path: "/v1/keys", token: w.key, body: `{"name":"limited","enforcement":"reserve","include_byok_in_limit":false,"agent":"bot",
		"limits":{"daily":{"requests":5,"cost_usd":"2.5"},"monthly":{"requests":100,"cost_usd":null}}}`}).is(http.StatusCreated).data()
	key := made["id"].(string)
	parsed, err := id.Parse[id.KeyKind](key)
	require.NoError(t, err)
	p.spent(w, wire.KeyAccount(parsed), 5, 3_000_000_000, 1_000_000_000)
	path := "/v1/keys/" + key
	none := map[string]any{"requests": nil, "cost_usd": nil, "cost_nanos": nil}
	limits := map[string]any{
		"daily": map[string]any{"requests": 5.0, "cost_usd": "2.50", "cost_nanos": 2.5e9}, "weekly": none,
		"monthly": map[string]any{"requests": 100.0, "cost_usd": nil, "cost_nanos": nil},
	}
	require.Equal(t, limits, made["limits"])
	require.Equal(t, []any{"reserve", false, false, "bot"}, []any{made["enforcement"], made["include_byok_in_limit"], made["soft_blocked"], made["agent"]})
	require.NotContains(t, made, "usage")

	got := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, limits, got["limits"])
	daily := got["usage"].(map[string]any)["daily"].(map[string]any)
	for field, want := range map[string]any{
		"requests": 5.0, "requests_remaining": 0.0, "cost_usd": "2.00", "cost_nanos": 2e9, "cost_remaining_usd": "0.50", "cost_remaining_nanos": 5e8,
		"byok_cost_usd": "1.00", "byok_cost_nanos": 1e9, "exceeded": true,
	} {
		require.Equal(t, want, daily[field], field)
	}
	start, err := time.Parse(time.RFC3339, daily["window_start"].(string))
	require.NoError(t, err)
	end, err := time.Parse(time.RFC3339, daily["reset_at"].(string))
	require.NoError(t, err)
	require.Equal(t, 24*time.Hour, end.Sub(start))
	monthly := got["usage"].(map[string]any)["monthly"].(map[string]any)
	require.Equal(t, []any{false, 95.0, nil}, []any{monthly["exceeded"], monthly["requests_remaining"], monthly["cost_remaining_usd"]})
	listed := p.do(call{method: "GET", path: "/v1/keys", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Equal(t, got, listed[0])

	changed := p.do(call{
		method: "PATCH", path: path, token: w.key,
		body: `{"soft_blocked":true,"agent":null,"include_byok_in_limit":true,"limits":{"daily":{"requests":null},"weekly":{"cost_usd":"7"}}}`,
	}).is(http.StatusOK).data()
	require.Equal(t, map[string]any{
		"daily":  map[string]any{"requests": nil, "cost_usd": "2.50", "cost_nanos": 2.5e9},
		"weekly": map[string]any{"requests": nil, "cost_usd": "7.00", "cost_nanos": 7e9}, "monthly": limits["monthly"],
	}, changed["limits"], "what is not named stays")
	require.Equal(t, true, changed["soft_blocked"])
	require.Equal(t, "active", changed["status"])
	require.NotContains(t, changed, "agent")
	daily = p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).data()["usage"].(map[string]any)["daily"].(map[string]any)
	require.Equal(t, []any{true, "3.00", "0.00"}, []any{daily["exceeded"], daily["cost_usd"], daily["cost_remaining_usd"]})
	require.Equal(t, false, p.do(call{method: "PATCH", path: path, token: w.key, body: `{"soft_blocked":false}`}).is(http.StatusOK).data()["soft_blocked"])

	spend := p.do(call{method: "GET", path: "/v1/usage/spend?key_id=" + key, token: w.key}).is(http.StatusOK).data()
	require.Len(t, spend["windows"], 3, "a key's lifetime is not counted")
	require.Equal(t, "3.00", spend["days"].([]any)[0].(map[string]any)["cost_usd"])
	p.do(call{method: "GET", path: "/v1/usage/spend?department_id=" + p.newDepartment(w, `{"name":"d"}`), token: w.key}).is(http.StatusOK)
	p.do(call{method: "GET", path: "/v1/usage/spend?guardrail_id=" + p.newGuardrail(w, `{"name":"g"}`), token: w.key}).is(http.StatusOK)
	agent := p.do(call{method: "GET", path: "/v1/usage/spend?agent=nobody", token: w.key}).is(http.StatusOK).data()
	require.Len(t, agent["windows"], 4)
	require.Empty(t, agent["days"])
}
