package classifier

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// newMetric counts classifications. No label holds anything that a caller wrote.
func newMetric(registry prometheus.Registerer) *prometheus.CounterVec {
	said := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signalbox_auto_classifications_total",
		Help: "Requests of signalbox/auto that were classified, by who said so (model or local) and why the gateway's own rules did. A rise of timeout is a classifier that is too slow for this, of resting one that is left alone for it.",
	}, []string{"by", "reason"})
	// A series that is there from the start shows its first increase.
	said.WithLabelValues(string(decide.ByModel), "")
	for _, why := range decide.LocalReasons() {
		said.WithLabelValues(string(decide.ByRules), string(why))
	}
	if registry != nil {
		registry.MustRegister(said)
	}
	return said
}
