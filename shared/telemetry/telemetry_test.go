package telemetry_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRegistryServesBuildAndRuntime(t *testing.T) {
	recorder := httptest.NewRecorder()
	telemetry.Handler(telemetry.NewRegistry("gateway", "v1")).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(t, recorder.Body.String(), `signalbox_build_info{component="gateway",version="v1"} 1`)
	require.Contains(t, recorder.Body.String(), "go_goroutines")
}

func TestSpansReachTheCollector(t *testing.T) {
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	tracing, err := telemetry.StartTracing(t.Context(), telemetry.Config{OTLPEndpoint: collector.URL, SampleRatio: 1}, "gateway", "v1")
	require.NoError(t, err)
	require.True(t, tracing.Enabled())
	_, span := tracing.Tracer("test").Start(t.Context(), "POST /v1/chat/completions")
	span.End()
	require.NoError(t, tracing.Shutdown(context.Background()))
	received := <-got
	require.Contains(t, received, "/v1/traces")
	require.Contains(t, received, "POST /v1/chat/completions")
	require.Contains(t, received, "signalbox-gateway")
}

func TestOffDoesNothing(t *testing.T) {
	tracing, err := telemetry.StartTracing(t.Context(), telemetry.Default(), "gateway", "v1")
	require.NoError(t, err)
	require.False(t, tracing.Enabled())
	_, span := tracing.Tracer("test").Start(t.Context(), "x")
	require.False(t, span.IsRecording())
	require.NoError(t, tracing.Shutdown(t.Context()))
}

func TestExtractJoinsTheCallersTrace(t *testing.T) {
	h := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	got := trace.SpanContextFromContext(telemetry.Extract(t.Context(), h))
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", got.TraceID().String())
	require.True(t, got.IsSampled())
	require.False(t, trace.SpanContextFromContext(telemetry.Extract(t.Context(), http.Header{"Traceparent": {"nonsense"}})).IsValid())
}

func TestValidate(t *testing.T) {
	require.NoError(t, telemetry.Default().Validate())
	require.NoError(t, telemetry.Config{OTLPEndpoint: "http://collector:4318"}.Validate())
	require.ErrorContains(t, telemetry.Config{OTLPEndpoint: "collector:4318"}.Validate(), "otlp_endpoint")
	require.ErrorContains(t, telemetry.Config{OTLPEndpoint: "http://u:canary@c"}.Validate(), "otlp_endpoint")
	require.NotContains(t, telemetry.Config{OTLPEndpoint: "http://u:canary@c"}.Validate().Error(), "canary")
	require.ErrorContains(t, telemetry.Config{SampleRatio: 2}.Validate(), "sample_ratio")
}
