package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every list that can be set is refused as null by its name, and told how it is
// emptied.
func TestNoListIsNull(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("null")
	for _, c := range []struct{ method, path, body, at string }{
		{"PATCH", "/v1/settings", `{"fallback_models":null}`, "fallback_models"},
		{"PATCH", "/v1/routing/auto", `{"models":null}`, "models"},
		{"POST", "/v1/routing/profiles", `{"name":"x","routing":{"fallback_models":null}}`, "routing.fallback_models"},
		{"POST", "/v1/routing/profiles", `{"name":"x","routing":{"provider":{"order":null}}}`, "routing.provider.order"},
		{"POST", "/v1/routing/profiles", `{"name":"x","routing":{"provider":{"only":null}}}`, "routing.provider.only"},
		{"POST", "/v1/routing/profiles", `{"name":"x","routing":{"provider":{"ignore":null}}}`, "routing.provider.ignore"},
		{"POST", "/v1/keys", `{"name":"x","models":null}`, "models"},
		{"POST", "/v1/keys", `{"name":"x","surfaces":null}`, "surfaces"},
		{"POST", "/v1/byok", `{"provider":"openai","name":"x","key":"sk-12345678","models":null}`, "models"},
	} {
		refused := p.do(call{method: c.method, path: c.path, token: w.key, body: c.body}).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, c.at+": must be an array, [] for none", refused.Detail, "%s %s", c.path, c.body)
	}
	for path, body := range map[string]string{"/v1/settings": `{"fallback_models":[]}`, "/v1/routing/auto": `{"models":[]}`} {
		p.do(call{method: "PATCH", path: path, token: w.key, body: body}).is(http.StatusOK)
	}
}

// The refusal of a pattern says which form it has.
func TestAPatternOfModelsIsToldItsForm(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("patterns")
	for _, body := range []string{`{"models":["openai/*","open ai"]}`, `{"models":["openai/*","a,b"]}`} {
		refused := p.do(call{method: "PATCH", path: "/v1/routing/auto", token: w.key, body: body}).problem(http.StatusBadRequest, "validation_error")
		require.Equal(t, "models[1]", (*refused.Violations)[0].Path)
		require.Contains(t, refused.Detail, "a pattern such as openai/*")
	}
}

// A workspace has the default until it changes it, field by field, and each
// change is recorded and published.
func TestAutoRouting(t *testing.T) {
	p := newPlane(t)
	w, other := p.tenant("auto"), p.tenant("other")
	standard := map[string]any{
		"version": 1.0, "objective": "balanced", "spend_profile": "standard", "models": []any{}, "allow_fallbacks": true,
	}
	first := p.do(call{method: "GET", path: "/v1/routing/auto", token: w.key}).is(http.StatusOK)
	require.Equal(t, standard, first.data())
	require.Equal(t, `"1"`, first.header.Get("ETag"))

	patch := func(body string) call {
		return call{method: "PATCH", path: "/v1/routing/auto", token: w.key, body: body}
	}
	changed := p.do(header(patch(`{"objective":"cost","spend_profile":"custom","prices":{"input":"0.25","output":"2"},
		"models":["openai/*","anthropic/claude-sonnet-4.5"],"allow_fallbacks":false}`), "If-Match", `"1"`)).is(http.StatusOK)
	require.Equal(t, `"2"`, changed.header.Get("ETag"))
	want := map[string]any{
		"version": 2.0, "objective": "cost", "spend_profile": "custom", "prices": map[string]any{"input": "0.25", "output": "2.00"},
		"models": []any{"openai/*", "anthropic/claude-sonnet-4.5"}, "allow_fallbacks": false,
	}
	require.Equal(t, want, changed.data())
	require.Equal(t, want, p.do(call{method: "GET", path: "/v1/routing/auto", token: w.key}).is(http.StatusOK).data())
	require.Equal(t, standard, p.do(call{method: "GET", path: "/v1/routing/auto", token: other.key}).is(http.StatusOK).data())

	p.do(header(patch(`{"objective":"quality"}`), "If-Match", `"1"`)).problem(http.StatusPreconditionFailed, "precondition_failed")
	reset := p.do(patch(`{"objective":"balanced","spend_profile":"standard","models":[],"allow_fallbacks":true}`)).is(http.StatusOK).data()
	standard["version"] = 3.0
	require.Equal(t, standard, reset, "another profile takes the prices along")

	events := p.do(call{method: "GET", path: "/v1/audit-events?action=auto_routing.update", token: w.key}).is(http.StatusOK).json()["data"].([]any)
	require.Len(t, events, 2)
	require.Contains(t, events[1].(map[string]any)["diff"], map[string]any{"path": "prices.input", "before": "", "after": "0.25"})
	ref := changed.json()["publication"].(map[string]any)["id"].(string)
	published := p.do(call{method: "GET", path: "/v1/publications/" + ref, token: w.key}).is(http.StatusOK).data()
	require.Equal(t, []any{"auto_routing.update"}, published["changes"])
}
