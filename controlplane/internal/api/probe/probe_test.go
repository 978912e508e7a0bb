package probe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/probe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadiness(t *testing.T) {
	says := func(ok bool, detail string) func(context.Context) (bool, string) {
		return func(context.Context) (bool, string) { return ok, detail }
	}
	cases := map[string]struct {
		checks []probe.Check
		path   string
		status int
		body   string
	}{
		"all well": {
			checks: []probe.Check{{Name: "postgres", Required: true, Run: says(true, "reached")}},
			path:   "/readyz", status: http.StatusOK, body: "ready\n",
		},
		"required fails": {
			checks: []probe.Check{{Name: "postgres", Required: true, Run: says(false, "away")}},
			path:   "/readyz", status: http.StatusServiceUnavailable, body: "not ready\n",
		},
		"optional fails": {
			checks: []probe.Check{{Name: "nats", Run: says(false, "away")}},
			path:   "/readyz?verbose", status: http.StatusOK,
			body: `{"ready":true,"checks":[{"name":"nats","ok":false,"required":false,"detail":"away"}]}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			engine := gin.New()
			engine.GET("/readyz", probe.Ready(c.checks...))
			w := httptest.NewRecorder()
			engine.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
			require.Equal(t, c.status, w.Code)
			require.Equal(t, c.body, w.Body.String())
		})
	}
}

func TestHangingCheckFails(t *testing.T) {
	engine := gin.New()
	engine.GET("/readyz", probe.Ready(probe.Check{Name: "postgres", Required: true, Run: func(ctx context.Context) (bool, string) {
		<-ctx.Done()
		return false, "did not answer"
	}}))
	w := httptest.NewRecorder()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	engine.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz?verbose", nil).WithContext(ctx))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "did not answer")
}
