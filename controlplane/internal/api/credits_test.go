package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func init() {
	for operation, body := range map[string]string{
		"updatePlatformBilling":   `{"billing":"prepaid"}`,
		"topUpPlatformCredits":    `{"amount_usd":"10.00"}`,
		"adjustPlatformCredits":   `{"amount_usd":"-1.00","reason":"a refund"}`,
		"updatePlatformAllowance": `{"requests_per_minute":100}`,
	} {
		bodies[operation] = body
	}
}

func TestAWalletFromTopUpToBalance(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("wallet")
	at := "/workspaces/" + w.id
	credits := func() map[string]any {
		t.Helper()
		return p.do(call{method: "GET", path: "/v1/credits", token: w.key}).is(http.StatusOK).data()
	}
	require.Equal(t, map[string]any{
		"billing": "off", "balance_usd": "0.00", "balance_nanos": 0.0, "granted_usd": "0.00", "granted_nanos": 0.0,
		"charged_usd": "0.00", "charged_nanos": 0.0, "floor_usd": "1.00", "floor_nanos": 1e9,
		"byok_fee": map[string]any{"rate": 0.0, "free_requests": 250000.0, "requests": 0.0, "free_requests_remaining": 250000.0},
	}, credits())

	before := p.do(onPlatform("GET", at+"/billing", "")).is(http.StatusOK)
	require.Equal(t, map[string]any{"billing": nil, "floor_usd": nil, "byok_fee_rate": nil, "byok_free_requests": nil}, before.data()["own"])
	changed := p.do(header(onPlatform("PATCH", at+"/billing", `{"billing":"prepaid","floor_usd":"2.5","byok_fee_rate":25000,"byok_free_requests":0}`), "If-Match", before.header.Get("ETag"))).is(http.StatusOK)
	require.Equal(t, map[string]any{"billing": "prepaid", "floor_usd": "2.50", "byok_fee_rate": 25000.0, "byok_free_requests": 0.0}, changed.data()["own"])
	p.do(header(onPlatform("PATCH", at+"/billing", `{"billing":"off"}`), "If-Match", before.header.Get("ETag"))).problem(http.StatusPreconditionFailed, "precondition_failed")
	cleared := p.do(onPlatform("PATCH", at+"/billing", `{"floor_usd":null,"byok_free_requests":null}`)).is(http.StatusOK).data()
	require.Equal(t, map[string]any{"billing": "prepaid", "floor_usd": nil, "byok_fee_rate": 25000.0, "byok_free_requests": nil}, cleared["own"])

	paid := p.do(onPlatform("POST", at+"/credits/top-ups?wait=20s", `{"amount_usd":"12.345678901","reference":"inv-1","note":"card"}`)).is(http.StatusCreated)
	require.Equal(t, "12.345678901", paid.data()["balance_usd"])
	require.Contains(t, paid.json(), "publication")
	again := p.do(onPlatform("POST", at+"/credits/top-ups", `{"amount_usd":"12.345678901","reference":"inv-1"}`)).is(http.StatusOK)
	require.Equal(t, paid.data(), again.data())
	require.NotContains(t, again.json(), "publication", "nothing was changed")
	p.do(onPlatform("POST", at+"/credits/top-ups", `{"amount_usd":"13","reference":"inv-1"}`)).problem(http.StatusConflict, "conflict")
	keyed := header(onPlatform("POST", at+"/credits/adjustments", `{"amount_usd":"-20","reason":"an error of ours"}`), "Idempotency-Key", "adjust-1")
	taken := p.do(keyed).is(http.StatusCreated)
	require.Equal(t, taken.data(), p.do(keyed).is(http.StatusCreated).data(), "given with the same key it is made once")
	require.Equal(t, "-7.654321099", credits()["balance_usd"])
	require.Equal(t, "prepaid", credits()["billing"])

	entries := p.do(call{method: "GET", path: "/v1/credits/entries?limit=1", token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{taken.data()}, entries.json()["data"])
	next := entries.json()["next_cursor"].(string)
	entries = p.do(call{method: "GET", path: "/v1/credits/entries?cursor=" + next, token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{paid.data()}, entries.json()["data"])
	require.Nil(t, entries.json()["next_cursor"])
	require.Len(t, p.do(onPlatform("GET", at+"/credits/entries", "")).is(http.StatusOK).json()["data"], 2)

	events := p.do(call{method: "GET", path: "/v1/audit-events?action=credit.adjustment", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, events, 1)
	require.Equal(t, "operator", events[0].(map[string]any)["actor"].(map[string]any)["kind"])
}

func TestBadAmounts(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("amounts")
	at := "/workspaces/" + w.id
	for body, path := range map[string]string{
		`{"amount_usd":"0"}`: "amount_usd", `{"amount_usd":"0.000000000"}`: "amount_usd", `{"amount_usd":"-1"}`: "amount_usd", `{"amount_usd":"1.0000000001"}`: "amount_usd",
		`{"amount_usd":"1e3"}`: "amount_usd", `{"amount_usd":"10000000.01"}`: "amount_usd", `{"amount_usd":"9999999999"}`: "amount_usd", `{"amount_usd":5}`: "amount_usd", `{}`: "amount_usd",
		`{"amount_usd":"1","reference":""}`: "reference", `{"amount_usd":"1","reference":"a\u0000"}`: "reference", `{"amount_usd":"1","kind":"x"}`: "kind",
	} {
		refused := p.do(onPlatform("POST", at+"/credits/top-ups", body)).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, path, (*refused.Violations)[0].Path, body)
	}
	for body, path := range map[string]string{
		`{"amount_usd":"0","reason":"x"}`: "amount_usd", `{"amount_usd":"-0","reason":"x"}`: "amount_usd", `{"amount_usd":"-10000000.01","reason":"x"}`: "amount_usd",
		`{"amount_usd":"1"}`: "reason", `{"amount_usd":"1","reason":""}`: "reason", `{"amount_usd":"1","reason":"  "}`: "reason", `{"amount_usd":"+1","reason":"x"}`: "amount_usd",
	} {
		refused := p.do(onPlatform("POST", at+"/credits/adjustments", body)).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, path, (*refused.Violations)[0].Path, body)
	}
	for body, path := range map[string]string{
		`{"billing":"credit"}`: "billing", `{"floor_usd":"-1"}`: "floor_usd", `{"floor_usd":"1000000.5"}`: "floor_usd", `{"byok_fee_rate":1000001}`: "byok_fee_rate",
		`{"byok_fee_rate":2.5}`: "byok_fee_rate", `{"byok_free_requests":-1}`: "byok_free_requests", `{}`: "",
	} {
		refused := p.do(onPlatform("PATCH", at+"/billing", body)).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, path, (*refused.Violations)[0].Path, body)
	}
	for _, body := range []string{
		`{"requests_per_minute":0}`, `{"requests_per_minute":-5}`, `{"requests_per_minute":1000001}`, `{"free_requests_per_day":0}`,
		`{"users":{"` + w.user + `":0}}`, `{"users":{"nobody":5}}`, `{"users":{"user_0000000000e008ztk5wvz3r2m1":5}}`, `{}`,
	} {
		p.do(onPlatform("PATCH", at+"/allowance", body)).problem(http.StatusBadRequest, "validation_error")
	}
	for _, path := range []string{"/billing", "/credits/entries", "/allowance"} {
		p.do(onPlatform("GET", "/workspaces/ws_0000000000e008ztk5wvz3r2m1"+path, "")).problem(http.StatusNotFound, "not_found")
		p.do(onPlatform("GET", "/workspaces/nothing"+path, "")).problem(http.StatusNotFound, "not_found")
	}
	require.Empty(t, p.do(onPlatform("GET", at+"/credits/entries", "")).is(http.StatusOK).json()["data"])
}

func TestAllowancesOfAWorkspace(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("allowance")
	at := "/workspaces/" + w.id + "/allowance"
	before := p.do(onPlatform("GET", at, "")).is(http.StatusOK)
	state := before.data()
	require.Equal(t, []any{false, "new", "nothing_yet", nil, nil}, []any{state["enabled"], state["standing"], state["reason"], state["requests_per_minute"], state["free_requests_per_day"]})
	p.do(onPlatform("POST", strings.TrimSuffix(at, "/allowance")+"/credits/top-ups", `{"amount_usd":"5"}`)).is(http.StatusCreated)
	state = p.do(header(onPlatform("PATCH", at, `{"requests_per_minute":100,"free_requests_per_day":7,"users":{"`+w.user+`":9}}`), "If-Match", before.header.Get("ETag"))).is(http.StatusOK).data()
	require.Equal(t, []any{"standard", "topped_up", 100.0, 7.0}, []any{state["standing"], state["reason"], state["requests_per_minute"], state["free_requests_per_day"]})
	require.Equal(t, map[string]any{"requests_per_minute": 100.0, "free_requests_per_day": 7.0, "users": map[string]any{w.user: 9.0}}, state["overrides"])
	state = p.do(onPlatform("PATCH", at, `{"requests_per_minute":null,"users":{"`+w.user+`":null}}`)).is(http.StatusOK).data()
	require.Equal(t, map[string]any{"requests_per_minute": nil, "free_requests_per_day": 7.0, "users": map[string]any{}}, state["overrides"])
	p.do(header(onPlatform("PATCH", at, `{"requests_per_minute":1}`), "If-Match", before.header.Get("ETag"))).problem(http.StatusPreconditionFailed, "precondition_failed")
}
