package ledger

import "github.com/prometheus/client_golang/prometheus"

// metrics count what the ledger does. There is no label: accounts are too many.
type metrics struct {
	commits, failures, timeouts, epochs, missing prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, l *Ledger) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_gateway_ledger_" + name, Help: help})
	}
	m := &metrics{
		commits:  counter("commits_total", "Commits of what accounts used, each of up to 999 totals. With usage_events this shows how well requests are gathered."),
		failures: counter("failures_total", "Times that counting or reading what accounts used failed. A steady rise points at NATS; nothing is lost, and limits know only of this gateway meanwhile."),
		timeouts: counter("timeouts_total", "Requests that waited in vain for what their accounts used. Each went on as if within its limits; those that follow do not wait."),
		epochs:   counter("epochs_total", "Fillings of the counters that this gateway began to count in: one at its start. More means that NATS lost its data."),
		missing:  counter("missing_records_total", "Usage records that were gone from the spool before they were counted. Any rise means that limits count too little until the month ends, those without an end for ever; usage in Postgres is complete."),
	}
	registry.MustRegister(m.commits, m.failures, m.timeouts, m.epochs, m.missing,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "signalbox_gateway_ledger_accounts",
			Help: "Accounts whose usage is held in memory: keys, departments, workspaces and others that have a limit. At 20000 those that were not asked for longest are let go of.",
		}, func() float64 { return float64(l.held()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "signalbox_gateway_ledger_uncounted_events",
			Help: "Usage events on record that other gateways do not know of yet. A rise means that counting does not get through to NATS.",
		}, func() float64 { return float64(l.uncounted()) }))
	return m
}

func (l *Ledger) held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.views)
}

func (l *Ledger) uncounted() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch == "" || l.at > l.seen {
		return 0
	}
	return l.seen - l.at
}
