package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// bodies are one question in every format that can be previewed.
var bodies = map[string]string{
	"":                                 `{"model":"acme/large","messages":[{"role":"user","content":"Hello"}]}`,
	"?surface=chat":                    `{"model":"acme/large","messages":[{"role":"user","content":"Hello"}],"stream":true}`,
	"?surface=responses":               `{"model":"acme/large","input":"Hello"}`,
	"?surface=messages":                `{"model":"acme/large","max_tokens":9,"messages":[{"role":"user","content":"Hello"}]}`,
	"?surface=gemini&model=acme/large": `{"contents":[{"parts":[{"text":"Hello"}]}]}`,
}

func TestPreviewTellsWhatWouldHappenAndCallsNobody(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	for query, body := range bodies {
		t.Run(query, func(t *testing.T) {
			a := g.do(http.MethodPost, "/v1/routing/preview"+query, p.token, body)
			require.Equal(t, http.StatusOK, a.status, a.body)
			got := gjson.Get(a.body, "data")
			require.Equal(t, "sampled", got.Get("ordering").Str)
			require.Equal(t, "acme/large", got.Get("chain.0.model").Str)
			require.Len(t, got.Get("chain.0.candidates").Array(), 2)
			require.InDelta(t, 1, got.Get("chain.0.candidates.0.share").Num+got.Get("chain.0.candidates.1.share").Num, 0.01)
			require.Equal(t, gjson.Null, got.Get("refusal").Type)
			require.Equal(t, "platform", got.Get(`decision.policy.#(field=="routing_mode").rung`).Str, a.body)
			require.EqualValues(t, 1, got.Get("decision.policy_revision").Int())
			require.NotEmpty(t, got.Get("decision.candidates.0.factors").Array())
			require.NotContains(t, a.body, "Hello", "the preview holds no content")
		})
	}
	require.Zero(t, p.sim.Stats().Total, "no provider was called")
}

// A preview and the request after it take the same way.
func TestPreviewAgreesWithTheRequest(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	for name, body := range map[string]string{
		"a fixed order":    `{"model":"acme/large","provider":{"order":["south"]},"messages":[{"role":"user","content":"Hello"}]}`,
		"nothing is left":  `{"model":"acme/small","provider":{"ignore":["north"]},"messages":[{"role":"user","content":"Hello"}]}`,
		"an unknown model": `{"model":"acme/none","messages":[{"role":"user","content":"Hello"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			preview := gjson.Get(g.do(http.MethodPost, "/v1/routing/preview", p.token, body).body, "data")
			real := g.chat(p.token, body)
			if real.status == http.StatusOK {
				require.Equal(t, preview.Get("chain.0.candidates.0.provider").Str, real.header.Get("X-Signalbox-Provider"))
				return
			}
			require.EqualValues(t, real.status, preview.Get("refusal.status").Int())
			for _, member := range []string{"code", "reason", "message"} {
				require.Equal(t, gjson.Get(real.body, "error."+member).Str, preview.Get("refusal."+member).Str, member)
			}
			require.Empty(t, preview.Get("chain").Array())
		})
	}
}

// What the surface lacks is told like any other refusal.
func TestPreviewOfASurfaceThatNothingServes(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	a := g.do(http.MethodPost, "/v1/routing/preview?surface=completions", p.token, `{"model":"acme/large","prompt":"Hello"}`)
	require.Equal(t, http.StatusOK, a.status, a.body)
	require.Equal(t, "capability", gjson.Get(a.body, "data.refusal.stage").Str, a.body)
	require.Len(t, gjson.Get(a.body, "data.decision.exclusions").Array(), 2)
}

func TestPreviewRefusesWhatItCannotRead(t *testing.T) {
	p := newPlatform(t)
	g := p.gateway()
	for name, c := range map[string]struct {
		query, token, body string
		status             int
		code               string
	}{
		"no key":             {"", "", bodies[""], http.StatusUnauthorized, "unauthorized"},
		"a wrong key":        {"", "sk-wrong", bodies[""], http.StatusUnauthorized, "unauthorized"},
		"another surface":    {"?surface=embeddings", p.token, bodies[""], http.StatusBadRequest, "validation_error"},
		"no such surface":    {"?surface=telepathy", p.token, bodies[""], http.StatusBadRequest, "validation_error"},
		"not JSON":           {"", p.token, `{"model":`, http.StatusBadRequest, "invalid_json"},
		"a misspelled limit": {"", p.token, `{"model":"acme/small","provider":{"onlyy":["north"]},"messages":[]}`, http.StatusBadRequest, "validation_error"},
	} {
		t.Run(name, func(t *testing.T) {
			a := g.do(http.MethodPost, "/v1/routing/preview"+c.query, c.token, c.body)
			require.Equal(t, c.status, a.status, a.body)
			require.Equal(t, c.code, a.fault(t)["code"])
		})
	}
	require.Equal(t, http.StatusMethodNotAllowed, g.do(http.MethodGet, "/v1/routing/preview", p.token, "").status)
}
