package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
)

// TestARoutingProfileHoldsEverywhereOnceItIsBound binds a profile to a key and
// sees it at every gateway when the call returns, with its rung in the record;
// once it is unbound, nothing of it is left.
func TestARoutingProfileHoldsEverywhereOnceItIsBound(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 2})
	key := p.Key()
	profile := p.Change(http.MethodPost, "/v1/routing/profiles", `{"name":"South","routing":{"default_model":"sim/both","provider":{"only":["south"]}}}`).Get("data.id").Str
	p.Works(key) // the gateways hold the key, and the snapshot from before

	fields := func(gateway int, body string) (provider string, rungs map[string]string) {
		answer, err := p.Post(t.Context(), gateway, key.Secret, "/v1/chat/completions", []byte(body))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
		decision := p.Logged(answer.Header).Get("decision")
		rungs = make(map[string]string)
		for _, f := range decision.Get("policy").Array() {
			rungs[f.Get("field").Str] = f.Get("rung").Str + " " + f.Get("value").Str
		}
		return decision.Get("decided_provider").Str, rungs
	}
	const nameless, named = `{"messages":[{"role":"user","content":"x"}]}`, `{"model":"sim/both","messages":[{"role":"user","content":"x"}]}`

	p.Change(http.MethodPatch, "/v1/keys/"+key.ID, `{"routing_profile_id":"`+profile+`"}`)
	for i := range p.Gateways {
		provider, rungs := fields(i, nameless)
		require.Equal(t, "south", provider)
		require.Equal(t, "key south", rungs["provider.only"])
		require.Equal(t, "key sim/both", rungs["default_model"])
	}
	effective, err := p.Manage(t.Context(), http.MethodGet, "/v1/routing/effective?key="+key.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "key", effective.Get(`data.fields.#(field=="provider.only").rung`).Str)

	department := p.Change(http.MethodPost, "/v1/departments", `{"name":"Research","routing_profile_id":"`+profile+`"}`).Get("data.id").Str
	p.Change(http.MethodPatch, "/v1/keys/"+key.ID, `{"routing_profile_id":null,"department_id":"`+department+`"}`)
	_, rungs := fields(0, named)
	require.Equal(t, "department south", rungs["provider.only"])

	p.Change(http.MethodPatch, "/v1/keys/"+key.ID, `{"department_id":null}`)
	p.Change(http.MethodPatch, "/v1/settings", `{"routing_profile_id":"`+profile+`"}`)
	_, rungs = fields(1, named)
	require.Equal(t, "workspace_profile south", rungs["provider.only"])

	p.Change(http.MethodPatch, "/v1/settings", `{"routing_profile_id":null}`)
	p.Change(http.MethodDelete, "/v1/departments/"+department, "")
	p.Change(http.MethodDelete, "/v1/routing/profiles/"+profile, "")
	for i := range p.Gateways {
		_, rungs := fields(i, named)
		require.NotContains(t, rungs, "provider.only")
		answer, err := p.Post(t.Context(), i, key.Secret, "/v1/chat/completions", []byte(nameless))
		require.NoError(t, err)
		require.Equal(t, "no_default_model", answer.Get("error.code").Str)
	}
	p.Works(client.Key{ID: key.ID, Secret: key.Secret})
}
