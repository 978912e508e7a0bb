//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/harness"
)

// TestNPM runs the JavaScript clients' tests in npm/ against a platform.
// "make e2e" installs what they need.
func TestNPM(t *testing.T) {
	p := harness.Start(t, harness.Options{})
	key := p.Key()
	stats := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.North.Stats()) // the caller may have gone
	}))
	t.Cleanup(stats.Close)

	node := exec.CommandContext(t.Context(), "npm", "test", "--silent")
	node.Dir = "npm"
	node.Env = append(os.Environ(), "SIGNALBOX_URL="+p.Gateways[0]+"/v1", "SIGNALBOX_KEY="+key.Secret, "SIMULATOR_STATS="+stats.URL)
	out, err := node.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
