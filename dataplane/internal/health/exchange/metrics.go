package exchange

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
)

// counts are what went over the wire.
type counts struct {
	told, toldBytes, heard, unsent, answers, unanswered atomic.Int64
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("signalbox_gateway_"+name, help, labels, nil)
}

var (
	descTurns     = desc("breaker_changes_total", "Times that an endpoint's breaker opened or closed, by what this gateway or another saw. The log names the endpoint.", "to")
	descOpen      = desc("breakers_open", "Endpoints whose breaker is open or half open. They are tried after all others.")
	descCooling   = desc("endpoints_cooling", "Endpoints that cool down after a 429. They are tried after all others until the provider's deadline.")
	descKnown     = desc("health_endpoints", "Endpoints of whose health anything is known, here or at another gateway.")
	descGateways  = desc("health_gateways", "Other gateways that told of endpoints in the last ten minutes. Fewer than serve requests means that what they see does not get here.")
	descTold      = desc("health_told_total", "Messages about endpoints that were sent to the other gateways.")
	descToldBytes = desc("health_told_bytes_total", "Bytes of these messages.")
	descHeard     = desc("health_heard_total", "Messages about endpoints that came, this gateway's own included.")
	descUnsent    = desc("health_unsent_total", "Messages that NATS did not take. They are told again when it is back.")
	descAnswers   = desc("health_answers_total", "Answers with all that another gateway knew, asked for at the start and after outages.")
	descSilent    = desc("health_unanswered_total", "Such questions without an answer. What is new still comes.")
	descTrouble   = desc("health_trouble_total", "What other gateways told and was not taken, by reason. clock: clocks are over a minute apart; lost: messages never came; late: over four minutes; version, malformed and counts: something else speaks on the subject, or another version; endpoints and peers: more than are kept.", "reason")
)

// Describe implements prometheus.Collector.
func (x *Exchange) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(x, out) }

// Collect implements prometheus.Collector.
func (x *Exchange) Collect(out chan<- prometheus.Metric) {
	s := x.o.Table.Status()
	now := func(d *prometheus.Desc, v int) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	total := func(d *prometheus.Desc, v int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	total(descTurns, s.Opened, "open")
	total(descTurns, s.Closed, "closed")
	now(descOpen, s.Open)
	now(descCooling, s.Cooling)
	now(descKnown, s.Endpoints)
	now(descGateways, s.Gateways)
	total(descTold, x.counts.told.Load())
	total(descToldBytes, x.counts.toldBytes.Load())
	total(descHeard, x.counts.heard.Load())
	total(descUnsent, x.counts.unsent.Load())
	total(descAnswers, x.counts.answers.Load())
	total(descSilent, x.counts.unanswered.Load())
	for _, kind := range health.Troubles() {
		total(descTrouble, s.Trouble[kind], kind.String())
	}
}
