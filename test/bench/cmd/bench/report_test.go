package main

import (
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
