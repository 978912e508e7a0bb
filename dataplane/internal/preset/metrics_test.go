package preset_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Each metric tells of what its name says and of nothing else.
func TestMetrics(t *testing.T) {
	w := newWorld(t, nil)
	registry := prometheus.NewPedanticRegistry()
	w.Register(registry)
	shown := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		all := make(map[string]float64)
		for _, f := range families {
			require.NotEmpty(t, f.GetHelp())
			m := f.GetMetric()[0]
			if value := m.GetGauge().GetValue() + m.GetCounter().GetValue(); value != 0 {
				all[f.GetName()[len("signalbox_gateway_preset_"):]] = value
			}
		}
		return all
	}
	require.Empty(t, shown())
	w.find(bob, "team")
	w.find(bob, "acme/open")
	held := shown()
	require.Positive(t, held["held_bytes"])
	delete(held, "held_bytes")
	require.Equal(t, map[string]float64{"versions_held": 2, "public_held": 1, "fetches_total": 3}, held)
	w.find(bob, "team#77")
	require.InDelta(t, 1, shown()["unknown_total"], 0)
	w.source.any[wire.PresetVersion(team, 2)] = []byte("{")
	w.find(bob, "team#2")
	require.Equal(t, []float64{1, 1}, []float64{shown()["rejected_total"], shown()["failures_total"]})
	w.source.fail(errAway)
	w.now = w.now.Add(time.Minute)
	w.find(bob, "acme/other")
	require.InDelta(t, 2, shown()["failures_total"], 0)
	require.NotContains(t, shown(), "refused_total")
}
