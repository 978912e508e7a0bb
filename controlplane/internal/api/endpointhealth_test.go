package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// What gateways measured is told of the endpoints that the workspace may use, in
// shares and magnitudes.
func TestEndpointHealth(t *testing.T) {
	p := newPlane(t)
	w := p.tenant("health")
	const path = "/v1/routing/health"
	empty := p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK).json()
	require.Empty(t, empty["data"], "no gateway runs")

	p.do(call{
		method: "PUT", path: "/v1/platform/catalog/providers/north", token: operatorToken,
		body: `{"type":"openai-compatible","base_url":"http://127.0.0.1:9/v1","keyless":true}`,
	}).is(http.StatusOK)
	p.do(call{
		method: "PUT", path: "/v1/platform/catalog/models/acme/small", token: operatorToken,
		body: `{"context":1000,"endpoints":[{"provider":"north","upstream_model":"x"},{"provider":"north","region":"eu","upstream_model":"x"}]}`,
	}).is(http.StatusOK)
	made := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	report, err := json.Marshal(wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: made, Endpoints: []wire.ReportedHealth{
		{
			ID: "north:acme/small", Requests: 4321, Uptime: 0.9, Errors: 0.1, RateLimited: 0.05, FirstByte: 250 * time.Millisecond, Throughput: 61.5,
			State: "cooling", Until: made.Add(time.Minute),
		},
		{ID: "north:acme/other", Requests: 500, Uptime: 1, State: "closed"},
	}})
	require.NoError(t, err)
	conn := p.nats.Ready().NATS()
	sub, err := conn.QueueSubscribe(wire.SubjectHealthReport, wire.QueueHealth, func(m *nats.Msg) { _ = conn.Publish(m.Reply, report) })
	require.NoError(t, err)
	require.NoError(t, conn.Flush())
	t.Cleanup(func() { _ = sub.Unsubscribe() })

	told := map[string]any{
		"model": "acme/small", "provider": "north", "endpoint": "north:acme/small",
		"health": map[string]any{
			"state": "cooling", "until": "2026-05-04T03:03:01Z", "requests_at_least": 1000.0, "uptime": 0.9, "success_share": 0.85,
			"error_share": 0.1, "rate_limited_share": 0.05, "geo_blocked_share": 0.0, "first_byte_ms": 250.0, "tokens_per_second": 61.5,
		},
	}
	var got answer
	require.Eventually(t, func() bool { // that nobody answered is remembered for a second
		got = p.raw(call{method: "GET", path: path, token: w.key})
		return got.status == http.StatusOK && got.json()["made_at"] == "2026-05-04T03:02:01Z"
	}, 15*time.Second, 20*time.Millisecond)
	got = p.do(call{method: "GET", path: path, token: w.key}).is(http.StatusOK)
	require.Equal(t, []any{told}, got.json()["data"])
	require.NotContains(t, got.body, "4321", "how much others send is not told")
	require.Equal(t, []any{told, map[string]any{"model": "acme/small", "provider": "north", "region": "eu", "endpoint": "north:acme/small@eu"}},
		p.do(call{method: "GET", path: path + "?model=acme/small", token: w.key}).is(http.StatusOK).json()["data"])
	require.Empty(t, p.do(call{method: "GET", path: path + "?provider=south", token: w.key}).is(http.StatusOK).json()["data"])
	p.do(call{method: "GET", path: path + "?model=", token: w.key}).problem(http.StatusBadRequest, "validation_error")
}
