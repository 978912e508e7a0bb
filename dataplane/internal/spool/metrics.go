package spool

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// counts are totals since Open.
type counts struct {
	events          uint64 // given a sequence
	published       uint64
	publishErrors   uint64
	republishes     uint64
	marks           uint64 // answers to the question for the mark
	recovered       uint64 // intents that became unknown events
	lost            uint64 // sequences that damage destroyed
	quarantined     uint64
	damagedReads    uint64
	writeErrors     uint64
	intentsRefused  uint64
	refusalsDropped uint64
}

// Status is the spool's state for heartbeats and readiness.
type Status struct {
	Pending   int64 // events that are not known to be in Postgres
	Open      int   // intents without a completion
	Held      int   // completions that the disk refuses
	Bytes     int64 // of all segments
	Segments  int
	OldestAge time.Duration // of the oldest pending event, to about MarkEvery; 0 when none
	Sequence  uint64        // of the newest event
	Committed uint64        // the consumer's mark
}

// Status returns the state of this moment.
func (s *Spool) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Pending:   int64(s.next-1-s.committed) + int64(len(s.held)),
		Open:      len(s.open),
		Held:      len(s.held),
		Bytes:     s.bytes,
		Segments:  len(s.segments),
		Sequence:  s.next - 1,
		Committed: s.committed,
	}
	if len(s.ages) > 0 && s.next-1 > s.committed {
		st.OldestAge = s.opts.Now().Sub(s.ages[0].at)
	}
	return st
}

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("signalbox_gateway_spool_"+name, help, nil, nil)
}

var (
	descPending    = desc("pending_events", "Usage events not yet known to be in Postgres. A rise means that NATS, or every consumer, is away; nothing is lost while the disk lasts.")
	descOpen       = desc("open_intents", "Model attempts in progress. A count above the requests in flight is a bug.")
	descHeld       = desc("held_events", "Usage events in memory because the disk refuses writes; above 0 the gateway refuses new requests.")
	descBytes      = desc("bytes", "Size of the spool's segments. Near the maximum, requests are about to be refused.")
	descMaxBytes   = desc("max_bytes", "Size at which new requests are refused.")
	descAge        = desc("oldest_seconds", "Age of the oldest pending usage event. More than a minute means that usage does not reach Postgres.")
	descEvents     = desc("events_total", "Usage events written. With the published ones this shows how fast the spool drains.")
	descPublished  = desc("published_total", "Usage events stored by the stream, repeats included. No rise while events are written means that NATS refuses them.")
	descErrors     = desc("publish_errors_total", "Publishes that failed and were tried again. A steady rise points at NATS, or at a full usage stream.")
	descAgain      = desc("republishes_total", "Times that the stream had lost records and they were published again. Any rise means that NATS lost data.")
	descRecovered  = desc("recovered_intents_total", "Intents of a dead process that became events with outcome unknown. A rise means that this gateway died with requests in flight.")
	descLost       = desc("lost_events_total", "Usage events destroyed by damage to the disk; each is on record as lost. Any rise wants a look at the disk.")
	descQuarantine = desc("quarantined_segments_total", "Corrupt segments moved aside. Any rise wants a look at the disk.")
	descWrites     = desc("write_errors_total", "Writes that the disk refused. Any rise means that it is full or failing.")
	descRefused    = desc("refused_intents_total", "Requests refused because usage could not be recorded. Any rise means that callers get 503: free the disk, or bring NATS and the consumers back.")
	descDropped    = desc("dropped_refusals_total", "Events of requests that the gateway refused and that found no room; no money is in them. A rise means that the spool is full.")
)

// Describe implements prometheus.Collector.
func (s *Spool) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// Collect implements prometheus.Collector.
func (s *Spool) Collect(out chan<- prometheus.Metric) {
	st := s.Status()
	s.mu.Lock()
	c := s.counts
	s.mu.Unlock()
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	total := func(d *prometheus.Desc, v uint64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v))
	}
	gauge(descPending, float64(st.Pending))
	gauge(descOpen, float64(st.Open))
	gauge(descHeld, float64(st.Held))
	gauge(descBytes, float64(st.Bytes))
	gauge(descMaxBytes, float64(s.opts.MaxBytes))
	gauge(descAge, st.OldestAge.Seconds())
	total(descEvents, c.events)
	total(descPublished, c.published)
	total(descErrors, c.publishErrors)
	total(descAgain, c.republishes)
	total(descRecovered, c.recovered)
	total(descLost, c.lost)
	total(descQuarantine, c.quarantined+c.damagedReads)
	total(descWrites, c.writeErrors)
	total(descRefused, c.intentsRefused)
	total(descDropped, c.refusalsDropped)
}
