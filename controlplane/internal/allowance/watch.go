package allowance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/controlplane/internal/wallet"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Published is with what a workspace was published of what changes without
// anybody changing it. The zero Published is that of a workspace that was never
// looked at, which is new under the deployment as it comes.
type Published struct {
	Standing   Standing
	Deployment string // a digest of what the deployment says; "" as it comes
	At         time.Time
}

// Seen is a workspace as the watch looks at it.
type Seen struct {
	Workspace id.Workspace
	Account
	Published Published
}

// Directory looks across workspaces. It is called inside a system transaction.
type Directory interface {
	// Accounts are at most limit workspaces that are active, by their ids, after
	// one. Where standings do not matter, those with another digest alone.
	Accounts(ctx context.Context, after id.Workspace, digest string, standings bool, limit int) ([]Seen, error)
}

const (
	watchEvery = 2 * time.Minute
	watchRetry = 10 * time.Second
	atOnce     = 500
)

// WatchDeps are what a Watch works with.
type WatchDeps struct {
	System    txn.System
	Directory Directory
	Store     Store
	Mutator   *deploy.Mutator
	Settings  Settings
	Terms     wallet.Terms
	Now       func() time.Time
	Log       *slog.Logger
}

// Watch publishes workspaces whose standing is another than the one that they
// were published with, as it rises with their age, and those that were published
// under other settings of the deployment. One of all control planes runs it.
type Watch struct {
	d       WatchDeps
	digest  string
	changed atomic.Uint64
}

// NewWatch returns a Watch over d.
func NewWatch(d WatchDeps) *Watch { return &Watch{d: d, digest: digest(d.Settings, d.Terms)} }

// digest tells settings apart; "" for those that a deployment comes with.
func digest(s Settings, t wallet.Terms) string {
	if s == Default() && t == wallet.Default() {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v %+v", s, t))
	return hex.EncodeToString(sum[:8])
}

// Run watches until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	for {
		wait := watchEvery
		if err := w.Round(ctx); err != nil && ctx.Err() == nil {
			w.d.Log.Warn("standings are to be looked at again", slog.Any("error", err), slog.Duration("retry_in", watchRetry))
			wait = watchRetry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// Round looks at every workspace once. One that cannot be published keeps no other
// from it.
func (w *Watch) Round(ctx context.Context) error {
	var first error
	var after id.Workspace
	for {
		var list []Seen
		err := w.d.System.Read(ctx, func(ctx context.Context) (err error) {
			list, err = w.d.Directory.Accounts(ctx, after, w.digest, w.d.Settings.Enabled, atOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, seen := range list {
			if err := w.look(ctx, seen); err != nil && !fault.Is(err, fault.NotFound) { // it is deleted meanwhile
				first = cmp.Or(first, err)
			}
			if ctx.Err() != nil {
				return first
			}
		}
		if len(list) < atOnce {
			return first
		}
		after = list[len(list)-1].Workspace
	}
}

// itself is the watch as an actor.
var itself = audit.By{Actor: audit.Actor{Kind: audit.System, Name: "signalbox"}}

// look publishes a workspace where that is due.
func (w *Watch) look(ctx context.Context, seen Seen) error {
	now := Published{Standing: w.standing(seen.Account), Deployment: w.digest}
	before := seen.Published
	if before.Standing == "" {
		before.Standing = New
	}
	if before.Standing == now.Standing && before.Deployment == now.Deployment {
		return nil
	}
	c := deploy.NewChange(itself, "standing.update", "workspace", seen.Workspace.String())
	var d audit.Diff
	d.Text("standing", string(before.Standing), string(now.Standing))
	d.Text("deployment", before.Deployment, now.Deployment)
	c.Diff = d
	_, err := w.d.Mutator.Mutate(ctx, seen.Workspace, c, func(ctx context.Context, _ int64) error {
		now.At = w.d.Now().UTC()
		return w.d.Store.SetPublished(ctx, seen.Workspace, now)
	})
	if err == nil {
		w.changed.Add(1)
	}
	return err
}

// standing is what the workspace is published with; without allowances none is.
func (w *Watch) standing(a Account) Standing {
	if !w.d.Settings.Enabled {
		return New
	}
	standing, _ := w.d.Settings.Standing(a.Facts(w.d.Terms), w.d.Now())
	return standing
}

var descChanged = prometheus.NewDesc("signalbox_standings_published_total", "Workspaces published because their standing, or what the deployment says of billing and allowances, became another.", nil, nil)

// Describe implements prometheus.Collector.
func (w *Watch) Describe(out chan<- *prometheus.Desc) { out <- descChanged }

// Collect implements prometheus.Collector.
func (w *Watch) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(descChanged, prometheus.CounterValue, float64(w.changed.Load()))
}
