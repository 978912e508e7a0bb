package courier

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
)

// counts are what a courier did since its start, and what it saw last.
type counts struct {
	outcomes map[webhook.State]uint64
	waiting  time.Duration
}

var (
	descAttempts = prometheus.NewDesc("signalbox_webhook_attempts_total", "Attempts to deliver to webhooks by what came of them: delivered, failed (another attempt follows) and given_up. A rise of given_up is a receiver that is away for long; the deliveries of the webhook say why.", []string{"outcome"}, nil)
	descWaiting  = prometheus.NewDesc("signalbox_webhook_oldest_pending_seconds", "How long the delivery has been due that is the longest, of all workspaces. More than a minute means that deliveries are not made, or that a receiver takes more than it manages.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *Courier) Describe(out chan<- *prometheus.Desc) {
	out <- descAttempts
	out <- descWaiting
}

// Collect implements prometheus.Collector.
func (c *Courier) Collect(out chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range []webhook.State{webhook.Delivered, webhook.Failed, webhook.GivenUp} {
		out <- prometheus.MustNewConstMetric(descAttempts, prometheus.CounterValue, float64(c.counts.outcomes[state]), string(state))
	}
	out <- prometheus.MustNewConstMetric(descWaiting, prometheus.GaugeValue, c.counts.waiting.Seconds())
}

func (c *Courier) note(change func(n *counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.counts)
}
