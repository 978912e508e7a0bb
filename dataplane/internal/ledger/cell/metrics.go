package cell

import "github.com/prometheus/client_golang/prometheus"

// metrics count what the limits do. There is no label: subjects are too many.
type metrics struct {
	writes, conflicts, refusals, unavailable, alone, epochs prometheus.Counter
}

func newMetrics(registry prometheus.Registerer, c *Cells) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "signalbox_gateway_cells_" + name, Help: help})
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "signalbox_gateway_cells_" + name, Help: help}, value)
	}
	m := &metrics{
		writes:      counter("writes_total", "Writes of strict limits, slots and reservations to NATS. One write answers everybody who asked for the same subject meanwhile."),
		conflicts:   counter("conflicts_total", "Writes of strict limits that came after another gateway's and were made again. Many for each write mean that several gateways are busy with the same subject."),
		refusals:    counter("refusals_total", "Times that a strict minute or slots were used up, most of them answered without a write."),
		unavailable: counter("unavailable_total", "Times that a strict limit could not be asked over all gateways in time, or a reservation not be made. A rise points at NATS."),
		alone:       counter("alone_total", "Requests that were decided by this gateway alone while the others could not be asked, as the policy's on_unavailable says."),
		epochs:      counter("epochs_total", "Times that this gateway found the documents of strict limits to be new: one at its start. More means that NATS lost its data."),
	}
	registry.MustRegister(m.writes, m.conflicts, m.refusals, m.unavailable, m.alone, m.epochs,
		gauge("active", "Subjects of strict limits that this gateway keeps in memory: those in use, and those of which it holds something.", func() float64 { return float64(c.active()) }),
		gauge("held", "Slots and reservations that requests of this gateway have, with those that wait for the ledger to count them.", func() float64 { return float64(c.held()) }))
	return m
}

func (c *Cells) active() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.cells)
}

func (c *Cells) held() (n int) {
	c.each(func(l *cell) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch t := l.table.(type) {
		case *running:
			n += len(t.open)
		case *reserved:
			n += len(t.open)
		}
	})
	return n
}
