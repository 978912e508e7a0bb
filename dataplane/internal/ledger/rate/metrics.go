package rate

import "github.com/prometheus/client_golang/prometheus"

// metrics count what the counting does. There is no label: subjects are too
// many.
type metrics struct {
	increments, failures, timeouts, epochs, dropped prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, r *Rates) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_gateway_rate_" + name, Help: help})
	}
	m := &metrics{
		increments: counter("increments_total", "Increments of rates that NATS took: one for each subject that was used and 200 ms."),
		failures:   counter("failures_total", "Rounds in which rates could not be counted or read. A steady rise points at NATS; rate limits know only of this gateway meanwhile."),
		timeouts:   counter("timeouts_total", "Requests that waited in vain for what others used in the last minute. Each went by its policy's on_unavailable; those that follow do not wait."),
		epochs:     counter("epochs_total", "Times that this gateway began to count rates in NATS: one at its start. More means that NATS lost them, and that the gateways told it again."),
		dropped:    counter("dropped_total", "Subjects that were let go of before the others were told what they used. It takes far more than 50000 in a minute while NATS is away."),
	}
	registry.MustRegister(m.increments, m.failures, m.timeouts, m.epochs, m.dropped,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "signalbox_gateway_rate_subjects",
			Help: "Subjects of rate limits that were used in the last minute and are held in memory. At 50000 those that were not used for longest are let go of.",
		}, func() float64 { return float64(r.held()) }))
	return m
}

func (r *Rates) held() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.views)
		s.mu.Unlock()
	}
	return n
}
