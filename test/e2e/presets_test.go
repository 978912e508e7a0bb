package e2e_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// newPreset makes a preset whose first version is deployed everywhere.
func newPreset(p *harness.Platform, slug, config, visibility string) {
	p.Change(http.MethodPost, "/v1/presets", fmt.Sprintf(`{"slug":%q,"visibility":%q,"publish":true,"config":%s}`, slug, visibility, config))
}

// publish makes the next version of a preset and deploys it everywhere.
func publish(p *harness.Platform, slug, config string) {
	p.Change(http.MethodPatch, "/v1/presets/"+slug, `{"replace_config":true,"config":`+config+`}`)
	p.Change(http.MethodPost, "/v1/presets/"+slug+"/versions", `{"deploy":true}`)
}

// TestAPresetIsEverywhereOnceItIsDeployed deploys and rolls back, and sees at
// every gateway what the name means when the call has returned.
func TestAPresetIsEverywhereOnceItIsDeployed(t *testing.T) {
	p := harness.Start(t, harness.Options{Gateways: 3})
	key := p.Key()
	const north, south = `{"model":"sim/both","allowed_providers":["north"]}`, `{"model":"sim/both","allowed_providers":["south"]}`
	newPreset(p, "place", north, "team")
	means := func(model, provider string, version int64) {
		t.Helper()
		for i := range p.Gateways {
			answer := p.Say(i, key, model)
			require.Equal(t, http.StatusOK, answer.Status, "gateway %d: %s", i, answer.Body)
			require.Equal(t, provider, answer.Header.Get(client.HeaderProvider), "%s at gateway %d", model, i)
			preset := p.Logged(answer.Header).Get("decision.preset")
			require.Equal(t, version, preset.Get("version").Int(), "%s", preset.Raw)
		}
	}
	means("@place", upstream.North, 1)
	publish(p, "place", south)
	means("@place", upstream.South, 2)
	means("@PLACE#1", upstream.North, 1)
	p.Change(http.MethodPost, "/v1/presets/place/rollback", "")
	means("@place", upstream.North, 1)
	means("@place#2", upstream.South, 2)
	p.Change(http.MethodPost, "/v1/presets/place/versions/2/deploy", "")
	means("@place", upstream.South, 2)

	_, err := p.Manage(t.Context(), http.MethodDelete, "/v1/presets/place?confirm_name=place&wait=10s", nil)
	require.NoError(t, err)
	for i := range p.Gateways {
		refusedAs(t, p.Say(i, key, "@place"), http.StatusNotFound, "preset_not_found")
	}
}

func refusedAs(t *testing.T, a client.Answer, status int, reason string) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Body)
	require.Equal(t, reason, a.Get("error.reason").Str, "%s", a.Body)
}

// TestWhoMayUseAPreset tries presets of others: of another member, and of
// another workspace.
func TestWhoMayUseAPreset(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	mine, theirs := p.Key(), p.NewKey(client.NewKey{Name: "theirs"})
	given(t, p, theirs)
	newPreset(p, "mine", `{"model":"sim/both"}`, "private")
	require.Equal(t, http.StatusOK, p.Say(0, mine, "@mine").Status)
	refusedAs(t, p.Say(0, theirs, "@mine"), http.StatusNotFound, "preset_not_found")
	p.Change(http.MethodPatch, "/v1/presets/mine", `{"visibility":"team"}`)
	require.Equal(t, http.StatusOK, p.Say(0, theirs, "@mine").Status)

	other, err := p.CreateWorkspace(t.Context(), "globex")
	require.NoError(t, err)
	foreign, _, err := other.CreateKey(t.Context(), client.NewKey{Name: "foreign"}, within)
	require.NoError(t, err)
	p.Change(http.MethodPut, "/v1/presets/publisher", `{"handle":"acme"}`)
	refusedAs(t, p.Say(0, foreign, "@acme/mine"), http.StatusNotFound, "preset_not_found")
	refusedAs(t, p.Say(0, foreign, "@mine"), http.StatusNotFound, "preset_not_found")
	p.Change(http.MethodPatch, "/v1/presets/mine", `{"visibility":"public"}`)
	p.Eventually(func() bool { return p.Say(0, foreign, "@acme/mine").Status == http.StatusOK }, "what is public is not found")
	answer := p.Say(0, foreign, "@acme/mine#1")
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.Equal(t, "sim/both", answer.Header.Get(client.HeaderModel))

	// What was never public stays the workspace's own.
	p.Change(http.MethodPatch, "/v1/presets/mine", `{"config":{"model":"sim/small"}}`)
	p.Change(http.MethodPost, "/v1/presets/mine/versions", `{}`)
	require.Equal(t, http.StatusOK, p.Say(0, theirs, "@mine#2").Status)
	refusedAs(t, p.Say(0, foreign, "@acme/mine#2"), http.StatusNotFound, "preset_not_found")
	p.Change(http.MethodPatch, "/v1/presets/mine", `{"visibility":"team"}`)
	p.Eventually(func() bool { return p.Say(0, foreign, "@acme/mine").Get("error.reason").Str == "preset_not_found" }, "what is public no more is found")
}

// given makes a key another member's, who did not exist before.
func given(t *testing.T, p *harness.Platform, key client.Key) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), p.DatabaseURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close(t.Context())) }()
	_, err = db.Exec(t.Context(), `
		WITH someone AS (INSERT INTO users VALUES (gen_random_uuid(), 'grace@acme.example', 'Grace', now()) RETURNING id),
		     member AS (INSERT INTO members SELECT k.workspace_id, s.id, 'member', now() FROM someone s, api_keys k WHERE k.name = 'theirs')
		UPDATE api_keys SET created_by = (SELECT id FROM someone) WHERE name = 'theirs'`)
	require.NoError(t, err)
	p.Change(http.MethodPatch, "/v1/keys/"+key.ID, `{"name":"theirs, still"}`)
}

// TestWhatAPresetDoesNotAllow has the reasons of its refusals.
func TestWhatAPresetDoesNotAllow(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	p.Change(http.MethodPatch, "/v1/settings", `{"default_model":"sim/small"}`)
	newPreset(p, "narrow", `{"allowed_models":["sim/both"]}`, "team")
	refusedAs(t, p.Say(0, key, "@narrow"), http.StatusBadRequest, "preset_model_not_allowed")
	newPreset(p, "nowhere", `{"model":"sim/small","allowed_providers":["south"]}`, "team")
	refusedAs(t, p.Say(0, key, "@nowhere"), http.StatusBadRequest, "no_providers_after_preset_filter")
	refusedAs(t, p.Say(0, key, "@nobody"), http.StatusNotFound, "preset_not_found")
	refusedAs(t, p.Say(0, key, "@narrow#7"), http.StatusNotFound, "preset_not_found")
}
