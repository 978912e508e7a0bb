//go:build e2e

package e2e_test

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/testkit/simulator"
	"github.com/signalbox-dev/signalbox/test/harness"
	"github.com/signalbox-dev/signalbox/test/harness/upstream"
)

// TestNPM runs the JavaScript clients' tests in npm/ against a platform, each
// file as a subtest. "make e2e" installs what they need.
func TestNPM(t *testing.T) {
	files, err := filepath.Glob("npm/*.test.js")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	env := npmPlatform(t)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".test.js"), func(t *testing.T) {
			t.Parallel()
			node := exec.CommandContext(t.Context(), "npm", "test", "--silent", "--", name)
			node.Dir, node.Env = "npm", append(os.Environ(), env...)
			out, err := node.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}

// adapters are the names under which the tests in npm/ hold conversations.
var adapters = []string{
	"openai-chat", "openai-responses", "anthropic", "genai", "ai-openai-chat", "ai-openai-responses", "ai-anthropic", "ai-google",
	"langchain-chat", "langchain-responses", "openrouter-chat",
}

// everywhere are the models that the adapters want at every kind of upstream.
func everywhere() []string {
	names := []string{
		"small", "refuse-1", "cached-1", "redacted-reason-1", "fault-status-400", "fault-status-401", "fault-status-500", "fault-status-503",
		"fault-status-429-retry-7", "fault-error-first", "fault-error-mid", "fault-cut-3", "fault-reset", "fault-context",
	}
	for _, adapter := range adapters {
		// What is counted is each adapter's own.
		for _, own := range []string{"reason-1", "fault-hang", "fault-hang-3", "fault-status-429-retry-1-times-1", "fault-status-503-times-1"} {
			names = append(names, adapter+"-"+own)
		}
	}
	return names
}

// npmPlatform starts a platform and returns the variables by which the clients
// find it.
func npmPlatform(t *testing.T) []string {
	t.Helper()
	p := harness.Start(t, harness.Options{
		Simulator: true, Everywhere: everywhere(), Upstream: simulator.Options{Keep: 1 << 14, KeepBytes: 1 << 16},
		// A client with hundreds of tests at once may connect long before it writes.
		Configure: func(c *dataplane.Config) { c.HTTP.HeaderTimeout = time.Minute },
	})
	key := p.Key()
	routed := p.Key()
	newRoute(p, "plans", plans(upstream.Via("compatible", "small"), ""), routed)
	newPreset(p, "tone", `{"model":"`+upstream.Via("compatible", "small")+`","system_prompt":"Be so kind."}`, "team")
	seen := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests := p.North.For(r.URL.Query().Get("model"))
		out := make([]seenRequest, 0, len(requests))
		for _, one := range requests {
			out = append(out, seenRequest{Path: one.Path, Body: string(one.Body), Done: one.Done, Aborted: one.Aborted})
		}
		_ = json.NewEncoder(w).Encode(out) // the caller may have gone
	}))
	t.Cleanup(seen.Close)
	gateway, err := url.Parse(p.Gateways[0])
	require.NoError(t, err)
	front := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(gateway))
	t.Cleanup(front.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	return []string{
		"SIGNALBOX_TLS_URL=" + front.URL, "SIGNALBOX_TLS_CERTIFICATE=" + string(certificate),
		"SIGNALBOX_URL=" + p.Gateways[0], "SIGNALBOX_KEY=" + key.Secret, "SIGNALBOX_ROUTED_KEY=" + routed.Secret, "SIMULATOR_SEEN=" + seen.URL,
		"UPSTREAM_FORMATS=" + strings.Join(upstream.Formats(), " "),
	}
}

// seenRequest is what the simulated provider received, as the clients' tests
// are told.
type seenRequest struct {
	Path    string `json:"path"`
	Body    string `json:"body"`
	Done    bool   `json:"done"`
	Aborted bool   `json:"aborted"`
}
