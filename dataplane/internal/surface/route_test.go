package surface_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

func TestModelsInPaths(t *testing.T) {
	w := &world{}
	url, key := start(t, w, nil), newToken(t, secret.Inference)
	for path, want := range map[string]struct {
		model  string
		action call.Action
		stream bool
	}{
		"/v1beta/models/small:generateContent":                           {"small", call.Generate, false},
		"/v1beta/models/acme/small:generateContent":                      {"acme/small", call.Generate, false},
		"/v1beta/models/acme%2Fsmall:generateContent":                    {"acme/small", call.Generate, false},
		"/v1beta/models/north%3Aacme%2fsmall:free%3Acheap:countTokens":   {"north:acme/small:free:cheap", call.Count, false},
		"/v1beta/models/north:acme/small:streamGenerateContent?alt=sse":  {"north:acme/small", call.Generate, true},
		"/v1/models/acme/small:generateContent":                          {"acme/small", call.Generate, false},
		"/v1/models/acme/small:streamGenerateContent?alt=sse&key=" + key: {"acme/small", call.Generate, true},
	} {
		got := send(t, http.MethodPost, url+path, strings.NewReader(`{"contents":[],"model":"another"}`), "x-goog-api-key", key)
		require.Equal(t, 200, got.status, path+got.body)
		c := w.last(t)
		require.Equal(t, catalog.Gemini, c.Surface)
		require.Equal(t, want.action, c.Action, path)
		require.Equal(t, want.model, c.Request.Model, path)
		require.Equal(t, want.stream, c.Request.Stream, path)
		require.Contains(t, c.Route, "{model}:")
		require.NotContains(t, c.Query, "key", "a credential goes no further")
		if want.stream {
			require.Equal(t, "sse", c.Query.Get("alt"))
		}
	}
	for _, path := range []string{
		"/v1beta/models/small", "/v1beta/models/", "/v1beta/models/:generateContent", "/v1beta/models/small:embedContent",
		"/v1beta/models/small:", "/v1beta/models/small:GenerateContent", "/v1/models/acme/small",
	} {
		got := send(t, http.MethodPost, url+path, strings.NewReader(`{"contents":[]}`), "x-goog-api-key", key)
		require.Equal(t, 404, got.status, path)
		require.Equal(t, "NOT_FOUND", got.fault(t)["status"], path)
		require.Contains(t, got.body, "{model}:countTokens")
	}
	got := send(t, http.MethodGet, url+"/v1beta/models/small:generateContent", nil, "x-goog-api-key", key)
	require.Equal(t, 405, got.status, got.body)
	require.Equal(t, "POST", got.header.Get("Allow"))
	require.Equal(t, "INVALID_ARGUMENT", got.fault(t)["status"])
}

// What no route takes is answered in the form of the path's family, whatever
// the headers say.
func TestFormsWithoutARoute(t *testing.T) {
	w := &world{}
	url := start(t, w, nil)
	const (
		openai    = `^\{"error":\{"code":"[a-z_]+",`
		anthropic = `"type":"error"`
		gemini    = `"status":"[A-Z_]+"`
	)
	for _, c := range []struct{ method, path, header, form string }{
		{"GET", "/v1/chat/completions", "anthropic-version", openai},
		{"DELETE", "/v1/responses", "x-goog-api-key", openai},
		{"GET", "/v1/messages", "", anthropic},
		{"GET", "/v1/messages/count_tokens", "x-goog-api-key", anthropic},
		{"POST", "/v1/messages/batches", "", anthropic},
		{"POST", "/v1beta/cachedContents", "", gemini},
		{"PUT", "/v1beta/models/x", "", gemini},
		{"POST", "/v1beta/v1beta/models/x:generateContent", "", gemini},
		{"POST", "/v1/nothing", "", openai},
		{"POST", "/v1/nothing", "anthropic-version", anthropic},
		{"POST", "/v1/nothing", "x-goog-api-key", gemini},
		{"POST", "/v1messages", "", openai},
	} {
		var header []string
		if c.header != "" {
			header = []string{c.header, "x"}
		}
		got := send(t, c.method, url+c.path, nil, header...)
		require.Contains(t, []int{404, 405}, got.status)
		require.Regexp(t, c.form, got.body, c.method+c.path)
		require.Equal(t, got.status == 405, got.header.Get("Allow") != "", c.path)
	}
}

func TestModelsForGemini(t *testing.T) {
	w := &world{pin: pinned(t)}
	url, key := start(t, w, nil), newToken(t, secret.Inference)
	get := func(path string) (out struct {
		Models []map[string]any `json:"models"`
		Next   string           `json:"nextPageToken"`
	},
	) {
		t.Helper()
		got := send(t, http.MethodGet, url+path, nil, "x-goog-api-key", key)
		require.Equal(t, 200, got.status, got.body)
		require.NoError(t, json.Unmarshal([]byte(got.body), &out))
		return out
	}
	all := get("/v1beta/models?pageSize=0")
	require.Len(t, all.Models, 3, "what no provider serves is not listed")
	require.Empty(t, all.Next)
	require.Equal(t, "models/acme/a", all.Models[0]["name"])
	require.Equal(t, []any{"generateContent", "streamGenerateContent", "countTokens"}, all.Models[0]["supportedGenerationMethods"])
	first := get("/v1beta/models?pageSize=2")
	require.Len(t, first.Models, 2)
	rest := get("/v1beta/models?pageSize=2&pageToken=" + first.Next)
	require.Len(t, rest.Models, 1)
	require.Equal(t, "models/acme/c", rest.Models[0]["name"])
	for _, path := range []string{"acme/a", "acme%2Fa", "a-latest"} {
		got := send(t, http.MethodGet, url+"/v1beta/models/"+path, nil, "x-goog-api-key", key)
		require.Equal(t, 200, got.status)
		require.Contains(t, got.body, `"name":"models/acme/a"`)
	}
	got := send(t, http.MethodGet, url+"/v1beta/models/acme/hidden", nil, "x-goog-api-key", key)
	require.Equal(t, 404, got.status)
	require.Equal(t, "NOT_FOUND", got.fault(t)["status"])
	require.Equal(t, 400, send(t, http.MethodGet, url+"/v1beta/models?pageSize=x", nil, "x-goog-api-key", key).status)
}
