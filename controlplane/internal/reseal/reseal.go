// Package reseal owns that everything which is stored sealed comes under the
// key that seals at present, so that an older key can be dropped, and the
// account of which key seals what. It knows nothing of what is sealed, nor of
// SQL or NATS.
package reseal

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

// Keyring seals anew what an older key of it sealed.
type Keyring interface {
	Seal(plain secret.String, associated ...string) (secret.Sealed, error)
	Open(sealed secret.Sealed, associated ...string) (secret.String, error)
	// Marks are what begins everything that need not be sealed anew.
	Marks() [][]byte
	IsStale(sealed secret.Sealed) bool
}

// Ring is the keyring of the process, which changes while it runs.
type Ring interface {
	Current() *seal.Keyring
	// Changed is closed when another keyring is taken.
	Changed() <-chan struct{}
}

// Part is one kind of what is sealed.
type Part interface {
	// Reseal seals anew what is stale and can be opened. What fails does not keep
	// it from the rest; it is tried again later.
	Reseal(ctx context.Context, ring Keyring) (Report, error)
	// Seals count what is sealed by the ids of the keys.
	Seals(ctx context.Context) (Count, error)
}

// Count is how many values a key sealed, by the key's id.
type Count map[uint32]int

// Add counts one.
func (c Count) Add(sealed secret.Sealed) {
	key, _ := seal.SealedBy(sealed) // 0 of what nothing sealed
	c[key]++
}

// Report is what came of a pass.
type Report struct {
	Done int
	// Unopened name what no key opens, such as a row that was moved. It stays.
	Unopened []string
}

// Deps are what a Runner works with.
type Deps struct {
	Ring  Ring // nil: there is nothing to do
	Parts []Part
	Log   *slog.Logger
}

// Runner makes a pass after the start, whenever another keyring is taken, and
// every now and then for what was sealed meanwhile by a control plane that has
// not taken it yet.
type Runner struct {
	d      Deps
	failed atomic.Int64          // passes
	told   map[string]struct{}   // Unopened
	clean  *seal.Keyring         // of the last pass that left nothing
	stale  atomic.Pointer[int64] // as the last pass left it
}

// NewRunner returns a Runner over d.
func NewRunner(d Deps) *Runner { return &Runner{d: d, told: make(map[string]struct{})} }

const (
	afterFailure = 5 * time.Second
	anyway       = 5 * time.Minute
)

// Run makes passes until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	if r.d.Ring == nil {
		return
	}
	for {
		changed := r.d.Ring.Changed()
		pause := anyway
		if err := r.Pass(ctx); err != nil && ctx.Err() == nil {
			r.failed.Add(1)
			r.d.Log.WarnContext(ctx, "secrets that an older key sealed are left", slog.Any("error", err))
			pause = afterFailure
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Pass seals anew what is stale.
func (r *Runner) Pass(ctx context.Context) error {
	ring := r.d.Ring.Current()
	done, left := 0, 0
	var failed []error
	for _, part := range r.d.Parts {
		report, err := part.Reseal(ctx, ring)
		failed = append(failed, err)
		done, left = done+report.Done, left+len(report.Unopened)
		r.tell(ctx, report.Unopened)
	}
	if done > 0 {
		r.d.Log.InfoContext(ctx, "secrets were sealed anew", slog.Int("count", done))
	}
	err := errors.Join(append(failed, r.count(ctx, ring))...)
	if err == nil && left == 0 && r.clean != ring {
		r.clean = ring
		r.d.Log.InfoContext(ctx, "no secret is sealed by an older key")
	}
	return err
}

func (r *Runner) tell(ctx context.Context, unopened []string) {
	for _, name := range unopened {
		if _, known := r.told[name]; !known {
			r.told[name] = struct{}{}
			r.d.Log.ErrorContext(ctx, "a secret does not open and cannot be sealed anew", slog.String("key", name))
		}
	}
}

// count looks how much of what is stored is still stale.
func (r *Runner) count(ctx context.Context, ring *seal.Keyring) error {
	counts := make([]Count, len(r.d.Parts))
	for i, part := range r.d.Parts {
		var err error
		if counts[i], err = part.Seals(ctx); err != nil {
			return err
		}
	}
	left := int64(stale(ring, counts...))
	r.stale.Store(&left)
	return nil
}

var (
	descStale = prometheus.NewDesc("signalbox_keyring_stale_seals",
		"Stored provider keys and secrets of webhooks that an older key of the keyring sealed; -1 before the first look. Above 0 no key may be dropped; at 0 signalbox keyring status tells whether one may.", nil, nil)
	descPasses = prometheus.NewDesc("signalbox_keyring_reseal_failures_total",
		"Passes over the stored provider keys and secrets of webhooks that left some behind; each is repeated within seconds.", nil, nil)
)

// Describe implements prometheus.Collector.
func (r *Runner) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, out) }

// Collect implements prometheus.Collector.
func (r *Runner) Collect(out chan<- prometheus.Metric) {
	stale := -1.0
	if seen := r.stale.Load(); seen != nil {
		stale = float64(*seen)
	}
	out <- prometheus.MustNewConstMetric(descStale, prometheus.GaugeValue, stale)
	out <- prometheus.MustNewConstMetric(descPasses, prometheus.CounterValue, float64(r.failed.Load()))
}
