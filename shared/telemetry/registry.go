// Package telemetry owns how processes tell about themselves: the metrics
// registry and its page, and the exporter of traces. It defines no metric or
// span of its own beyond the runtime's, and sets nothing global.
package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry with the metrics of the Go runtime, the
// process and the build.
func NewRegistry(component, version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "signalbox_build_info",
		Help:        "Always 1. The labels say what runs; processes that differ for long are a half-done upgrade.",
		ConstLabels: prometheus.Labels{"component": component, "version": version},
	})
	info.Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), info)
	return registry
}

// Handler serves the registry in the text formats of Prometheus.
func Handler(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry})
}
