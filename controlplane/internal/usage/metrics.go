package usage

import "github.com/prometheus/client_golang/prometheus"

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("signalbox_usage_"+name, help, nil, nil)
}

var (
	descInserted = desc("inserted_total", "Usage events stored. No rise while gateways serve means that usage waits in the stream or the spools.")
	descUpgraded = desc("upgraded_total", "Usage events that took the place of an estimate, such as after a gateway died and came back.")
	descRepeated = desc("repeated_total", "Usage events that were stored already; counted once all the same. A steady rise means that acknowledgements get lost.")
	descDead     = desc("dead_letters_total", "Usage messages that could not be read and are kept as dead letters. Any rise is a bug or a version that does not fit, and wants a person's look.")
	descBatches  = desc("batches_total", "Transactions of usage events. Many with few events each mean little traffic, not trouble.")
	descFailures = desc("failures_total", "Interruptions of usage consumption; events wait in the stream. A steady rise points at Postgres or NATS.")
	descMarks    = desc("mark_questions_total", "Questions of gateways for their committed mark. No rise while gateways run means that they do not reach the control plane over NATS, and their spools grow.")
	descDeleted  = desc("expired_entries_total", "Request log entries deleted past their retention. No rise for days means that the log only grows.")
	descFilled   = desc("counter_fillings_total", "Times that the counters of what accounts used were filled from the database: once for a new NATS. More means that NATS lost its data.")
	descUnfilled = desc("counter_failures_total", "Times that filling the counters of what accounts used, or removing old ones, failed. While they are empty, limits are taken for kept, and those that must not be passed cannot be asked.")
	descDropped  = desc("dropped_partitions_total", "Request log partitions dropped past every retention. No rise for months means that the log only grows.")
)

// Describe implements prometheus.Collector.
func (c *Consumer) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

// Collect implements prometheus.Collector.
func (c *Consumer) Collect(out chan<- prometheus.Metric) {
	total(out, descInserted, c.counts.inserted.Load())
	total(out, descUpgraded, c.counts.upgraded.Load())
	total(out, descRepeated, c.counts.repeated.Load())
	total(out, descDead, c.counts.dead.Load())
	total(out, descBatches, c.counts.batches.Load())
	total(out, descFailures, c.counts.failures.Load())
	total(out, descMarks, c.counts.marks.Load())
}

// Describe implements prometheus.Collector.
func (k *Keeper) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(k, out) }

// Collect implements prometheus.Collector.
func (k *Keeper) Collect(out chan<- prometheus.Metric) {
	total(out, descDeleted, k.deleted.Load())
	total(out, descDropped, k.dropped.Load())
}

// Describe implements prometheus.Collector.
func (f *Filler) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(f, out) }

// Collect implements prometheus.Collector.
func (f *Filler) Collect(out chan<- prometheus.Metric) {
	total(out, descFilled, f.filled.Load())
	total(out, descUnfilled, f.failed.Load())
}

func total(out chan<- prometheus.Metric, d *prometheus.Desc, v uint64) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
}
