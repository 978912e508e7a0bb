package record

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// Metrics are the request metrics of a gateway. No label holds anything that a
// caller wrote: surfaces, outcomes, codes and catalog providers only.
type Metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	gateway  *prometheus.HistogramVec
	first    *prometheus.HistogramVec
	attempts *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	cost     prometheus.Counter
	lost     prometheus.Counter

	// What nearly every request counts, looked up once: a look-up by labels costs
	// more than the counting.
	surfaces sync.Map // of surface to *series
	served   sync.Map // of provider to prometheus.Counter: attempts without a failure
	input    prometheus.Counter
	output   prometheus.Counter
}

// series are the metrics of one surface.
type series struct {
	success                  prometheus.Counter // requests without a code
	duration, gateway, first prometheus.Observer
}

// NewMetrics registers the request metrics.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_requests_total",
			Help: "Requests by surface, outcome and fault code. A rise of outcome error with codes upstream_* is a provider's, with gateway_error ours.",
		}, []string{"surface", "outcome", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signalbox_request_duration_seconds",
			Help:    "From receipt to the last byte, whole streams included. Compare with the first byte: long streams are no trouble, a late first byte is.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 180, 300},
		}, []string{"surface"}),
		gateway: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signalbox_gateway_duration_seconds",
			Help:    "Time of a request not spent waiting for upstreams. Values above a few milliseconds mean that the gateway is short of CPU or its disk is slow.",
			Buckets: []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1},
		}, []string{"surface"}),
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signalbox_first_byte_seconds",
			Help:    "From receipt to the first content of the reply. A rise with a flat gateway time is the providers'.",
			Buckets: []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"surface"}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_attempts_total",
			Help: "Upstream calls by provider and failure class; an empty class is success. A rise of one provider's failures is that provider's, of credential_rejected ours.",
		}, []string{"provider", "failure"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_tokens_total",
			Help: "Tokens used, by direction. For trends; the books are in Postgres.",
		}, []string{"direction"}),
		cost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_cost_usd_total",
			Help: "Cost of all requests in USD. For trends; the books are in Postgres. A jump without one in requests is a change of models or prices.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "signalbox_usage_records_lost_total",
			Help: "Usage records that could not be kept. Anything but refusals while the disk is full is a bug.",
		}),
	}
	m.input, m.output = m.tokens.WithLabelValues("input"), m.tokens.WithLabelValues("output")
	registry.MustRegister(m.requests, m.duration, m.gateway, m.first, m.attempts, m.tokens, m.cost, m.lost)
	return m
}

func (m *Metrics) observe(c *call.Call, o *call.Outcome, b billing) {
	surface, code := string(c.Surface), ""
	if o.Failure != nil {
		code = string(o.Failure.Code)
	}
	of := m.of(surface)
	if how := requestOutcome(o); how == wire.Success && code == "" {
		of.success.Inc()
	} else {
		m.requests.WithLabelValues(surface, string(how), code).Inc()
	}
	of.duration.Observe(o.Finished.Sub(c.Received).Seconds())
	of.gateway.Observe(gatewayTime(c, o).Seconds())
	if o.FirstByte > 0 {
		of.first.Observe(o.FirstByte.Seconds())
	}
	for i := range o.Attempts {
		m.attempt(o.Attempts[i].Provider, o.Attempts[i].Failure).Inc()
	}
	if in := o.Seen.Usage.InputTotal(); in > 0 {
		m.input.Add(float64(in))
	}
	if out := o.Seen.Usage.OutputTotal(); out > 0 {
		m.output.Add(float64(out))
	}
	if b.cost.Total > 0 {
		m.cost.Add(float64(b.cost.Total) / 1e9)
	}
}

func (m *Metrics) of(surface string) *series {
	if known, ok := m.surfaces.Load(surface); ok {
		return known.(*series)
	}
	known, _ := m.surfaces.LoadOrStore(surface, &series{
		success:  m.requests.WithLabelValues(surface, string(wire.Success), ""),
		duration: m.duration.WithLabelValues(surface),
		gateway:  m.gateway.WithLabelValues(surface),
		first:    m.first.WithLabelValues(surface),
	})
	return known.(*series)
}

func (m *Metrics) attempt(provider, failure string) prometheus.Counter {
	if failure != "" {
		return m.attempts.WithLabelValues(provider, failure)
	}
	if known, ok := m.served.Load(provider); ok {
		return known.(prometheus.Counter)
	}
	counter := m.attempts.WithLabelValues(provider, "")
	m.served.Store(provider, counter)
	return counter
}

func (m *Metrics) unrecorded(c *call.Call, failure *fault.Error) {
	outcome, code := "success", ""
	if failure != nil {
		outcome, code = "refused", string(failure.Code)
	}
	m.requests.WithLabelValues(string(c.Surface), outcome, code).Inc()
}
