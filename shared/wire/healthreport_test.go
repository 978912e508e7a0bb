package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

func healthReport() wire.HealthReport {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return wire.HealthReport{Schema: wire.HealthReportSchema, MadeAt: at, More: 1, Endpoints: []wire.ReportedHealth{{
		ID: "north:acme/small", Requests: 120, Uptime: 0.9, Errors: 0.1, RateLimited: 0.05, GeoBlocked: 0.01,
		FirstByte: 250 * time.Millisecond, Throughput: 61.5, State: "cooling", Until: at.Add(time.Minute),
	}}}
}

func TestHealthReportIsReadAsItWasWritten(t *testing.T) {
	body, err := json.Marshal(healthReport())
	require.NoError(t, err)
	got, err := wire.ParseHealthReport(body)
	require.NoError(t, err)
	require.Equal(t, healthReport(), got)
}

func TestHealthReportsThatCannotBe(t *testing.T) {
	for what, change := range map[string]func(*wire.HealthReport){
		"another version": func(r *wire.HealthReport) { r.Schema++ },
		"nobody's":        func(r *wire.HealthReport) { r.Endpoints[0].ID = "" },
		"no such state":   func(r *wire.HealthReport) { r.Endpoints[0].State = "well" },
		"a share over 1":  func(r *wire.HealthReport) { r.Endpoints[0].Uptime = 1.5 },
		"a negative one":  func(r *wire.HealthReport) { r.Endpoints[0].GeoBlocked = -0.1 },
		"negative counts": func(r *wire.HealthReport) { r.Endpoints[0].Requests = -1 },
		"a negative time": func(r *wire.HealthReport) { r.Endpoints[0].FirstByte = -1 },
		"too many":        func(r *wire.HealthReport) { r.Endpoints = make([]wire.ReportedHealth, wire.MaxReported+1) },
	} {
		r := healthReport()
		change(&r)
		body, err := json.Marshal(r)
		require.NoError(t, err)
		_, err = wire.ParseHealthReport(body)
		require.Error(t, err, what)
	}
	_, err := wire.ParseHealthReport(make([]byte, 2<<20))
	require.Error(t, err)
}
