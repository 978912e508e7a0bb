package books

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	day        = 24 * time.Hour
	auditAt    = 3*time.Hour + 20*time.Minute // of the UTC day
	auditDays  = 2                            // whole ones, before the one that is not over
	auditRetry = 10 * time.Minute
	mostLogged = 20
)

// Audit compares the books every night. One of all control planes runs it.
type Audit struct {
	comparer Comparer
	now      func() time.Time
	log      *slog.Logger

	mu          sync.Mutex
	at          time.Time // of the last that came to its end; zero: none
	differences int
}

// NewAudit returns an Audit with comparer.
func NewAudit(comparer Comparer, now func() time.Time, log *slog.Logger) *Audit {
	return &Audit{comparer: comparer, now: now, log: log}
}

// Run compares at night until ctx ends.
func (a *Audit) Run(ctx context.Context) error {
	wait := untilNext(a.now())
	for {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		wait = auditRetry
		if err := a.Round(ctx); err == nil {
			wait = untilNext(a.now())
		} else if ctx.Err() == nil {
			a.log.Warn("the books are to be compared again", slog.Any("error", err), slog.Duration("retry_in", wait))
		}
	}
}

// untilNext is how long it is until the next audit, at least a second.
func untilNext(now time.Time) time.Duration {
	next := now.UTC().Truncate(day).Add(auditAt)
	if !next.After(now.Add(time.Second)) {
		next = next.Add(day)
	}
	return next.Sub(now)
}

// Round compares the last days of every workspace.
func (a *Audit) Round(ctx context.Context) error {
	began := a.now()
	today := began.UTC().Truncate(day)
	found := 0
	err := a.comparer.Compare(ctx, Range{First: today.Add(-auditDays * day), Last: today}, func(d Difference) error {
		if found++; found <= mostLogged {
			a.log.Error("the books differ", slog.String("workspace_id", d.Workspace.String()), slog.String("check", string(d.Check)),
				slog.String("place", d.Place), slog.String("figure", d.Figure), slog.Int64("have", d.Have), slog.Int64("want", d.Want))
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.mu.Lock()
	a.at, a.differences = a.now(), found
	a.mu.Unlock()
	level := slog.LevelInfo
	if found > 0 {
		level = slog.LevelError
	}
	a.log.Log(ctx, level, "the books were compared", slog.Int("differences", found), slog.Duration("took", a.now().Sub(began)))
	return nil
}

var (
	descDifferences = prometheus.NewDesc("signalbox_books_differences", "Figures that the last nightly comparison of the request log, the totals and the wallets found to differ, from the control plane that made it; absent from others. Not 0 means that something was lost, doubled or changed by hand: signalbox reconcile lists it.", nil, nil)
	descAt          = prometheus.NewDesc("signalbox_books_compared_timestamp_seconds", "When that comparison came to its end. More than a day ago means that nobody compares.", nil, nil)
)

// Describe implements prometheus.Collector.
func (a *Audit) Describe(out chan<- *prometheus.Desc) {
	out <- descDifferences
	out <- descAt
}

// Collect implements prometheus.Collector.
func (a *Audit) Collect(out chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() {
		return
	}
	out <- prometheus.MustNewConstMetric(descDifferences, prometheus.GaugeValue, float64(a.differences))
	out <- prometheus.MustNewConstMetric(descAt, prometheus.GaugeValue, float64(a.at.Unix()))
}
