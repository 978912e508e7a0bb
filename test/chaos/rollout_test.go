//go:build chaos

package chaos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

const judged = 30 * time.Second // for a verdict, or for the way to the gateways

// TestRolloutsOutliveTheControlPlane kills the control plane while a version is
// rolled out: what was begun goes on from where it stood, and a bad version
// that met requests meanwhile is taken back by what is known of those.
func TestRolloutsOutliveTheControlPlane(t *testing.T) {
	s := start(t)
	kill := func(t *testing.T, load *steady, meanwhile int) {
		t.Helper()
		require.NoError(t, s.ControlPlane.Kill())
		load.more(t, meanwhile)
		require.NoError(t, s.ControlPlane.Restart())
		require.NoError(t, s.AwaitControlPlane(t.Context()))
	}

	t.Run("a good version is deployed", func(t *testing.T) {
		load := begin(t, s.Platform, "good-rollout")
		r := rollOut(t, load, upstream.Small, `[{"percent":20,"hold":"1s"},{"percent":60,"hold":"1s"},{"percent":100,"hold":"1s"}]`)
		for step := range 2 {
			require.Eventually(t, func() bool { return r.state(t).Get("step").Int() > int64(step) }, judged, 20*time.Millisecond)
			kill(t, load, 300)
		}
		require.Eventually(t, func() bool { return r.state(t).Get("state").Str == "completed" }, judged, 50*time.Millisecond)
		require.Equal(t, int64(2), r.get(t, "").Get("deployed_version").Int())
		load.settle(t, settleTime)
		load.unharmed(t, none)
	})

	t.Run("a bad version is taken back", func(t *testing.T) {
		load := begin(t, s.Platform, "bad-rollout")
		r := rollOut(t, load, upstream.Model("status-503"), `[{"percent":50,"hold":"10m"}]`)
		kill(t, load, 300)
		require.Eventually(t, func() bool { return r.state(t).Get("state").Str == "rolled_back" }, judged, 50*time.Millisecond)
		evidence := r.state(t).Get("evidence")
		require.Equal(t, "max_error_rate", evidence.Get("broken").Str)
		require.Positive(t, evidence.Get("arms.candidate.failures").Int())
		require.Zero(t, evidence.Get("arms.stable.failures").Int())
		require.Equal(t, int64(1), r.get(t, "").Get("deployed_version").Int())
		load.settle(t, settleTime)
		published(t, load.workspace)
	})
}

// rolling is a dynamic route of the load's key, of which version 2 is rolled out.
type rolling struct {
	workspace client.Workspace
	path      string
}

// rollOut deploys version 1 of a route to the load's key and begins to roll out
// version 2, which sends everything to a model.
func rollOut(t *testing.T, load *steady, candidate, steps string) *rolling {
	t.Helper()
	graph := func(label, model string) string {
		return fmt.Sprintf(`{"schema_version":1,"entry":"s","nodes":[{"id":"s","type":"start","next":"m"},
			{"id":"m","type":"model","label":%q,"model":%q,"allow_fallbacks":false,"next":"e"},{"id":"e","type":"end"}]}`, label, model)
	}
	r := &rolling{workspace: load.workspace, path: "/v1/routing/dynamic-routes"}
	change := func(method, path string, body json.RawMessage) gjson.Result {
		t.Helper()
		answer, err := r.workspace.Manage(t.Context(), method, r.path+path+"?wait=10s", body)
		require.NoError(t, err)
		return answer.Get("data")
	}
	route := change(http.MethodPost, "", fmt.Appendf(nil, `{"name":"rolled","config":%s}`, graph("stable", upstream.Small)))
	r.path += "/" + route.Get("id").Str
	change(http.MethodPost, "/versions", fmt.Appendf(nil, `{"config":%s}`, graph("candidate", candidate)))
	change(http.MethodPost, "/versions/1/deploy", nil)
	change(http.MethodPut, "/keys", fmt.Appendf(nil, `{"key_ids":[%q]}`, load.keyID))
	change(http.MethodPost, "/versions/2/rollout", fmt.Appendf(nil, `{"steps":%s,"guard":{"max_error_rate":0.1,"min_requests":20}}`, steps))
	return r
}

// state is the rollout; nothing while the control plane is away.
func (r *rolling) state(t *testing.T) gjson.Result { return r.get(t, "/rollout") }

func (r *rolling) get(t *testing.T, path string) gjson.Result {
	t.Helper()
	answer, err := r.workspace.Manage(t.Context(), http.MethodGet, r.path+path, nil)
	if err != nil {
		return gjson.Result{}
	}
	return answer.Get("data")
}
