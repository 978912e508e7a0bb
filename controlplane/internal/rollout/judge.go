package rollout

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

const (
	judgeEvery = 250 * time.Millisecond
	// idleFor is how long nothing is looked at while no rollout is open, unless
	// something changes.
	idleFor    = 2 * time.Second
	retryAfter = 5 * time.Second // a rollout whose verdict could not be carried out
)

// Elector makes one control plane the one that judges.
type Elector interface {
	// Lead runs work whenever this process leads, until ctx ends. The context of
	// work ends when leadership is lost; wake tells it that something was changed,
	// of which several may be one.
	Lead(ctx context.Context, work func(ctx context.Context, wake <-chan struct{}) error) error
}

// Judge looks at the open rollouts of all workspaces, and carries out what is to
// be done about them. It remembers nothing that matters: another one goes on
// from what is stored. Were there two at once, each change would still be made
// once, as it is made for one version of the rollout.
type Judge struct {
	elector Elector
	docket  Docket
	service *Service
	now     func() time.Time
	log     *slog.Logger

	delayed map[id.Rollout]time.Time // of one term, by the time to try again

	mu     sync.Mutex
	counts counts
}

// NewJudge returns a Judge that does nothing yet.
func NewJudge(elector Elector, docket Docket, service *Service, now func() time.Time, log *slog.Logger) *Judge {
	return &Judge{
		elector: elector, docket: docket, service: service, now: now, log: log,
		delayed: map[id.Rollout]time.Time{}, counts: counts{acts: map[Act]uint64{}},
	}
}

// Run judges whenever this process leads, until ctx ends.
func (j *Judge) Run(ctx context.Context) error { return j.elector.Lead(ctx, j.lead) }

func (j *Judge) lead(ctx context.Context, wake <-chan struct{}) error {
	clear(j.delayed)
	j.note(func(c *counts) { c.leading, c.judged = true, j.now() })
	defer j.note(func(c *counts) { c.leading, c.running, c.paused = false, 0, 0 })
	failing := false
	for {
		err := j.Round(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			j.log.Warn("rollouts are not judged, it is tried again", slog.Any("error", err))
		}
		failing = err != nil
		if !j.rest(ctx, wake, failing) {
			return nil
		}
	}
}

// rest waits until rollouts are to be judged again, or ctx ends and it reports
// false.
func (j *Judge) rest(ctx context.Context, wake <-chan struct{}, failing bool) bool {
	pause := idleFor
	if failing || !j.idle() {
		pause, wake = judgeEvery, nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
	return ctx.Err() == nil
}

// idle reports whether no rollout was open in the last round.
func (j *Judge) idle() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts.running+j.counts.paused == 0
}

// Round judges every open rollout once.
func (j *Judge) Round(ctx context.Context) error {
	cases, err := j.docket.Open(ctx)
	if err != nil {
		return err
	}
	running := 0
	for _, c := range cases {
		if c.Rollout.State == Running {
			running++
		}
		v := judge(j.now(), c.Rollout, armsOf(c.Rollout, c.Cells))
		if v.Act != Wait && !j.now().Before(j.delayed[c.Rollout.ID]) {
			j.settle(ctx, c.Rollout, v)
		}
	}
	j.note(func(c *counts) { c.judged, c.running, c.paused = j.now(), running, len(cases)-running })
	return nil
}

// settle carries a verdict out. One that cannot be does not hold up the others.
func (j *Judge) settle(ctx context.Context, r Rollout, v Verdict) {
	log := j.log.With(slog.String("workspace_id", r.Workspace.String()), slog.String("route_id", r.Route.String()), slog.String("rollout_id", r.ID.String()))
	out, err := j.service.Settle(ctx, r, v)
	switch {
	case err != nil && ctx.Err() == nil:
		j.delayed[r.ID] = j.now().Add(retryAfter)
		j.note(func(c *counts) { c.failed++ })
		log.Warn("a rollout was judged and nothing came of it, it is tried again", slog.String("verdict", string(v.Act)), slog.Any("error", err))
	case err == nil && !out.Unchanged:
		j.note(func(c *counts) { c.acts[v.Act]++ })
		log.Info("a rollout was judged", slog.String("verdict", string(v.Act)), slog.String("state", string(out.Detail.State)), slog.Int("step", out.Detail.Step))
	}
}

func (j *Judge) note(change func(c *counts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.counts)
}
