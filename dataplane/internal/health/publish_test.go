package health_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestPublishedAfterAHundredRequests(t *testing.T) {
	w := newWorld()
	for range 80 {
		w.good(250)
	}
	w.observe(health.Failed, 10)
	w.observe(health.RateLimited, 5)
	w.observe(health.GeoBlocked, 4)
	w.observe(health.Neutral, 50)
	for range 50 {
		w.used(own(1), health.Refused, 0)
	}
	w.pass(time.Second)
	_, ok := w.table.Published(name)
	require.False(t, ok, "99 requests: what says nothing of the endpoint is none")
	require.Empty(t, w.table.Report().Endpoints)
	w.observe(health.GeoBlocked, 1)
	w.pass(time.Minute)
	p, ok := w.table.Published(name)
	require.True(t, ok)
	require.EqualValues(t, 100, p.Requests)
	require.InDelta(t, 80.0/90, p.Uptime, 1e-9, "neither rate limits nor places count")
	require.InDelta(t, 0.10, p.Errors, 1e-9)
	require.InDelta(t, 0.05, p.RateLimited, 1e-9)
	require.InDelta(t, 0.05, p.GeoBlocked, 1e-9)
	require.InEpsilon(t, 0.25, p.FirstByte.Seconds(), 0.07)
	require.InEpsilon(t, 50, p.Throughput, 0.07)
	require.Equal(t, health.Closed, p.State)
	require.Zero(t, p.Until)
	report := w.table.Report()
	require.Len(t, report.Endpoints, 1, "the report says the same")
	body, err := json.Marshal(report)
	require.NoError(t, err)
	read, err := wire.ParseHealthReport(body)
	require.NoError(t, err)
	require.Equal(t, report, read)
	require.Equal(t, wire.ReportedHealth{
		ID: name, Requests: p.Requests, Uptime: p.Uptime, Errors: p.Errors, RateLimited: p.RateLimited, GeoBlocked: p.GeoBlocked,
		FirstByte: p.FirstByte, Throughput: p.Throughput, State: "closed",
	}, read.Endpoints[0])
	w.limited(time.Minute)
	require.False(t, w.table.Report().Endpoints[0].Until.IsZero(), "when it ends is told")
	require.Equal(t, health.Cooling, w.state())
	w.observe(health.Failed, 200)
	require.Equal(t, health.Open, w.state())
	w.pass(time.Minute)
	require.Equal(t, health.HalfOpen, w.state())
	w.pass(30 * time.Minute)
	_, ok = w.table.Published(name)
	require.False(t, ok, "half an hour later it is told no more")
}

func (w *world) state() health.State {
	p, _ := w.table.Published(name)
	return p.State
}

// TestRecentTimesCount: a provider that becomes slow, or quick again, is seen
// within two minutes, whatever half an hour of answers was like before.
func TestRecentTimesCount(t *testing.T) {
	w := newWorld()
	answers := func(minutes, firstByte int) {
		for range minutes * 30 {
			w.good(firstByte)
			w.pass(2 * time.Second)
		}
	}
	answers(28, 300)
	require.InEpsilon(t, 0.3, w.see().FirstByte.Seconds(), 0.07)
	answers(2, 3000)
	require.InEpsilon(t, 3, w.see().FirstByte.Seconds(), 0.07)
	require.InEpsilon(t, 3, w.see().FirstByteP95.Seconds(), 0.07)
	answers(2, 300)
	require.InEpsilon(t, 0.3, w.see().FirstByte.Seconds(), 0.07)

	answers(20, 300)
	w.pass(3 * time.Minute)
	for range 10 {
		w.good(3000)
	}
	w.pass(time.Second)
	require.InEpsilon(t, 0.3, w.see().FirstByte.Seconds(), 0.07, "ten answers say too little: half an hour counts")
	w.good(3000)
	w.pass(time.Second)
	require.InEpsilon(t, 3, w.see().FirstByte.Seconds(), 0.07)
}

func TestRecentSharesAndSizes(t *testing.T) {
	w := newWorld()
	w.observe(health.Failed, 3)
	w.pass(3 * time.Minute)
	for range 6 {
		w.good(100)
	}
	w.observe(health.Failed, 3)
	w.observe(health.RateLimited, 1)
	w.observe(health.GeoBlocked, 7)
	w.table.Observe(health.Observation{Endpoint: name, At: w.now, Verdict: health.Succeeded, InputTokens: 800, OutputTokens: 400, CachedTokens: 9000})
	w.table.Observe(health.Observation{Endpoint: name, At: w.now, Verdict: health.Succeeded}) // told no sizes
	w.pass(time.Second)
	h := w.see()
	require.EqualValues(t, 12, h.Recent)
	require.InDelta(t, 3.0/12, h.Errors, 1e-9)
	require.InDelta(t, 1.0/12, h.RateLimited, 1e-9)
	require.EqualValues(t, 200, h.InputTokens)
	require.EqualValues(t, 100, h.OutputTokens)
	require.InDelta(t, (6*25.0+800)/1400, h.CacheHit, 1e-9, "no more is cached than was read")
	require.EqualValues(t, 14, h.Calls)
}
