package affinity

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/shared/decide"
)

// metrics count affinity. No label holds anything that a caller wrote.
type metrics struct {
	turns    *prometheus.CounterVec
	breaks   *prometheus.CounterVec
	lookups  *prometheus.CounterVec
	failures *prometheus.CounterVec

	hits, misses map[decide.PinSource]prometheus.Counter // looked up once
}

// How a look-up in the store ended, and why a write did not.
const (
	lookupFound   = "found"
	lookupAbsent  = "absent"
	lookupFailed  = "failed"
	lookupSkipped = "skipped"

	failureQueue = "queue_full"
	failureStore = "store"
)

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_affinity_turns_total",
			Help: "Requests whose conversation was recognized, by what it was recognized by (session, prompt_cache_key, opening) and whether it was pinned (hit) or not (miss). First turns are misses, and so is every opening without caching.",
		}, []string{"source", "result"}),
		breaks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_affinity_breaks_total",
			Help: "Conversations that left the endpoint that they were pinned to, by reason. Each costs its conversation a provider's cache; a rise of breaker_open, cooling, errors and quota is a provider's, of policy ours.",
		}, []string{"reason"}),
		lookups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_affinity_lookups_total",
			Help: "Conversations that were asked for in NATS, by result: found, absent, failed, or skipped while NATS is left alone after a failure. Failed and skipped ones cost a cache miss at most.",
		}, []string{"result"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "signalbox_affinity_write_failures_total",
			Help: "Pins that other gateways did not hear of, because NATS did not take them (store) or because too many waited (queue_full). The next turn writes them again.",
		}, []string{"reason"}),
		hits: make(map[decide.PinSource]prometheus.Counter), misses: make(map[decide.PinSource]prometheus.Counter),
	}
	for _, source := range []decide.PinSource{decide.FromSession, decide.FromCacheKey, decide.FromOpening} {
		m.hits[source] = m.turns.WithLabelValues(string(source), "hit")
		m.misses[source] = m.turns.WithLabelValues(string(source), "miss")
	}
	// A series that is there from the start shows its first increase.
	for _, why := range decide.CacheBreaks() {
		m.breaks.WithLabelValues(string(why))
	}
	for _, result := range []string{lookupFound, lookupAbsent, lookupFailed, lookupSkipped} {
		m.lookups.WithLabelValues(result)
	}
	for _, why := range []string{failureQueue, failureStore} {
		m.failures.WithLabelValues(why)
	}
	registry.MustRegister(m.turns, m.breaks, m.lookups, m.failures)
	return m
}

func (m *metrics) found(source decide.PinSource, hit bool) {
	if hit {
		m.hits[source].Inc()
		return
	}
	m.misses[source].Inc()
}

func (m *metrics) broke(trace *decide.AffinityTrace) {
	if trace.MovedTo != "" {
		m.breaks.WithLabelValues(string(trace.Break)).Inc()
	}
}
