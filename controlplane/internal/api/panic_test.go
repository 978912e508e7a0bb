package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/logging"
)

func TestPanicBecomesAProblemWithoutItsStack(t *testing.T) {
	var out bytes.Buffer
	log, err := logging.New(&out, logging.Default())
	require.NoError(t, err)
	engine := httpserver.NewEngine(httpserver.Options{Log: log, NewRequestID: func() string { return "req_1" }, OnPanic: onPanic})
	engine.GET("/", func(*gin.Context) { panic("broken on purpose") })
	w := httptest.NewRecorder()
	engine.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	var p gen.Problem
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
	require.Equal(t, "gateway_error", p.Code)
	require.Equal(t, "req_1", p.RequestID)
	require.NotContains(t, w.Body.String(), "purpose")
	require.NotContains(t, w.Body.String(), ".go")
	require.Contains(t, out.String(), "broken on purpose")
	require.Contains(t, out.String(), "panic_test.go")
}

// TestEveryCodeHasAStatus holds the codes that the management API can meet.
func TestEveryCodeHasAStatus(t *testing.T) {
	inferenceOnly := map[fault.Code]bool{
		fault.NoDefaultModel: true, fault.ModelNotFound: true, fault.UnsupportedModelOrEndpoint: true, fault.ContextLengthExceeded: true,
		fault.UpstreamRejected: true, fault.SubmissionUnknown: true, fault.InsufficientFunds: true, fault.GuardrailBlocked: true,
		fault.ModelRegionUnavailable: true, fault.ModelRetired: true, fault.KeyLimitExceeded: true,
		fault.UpstreamRateLimited: true, fault.UpstreamServerError: true, fault.UpstreamUnreachable: true,
		fault.UpstreamCredentialRejected: true, fault.UpstreamUndetermined: true, fault.QuotaUnavailable: true,
		fault.UpstreamTimeout: true, fault.ClientClosed: true, fault.RouteRejected: true,
	}
	for _, code := range fault.All() {
		_, has := statuses[code]
		require.NotEqual(t, inferenceOnly[code], has, "%s", code)
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,{"b":null}],"c":"d"}`, `{"a":1,"a":2}`, `[[[[`, `"x" "y"`, "\xff", `{"a":{"a":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := checkJSON(body)
		if err == nil {
			require.True(t, json.Valid(body))
			return
		}
		require.Contains(t, []fault.Code{fault.InvalidJSON, fault.ValidationError}, fault.CodeOf(err))
	})
}
