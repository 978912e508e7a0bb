package preset

import "github.com/prometheus/client_golang/prometheus"

// Register has the store's state among a registry's metrics. There is no label:
// names are the callers'.
func (s *Store) Register(registry prometheus.Registerer) {
	const prefix = "signalbox_gateway_preset_"
	gauge := func(name, help string, of func(Status) float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + name, Help: help}, func() float64 { return of(s.Status()) }))
	}
	counter := func(name, help string, of func(Status) int64) {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help}, func() float64 { return float64(of(s.Status())) }))
	}
	gauge("versions_held", "Versions of presets that are held in memory. At 4096, or 64 MiB, those that were not used for longest are let go of.",
		func(t Status) float64 { return float64(t.Held) })
	gauge("held_bytes", "Size of the versions that are held, as documents.", func(t Status) float64 { return float64(t.Bytes) })
	gauge("public_held", "Public presets of other workspaces whose deployed version is known here.", func(t Status) float64 { return float64(t.Public) })
	counter("fetches_total", "Documents of presets that were read from NATS. A steady rise with versions_held at its bound means that more versions are in use than are held.",
		func(t Status) int64 { return t.Fetched })
	counter("unknown_total", "Look-ups that found no such preset or version. Each was a request that got 404, or passed a model of its chain over.",
		func(t Status) int64 { return t.Unknown })
	counter("refused_total", "Look-ups that were not made because a workspace had asked for too many presets that are not there. Its requests got 503.",
		func(t Status) int64 { return t.Refused })
	counter("rejected_total", "Documents of presets that were damaged or another's. Any rise is a fault of what publishes, or of who can write to NATS.",
		func(t Status) int64 { return t.Rejected })
	counter("failures_total", "Look-ups that could not be determined, because NATS did not answer or had lost a document. Requests got 503 where the disk did not have the version either.",
		func(t Status) int64 { return t.Failures })
}
