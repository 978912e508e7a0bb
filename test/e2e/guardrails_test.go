package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// secretWord is in every body here and may be in no record and no refusal.
const secretWord = "heliotrope"

func saysBoth(extra string) string {
	return `{"model":"sim/both",` + extra + `"messages":[{"role":"user","content":"` + secretWord + `"}]}`
}

// guardrail makes a guardrail and returns its path.
func guardrail(p *harness.Platform, body string) (path, id string) {
	id = p.Change(http.MethodPost, "/v1/guardrails", body).Get("data.id").Str
	return "/v1/guardrails/" + id, id
}

// TestAGuardrailHoldsEverywhereOnceItIsBound binds guardrails to a key, to its
// owner and to the workspace, sees each at every gateway when the call returns,
// and nothing of them once they are off.
func TestAGuardrailHoldsEverywhereOnceItIsBound(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	key, free := p.Key(), p.Key()
	owner := ownerOf(t, p, key)
	north, northID := guardrail(p, `{"name":"no north","providers":{"block":["north"]}}`)
	both, bothID := guardrail(p, `{"name":"not both","models":{"block":["sim/both"]}}`)
	data, dataID := guardrail(p, `{"name":"no training","data_policy":{"deny_training":true}}`)
	ask := func(gateway int, key client.Key, body string) client.Answer {
		answer, err := p.Post(t.Context(), gateway, key.Secret, "/v1/chat/completions", []byte(body))
		require.NoError(t, err)
		return answer
	}
	refused := func(key client.Key, reason string, ids ...string) {
		t.Helper()
		for i := range p.Gateways {
			answer := ask(i, key, saysBoth(""))
			require.Equal(t, http.StatusForbidden, answer.Status, "%s", answer.Body)
			require.Equal(t, []string{"guardrail_blocked", reason, "client"}, texts(answer.Get("error"), "code", "reason", "origin"), "%s", answer.Body)
			var named []string
			for _, one := range answer.Get("error.guardrails").Array() {
				named = append(named, one.Str)
			}
			require.ElementsMatch(t, ids, named)
			entry := p.Logged(answer.Header)
			require.Equal(t, []string{"guardrail_blocked", reason}, texts(entry.Get("decision.refusal"), "code", "reason"))
			require.Empty(t, entry.Get("decision.attempts").Array())
			for _, text := range []string{string(answer.Body), entry.Raw} {
				require.NotContains(t, text, secretWord)
			}
		}
	}
	served := func(key client.Key, provider string) gjson.Result {
		t.Helper()
		var decision gjson.Result
		for i := range p.Gateways {
			answer := ask(i, key, saysBoth(""))
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			entry := p.Logged(answer.Header)
			require.NotContains(t, entry.Raw, secretWord)
			decision = entry.Get("decision")
			require.Equal(t, provider, decision.Get("decided_provider").Str)
		}
		return decision
	}
	served(key, "north")

	p.Change(http.MethodPost, north+"/keys/add", `{"key_ids":["`+key.ID+`"]}`)
	decision := served(key, "south")
	require.Equal(t, "key_guardrail", decision.Get(`policy.#(field=="guardrail.providers.block").rung`).Str)
	require.Equal(t, northID, decision.Get(`exclusions.#(endpoint=="north:sim/both").guardrail`).Str)
	served(free, "north")

	p.Change(http.MethodPost, both+"/members/add", `{"user_ids":["`+owner+`"]}`)
	refused(key, "model_restricted_by_policy", bothID, northID)
	refused(free, "model_restricted_by_policy", bothID)
	young := p.Key()
	refused(young, "model_restricted_by_policy", bothID)
	require.Equal(t, http.StatusOK, ask(0, young, `{"model":"`+upstream.Small+`","messages":[{"role":"user","content":"x"}]}`).Status)
	p.Change(http.MethodPost, both+"/members/remove", `{"user_ids":["`+owner+`"]}`)

	p.Change(http.MethodPatch, data, `{"whole_workspace":true}`)
	refused(free, "data_handling_policy_no_routes", dataID)
	refused(key, "data_handling_policy_no_routes", dataID, northID)
	effective, err := p.Manage(t.Context(), http.MethodGet, "/v1/routing/effective?key="+key.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "key", effective.Get(`data.guardrails.#(id=="`+northID+`").scope`).Str)
	require.Equal(t, "workspace", effective.Get(`data.guardrails.#(id=="`+dataID+`").scope`).Str)
	require.True(t, effective.Get("data.routing.provider.deny_training").Bool())

	p.Change(http.MethodPatch, data, `{"enabled":false}`)
	served(free, "north")
	served(key, "south")
	p.Change(http.MethodPost, north+"/keys/remove", `{"key_ids":["`+key.ID+`"]}`)
	require.False(t, served(key, "north").Get(`policy.#(field%"guardrail*")`).Exists())
	p.Change(http.MethodDelete, north, "")
	p.Change(http.MethodDelete, both, "")
}

func ownerOf(t *testing.T, p *harness.Platform, key client.Key) string {
	t.Helper()
	answer, err := p.Manage(t.Context(), http.MethodGet, "/v1/keys/"+key.ID, nil)
	require.NoError(t, err)
	return answer.Get("data.created_by").Str
}

// TestThereIsNoWayAroundAGuardrail tries every way to name a blocked model or
// provider, on every surface, and sees the refusal in the surface's own form;
// what else the key may use is listed and served.
func TestThereIsNoWayAroundAGuardrail(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	_, id := guardrail(p, `{"name":"strict","whole_workspace":true,"models":{"block":["sim/both"]},"providers":{"block":["south"]}}`)
	const path = "/v1/chat/completions"
	for name, body := range map[string]string{
		"by its name":            saysBoth(""),
		"with a suffix":          strings.Replace(saysBoth(""), "sim/both", "sim/both:nitro", 1),
		"at a provider":          strings.Replace(saysBoth(""), "sim/both", "north:sim/both", 1),
		"at a blocked provider":  strings.Replace(saysBoth(""), "sim/both", "south:sim/both", 1),
		"by its bare name":       strings.Replace(saysBoth(""), "sim/both", "both", 1),
		"with an order":          saysBoth(`"provider":{"order":["south"],"sort":"price"},`),
		"as its own fallback":    saysBoth(`"models":["sim/both:fast"],`),
		"as a stream":            saysBoth(`"stream":true,`),
		"of blocked models only": saysBoth(`"models":["both"],`),
	} {
		answer, err := p.Post(t.Context(), 0, key.Secret, path, []byte(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, answer.Status, "%s: %s", name, answer.Body)
		require.Equal(t, []string{"guardrail_blocked", "model_restricted_by_policy"}, texts(answer.Get("error"), "code", "reason"), name)
	}
	for path, c := range map[string]struct{ body, kind string }{
		"/v1/responses": {`{"model":"sim/both","input":"x"}`, "error.type"},
		"/v1/messages":  {`{"model":"sim/both","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`, "error.type"},
		"/v1beta/models/sim/both:generateContent": {`{"contents":[{"parts":[{"text":"x"}]}]}`, "error.status"},
	} {
		answer, err := p.Post(t.Context(), 0, key.Secret, path, []byte(c.body))
		require.NoError(t, err)
		require.Equal(t, http.StatusForbidden, answer.Status, "%s: %s", path, answer.Body)
		require.Contains(t, string(answer.Body), "model_restricted_by_policy", path)
		require.Contains(t, string(answer.Body), id, path)
		require.NotEmpty(t, answer.Get(c.kind).Str, "%s: %s", path, answer.Body)
	}

	fallback, err := p.Post(t.Context(), 0, key.Secret, path, []byte(saysBoth(`"models":["`+upstream.Small+`"],`)))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, fallback.Status, "%s", fallback.Body)
	require.Equal(t, upstream.Small, fallback.Header.Get(client.HeaderModel))
	preview, err := p.Post(t.Context(), 0, key.Secret, "/v1/routing/preview", []byte(saysBoth("")))
	require.NoError(t, err)
	require.Contains(t, string(preview.Body), id)
	require.Contains(t, string(preview.Body), "guardrail_blocked")

	listed, err := p.Do(t.Context(), client.Call{Method: http.MethodGet, URL: p.Gateways[0] + "/v1/models", Bearer: key.Secret})
	require.NoError(t, err)
	require.True(t, listed.Get(`data.#(id=="`+upstream.Small+`")`).Exists(), "%s", listed.Body)
	require.False(t, listed.Get(`data.#(id=="sim/both")`).Exists())
}

// TestAutosClassifierKeepsToGuardrails: a blocked classifier is not asked, and
// a blocked model is not chosen.
func TestAutosClassifierKeepsToGuardrails(t *testing.T) {
	p, key := autoPlatform(t, func(*dataplane.Config) {})
	p.North.HandleModel(judge, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("the blocked classifier was asked")
		_, _ = io.WriteString(w, "{}")
	}))
	path, _ := guardrail(p, `{"name":"no judge","whole_workspace":true,"models":{"block":["sim/`+judge+`","*-pick"]}}`)
	body := `{"model":"signalbox/auto","messages":[{"role":"user","content":"Translate to French: hello"}]}`
	blocked := p.Ask(key, body)
	require.Equal(t, http.StatusForbidden, blocked.Status, "%s", blocked.Body)
	require.Equal(t, "model_restricted_by_policy", blocked.Get("error.reason").Str)
	p.Change(http.MethodPatch, path, `{"models":{"block":["sim/`+judge+`"]}}`)
	got := p.Ask(key, body)
	require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
	require.Equal(t, []string{"local", "constrained"}, texts(p.Logged(got.Header).Get("decision.auto"), "classifier", "local_reason"))
	p.Change(http.MethodPatch, path, `{"models":{"block":["sim/`+judge+`","sim/a-pick"]}}`)
	require.Equal(t, "sim/b-pick", p.Ask(key, body).Header.Get(client.HeaderModel))
}

// TestGuardrailsOfATenantAreItsOwn: one that binds another workspace binds
// nothing here, and can bind nothing of it.
func TestGuardrailsOfATenantAreItsOwn(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	other, err := p.CreateWorkspace(t.Context(), "other")
	require.NoError(t, err)
	made, err := other.Manage(t.Context(), http.MethodPost, "/v1/guardrails?wait=10s", []byte(`{"name":"all","whole_workspace":true,"models":{"block":["*"]}}`))
	require.NoError(t, err)
	p.Works(key)
	theirs := "/v1/guardrails/" + made.Get("data.id").Str
	for body, path := range map[string]string{
		`{"key_ids":["` + key.ID + `"]}`:              theirs + "/keys/add",
		`{"user_ids":["` + ownerOf(t, p, key) + `"]}`: theirs + "/members/add",
	} {
		_, err = other.Manage(t.Context(), http.MethodPost, path, []byte(body))
		require.ErrorContains(t, err, "validation_error")
	}
	_, err = p.Manage(t.Context(), http.MethodGet, theirs, nil)
	require.ErrorContains(t, err, "not_found")
	p.Works(key)
}
