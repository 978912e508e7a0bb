package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
)

// A change of the workspace's configuration decides the next request, whose
// record names its version.
func TestAutoFollowsItsConfiguration(t *testing.T) {
	p, key := autoPlatform(t, func(c *dataplane.Config) { c.Auto.ClassifierModel = "off" })
	ask := func() map[string]any {
		t.Helper()
		got := p.On(t).Ask(key, `{"model":"signalbox/auto","messages":[{"role":"user","content":"Say hello"}]}`)
		require.Equal(t, http.StatusOK, got.Status, "%s", got.Body)
		auto, _ := p.On(t).Logged(got.Header).Get("decision.auto").Value().(map[string]any)
		return map[string]any{
			"version": auto["config_version"], "objective": auto["objective"], "spend_profile": auto["spend_profile"], "eligible": auto["eligible"],
		}
	}
	require.Equal(t, map[string]any{"version": 1.0, "objective": "balanced", "spend_profile": "standard", "eligible": 2.0}, ask())

	changed := p.Change(http.MethodPatch, "/v1/routing/auto", `{"objective":"cost","models":["sim/a-pick"]}`)
	require.EqualValues(t, 2, changed.Get("data.version").Int(), "%s", changed.Body)
	require.Equal(t, map[string]any{"version": 2.0, "objective": "cost", "spend_profile": "standard", "eligible": 1.0}, ask())

	p.Change(http.MethodPatch, "/v1/routing/auto", `{"spend_profile":"any","models":[]}`)
	require.Equal(t, map[string]any{"version": 3.0, "objective": "cost", "spend_profile": "any", "eligible": 3.0}, ask(), "the dear one too")
}
