package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/test/bench/load"
)

func rate(perSecond int) sample {
	return sample{Result: load.Result{Requests: perSecond, Took: time.Second}}
}

// A machine that is busy in one run must not show in what is compared within it.
func TestRatiosAreTakenWithinARun(t *testing.T) {
	bare := []sample{rate(1000), rate(100), rate(500), rate(0)}
	gateway := []sample{rate(900), rate(90), rate(450), rate(7)}
	got := ratios(gateway, bare, sample.rate)
	require.InDeltaSlice(t, []float64{0.9, 0.9, 0.9}, got, 1e-9)
	require.Equal(t, "0.90 (0.90–0.90)", figure(got, func(v float64) float64 { return v }, hundredths))
}

func TestFigureIsMedianWithQuartiles(t *testing.T) {
	values := []float64{90, 10, 20, 50, 30, 40, 60, 80, 70}
	same := func(v float64) float64 { return v }
	require.Equal(t, "50 (30–70)", figure(values, same, perSecond))
	require.Equal(t, "10", figure(values[1:2], same, perSecond))
	require.Equal(t, "not known", figure(nil, same, perSecond))
}

// The gateways change places from run to run, and only they do.
func TestGatewaysTakeTurns(t *testing.T) {
	all := []subject{{name: "direct"}, {name: "bare proxy"}, {name: "gateway"}, {name: ofBefore}}
	require.Equal(t, all, turned(all, 0))
	odd := turned(all, 1)
	require.Equal(t, []subject{all[0], all[1], all[3], all[2]}, odd)
	require.Equal(t, all, turned(all, 2))
	require.Equal(t, all[:3], turned(all[:3], 1))
	require.Equal(t, all[2:3], turned(all[2:3], 1))
}

func TestTheReportSaysWhatWasNotMeasured(t *testing.T) {
	subjects := []subject{{name: "direct"}, {name: "bare proxy"}, {name: "gateway"}, {name: ofBefore}}
	all := samples{"many": {"direct": {rate(4000)}, "bare proxy": {rate(1000)}, "gateway": {rate(900)}, ofBefore: {rate(600)}}}
	var out strings.Builder
	require.NoError(t, reportProxy(&out, subjects, all))
	require.Contains(t, out.String(), "over a direct call: p50 not known, p99 not known")
	require.Contains(t, out.String(), "of the bare proxy's requests per second: 0.90;")
	require.Contains(t, out.String(), "of before: requests per second 1.50, CPU per request not known")
}
