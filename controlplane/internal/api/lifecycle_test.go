package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A model that goes is told to who names or used it, with where and how much,
// and to nobody else.
func TestLifecycleAlerts(t *testing.T) {
	p := newPlane(t)
	w, other := p.tenant("alerts"), p.tenant("bystander")
	const path = "/v1/alerts/lifecycle"
	alerts := func(token string) []any {
		t.Helper()
		return p.do(call{method: "GET", path: path, token: token}).is(http.StatusOK).json()["data"].([]any)
	}
	put := func(model, body string) {
		t.Helper()
		p.do(call{method: "PUT", path: "/v1/platform/catalog/models/acme/" + model, token: operatorToken, body: body}).is(http.StatusOK)
	}
	const endpoints = `,"endpoints":[{"provider":"openai","upstream_model":"x"}]`
	put("new", `{"context":1000`+endpoints+`}`)
	put("small", `{"context":1000`+endpoints+`}`)
	put("gone", `{"context":1000`+endpoints+`}`)
	key, _ := p.newKey(w, "app")
	p.do(call{method: "PATCH", path: "/v1/settings", token: w.key, body: `{"fallback_models":["acme/gone"]}`}).is(http.StatusOK)
	profile := p.newProfile(w, `{"name":"careful","routing":{"default_model":"acme/gone"}}`)
	p.do(call{method: "PATCH", path: "/v1/keys/" + key, token: w.key, body: `{"models":["acme/small","acme/new"]}`}).is(http.StatusOK)
	used := p.served(w, key, "s") // acme/small
	require.Empty(t, alerts(w.key), "no model goes yet")

	put("small", `{"context":1000,"lifecycle":{"state":"deprecated","deprecated_at":"2026-01-31T00:00:00Z","retires_at":"2999-01-31T00:00:00Z","replacement":"acme/new"}`+endpoints+`}`)
	put("gone", `{"context":1000,"lifecycle":{"state":"retired"}`+endpoints+`}`)
	require.Equal(t, []any{
		map[string]any{
			"model": "acme/gone", "state": "retired", "requests": 0.0, "more_references": 0.0,
			"references": []any{
				map[string]any{"kind": "settings", "field": "fallback_models"},
				map[string]any{"kind": "routing_profile", "id": profile, "name": "careful", "field": "default_model"},
			},
		},
		map[string]any{
			"model": "acme/small", "state": "deprecated", "deprecated_at": "2026-01-31T00:00:00Z", "retires_at": "2999-01-31T00:00:00Z",
			"replacement": "acme/new", "requests": 1.0, "last_used_at": used.ID.Time().UTC().Format("2006-01-02T15:04:05.999999999Z07:00"), "more_references": 0.0,
			"references": []any{map[string]any{"kind": "key", "id": key, "name": "app", "field": "models"}},
		},
	}, alerts(w.key))
	require.Empty(t, alerts(other.key), "another workspace has nothing to do with them")
	p.do(call{method: "GET", path: path}).problem(http.StatusUnauthorized, "unauthorized")
}
