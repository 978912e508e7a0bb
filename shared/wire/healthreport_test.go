package wire_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
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

// A report is one message, which any server must take.
func TestTheLargestHealthReportFitsAMessage(t *testing.T) {
	largest := func(name int) wire.HealthReport {
		r := healthReport()
		one := r.Endpoints[0]
		one.Requests, one.FirstByte, one.State, one.Throughput = math.MaxInt64, math.MaxInt64, wire.HealthHalfOpen, 1.0/3e9
		one.Uptime, one.Errors, one.RateLimited, one.GeoBlocked = 1.0/3, 1.0/7, 1.0/9, 1.0/11e9
		r.Endpoints, r.More = nil, 5
		for i := range wire.MaxReported {
			one.ID = fmt.Sprintf("%0*d", name, i)
			r.Endpoints = append(r.Endpoints, one)
		}
		return r
	}
	for _, name := range []int{64, 120, 400, 4000} {
		r := largest(name)
		body, err := wire.EncodeHealthReport(r)
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), server.MAX_PAYLOAD_SIZE)
		got, err := wire.ParseHealthReport(body)
		require.NoError(t, err)
		kept := len(got.Endpoints)
		if name <= 120 {
			require.Equal(t, wire.MaxReported, kept, "names of a usual length")
		}
		require.Equal(t, r.Endpoints[:kept], got.Endpoints, "the first ones")
		require.Equal(t, len(r.Endpoints)+r.More, kept+got.More, "none is lost count of")
		require.Greater(t, len(body), server.MAX_PAYLOAD_SIZE/2, "no more is left out than must be")
	}
}
