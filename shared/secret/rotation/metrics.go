package rotation

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	taken, refused, unknown atomic.Int64
	failing                 atomic.Bool
}

var (
	descKeys    = prometheus.NewDesc("signalbox_keyring_keys", "1 for each key of the keyring that is held, by its id and by whether it seals or only opens. Promote a key when every process has it, drop one when every process seals with another.", []string{"key_id", "role"}, nil)
	descTaken   = prometheus.NewDesc("signalbox_keyring_taken_total", "Changed keyring files that were taken while the process runs.", nil, nil)
	descRefused = prometheus.NewDesc("signalbox_keyring_refused_total", "Keyring files that could not be taken; the keyring that was held stayed, and the log says why.", nil, nil)
	descFailing = prometheus.NewDesc("signalbox_keyring_failing", "1 while the keyring file cannot be taken. The next start would fail, or lose what is sealed.", nil, nil)
	descUnknown = prometheus.NewDesc("signalbox_keyring_unknown_key_total", "Attempts to open what was sealed by a key that the keyring does not have. A rise means that a key was promoted before this process had it, or dropped too early.", nil, nil)
)

// Describe implements prometheus.Collector.
func (k *Keyring) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(k, out) }

// Collect implements prometheus.Collector.
func (k *Keyring) Collect(out chan<- prometheus.Metric) {
	ring := k.Current()
	for _, key := range ring.IDs() {
		role := "opens"
		if key == ring.PrimaryID() {
			role = "seals"
		}
		out <- prometheus.MustNewConstMetric(descKeys, prometheus.GaugeValue, 1, strconv.FormatUint(uint64(key), 10), role)
	}
	failing := 0.0
	if k.metrics.failing.Load() {
		failing = 1
	}
	out <- prometheus.MustNewConstMetric(descFailing, prometheus.GaugeValue, failing)
	for desc, count := range map[*prometheus.Desc]*atomic.Int64{
		descTaken: &k.metrics.taken, descRefused: &k.metrics.refused, descUnknown: &k.metrics.unknown,
	} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(count.Load()))
	}
}
