package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBalancedLeavesComesBackAndCostsLess plays the first minutes of the scene
// at a lower rate: alder is down from minute 5 to 9.
func TestBalancedLeavesComesBackAndCostsLess(t *testing.T) {
	play := func() (*simulation, map[string]result) {
		sc := builtIn(7)
		sc.length, sc.perSecond, sc.events = 13*time.Minute, 4, sc.events[:1]
		s := newSimulation(sc)
		results := map[string]result{}
		for _, name := range []string{balanced, roundRobin, oracle} {
			results[name] = s.run(name)
		}
		return s, results
	}
	s, results := play()
	ours, turns, best := results[balanced], results[roundRobin], results[oracle]
	require.Zero(t, ours.unanswered)

	down := s.reaction(&ours, s.scene.events[0])
	require.Greater(t, down.before, 0.3, "alder is among the best while it is well")
	require.NotEqual(t, never, down.left)
	require.LessOrEqual(t, down.left, time.Minute)
	require.Less(t, down.worstMeantime, 0.1)
	require.NotEqual(t, never, down.back)
	require.LessOrEqual(t, down.back, 4*time.Minute)

	require.Less(t, s.regret(&ours, &best, 0, s.scene.length), s.regret(&turns, &best, 0, s.scene.length)/2)

	_, again := play()
	require.Equal(t, results, again, "one seed gives one result")
}

func TestReportNamesEveryPolicyAndEvent(t *testing.T) {
	sc := builtIn(1)
	sc.length, sc.perSecond = 6*time.Minute, 1
	s := newSimulation(sc)
	var results []result
	for _, name := range policies() {
		results = append(results, s.run(name))
	}
	var out bytes.Buffer
	require.NoError(t, s.report(&out, results))
	for _, name := range policies() {
		require.Contains(t, out.String(), "| "+name+" |")
	}
	for _, e := range sc.events {
		require.Contains(t, out.String(), e.name)
	}
	require.NoError(t, s.plot(results, t.TempDir()))
}
