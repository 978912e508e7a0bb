package rollout

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are what a judge did since its start, and what it sees while it leads.
type counts struct {
	leading         bool
	judged          time.Time // the last round, or the begin of the term
	running, paused int
	acts            map[Act]uint64
	failed          uint64
}

var (
	descOpen     = prometheus.NewDesc("signalbox_rollouts", "Open rollouts of dynamic routes by state, as seen by the control plane that judges them; 0 from others.", []string{"state"}, nil)
	descAge      = prometheus.NewDesc("signalbox_rollout_judge_age_seconds", "Time since the rollouts were last judged, from the control plane that judges them; absent from others. More than a few seconds mean that nothing guards them.", nil, nil)
	descVerdicts = prometheus.NewDesc("signalbox_rollout_verdicts_total", "Verdicts on rollouts that were carried out: advance, complete and roll_back. A rise of roll_back is a candidate that broke its guard; the audit log has the evidence.", []string{"verdict"}, nil)
	descFailed   = prometheus.NewDesc("signalbox_rollout_verdict_failures_total", "Verdicts on rollouts that could not be carried out and are tried again. A rise keeps a bad candidate in place.", nil, nil)
)

// Describe implements prometheus.Collector.
func (j *Judge) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descOpen, descAge, descVerdicts, descFailed} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (j *Judge) Collect(out chan<- prometheus.Metric) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &j.counts
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(descOpen, float64(c.running), string(Running))
	gauge(descOpen, float64(c.paused), string(Paused))
	if c.leading {
		gauge(descAge, max(0, j.now().Sub(c.judged)).Seconds())
	}
	for _, act := range []Act{Advance, Complete, RollBack} {
		out <- prometheus.MustNewConstMetric(descVerdicts, prometheus.CounterValue, float64(c.acts[act]), string(act))
	}
	out <- prometheus.MustNewConstMetric(descFailed, prometheus.CounterValue, float64(c.failed))
}
