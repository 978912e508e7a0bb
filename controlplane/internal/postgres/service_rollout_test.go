package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/usage"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// rolled is a route with version 1 deployed and version 2 to roll out.
type rolled struct {
	*services
	t       *testing.T
	ws      id.Workspace
	route   dynamicroute.Route
	records *UsageStore
	judge   *rollout.Judge
	seq     uint64
}

func openRolled(t *testing.T) *rolled {
	t.Helper()
	s := openServices(t)
	r := &rolled{services: s, t: t, ws: s.create(t, "acme").Workspace.ID, records: NewUsageStore(s.db, testIDs, s.clock.now)}
	r.route = s.route(t, r.ws, operator, "plans")
	s.save(t, r.route, straight("2"))
	s.deployed(t, r.route, 1)
	r.judge = r.newJudge()
	return r
}

func (r *rolled) newJudge() *rollout.Judge {
	return rollout.NewJudge(nil, NewDocket(r.db), r.rollouts, r.clock.now, slog.New(slog.DiscardHandler))
}

// twoSteps is a plan of 10 % and 100 %, each for a minute, that ten requests
// are judged by.
func twoSteps() rollout.Plan {
	return rollout.Plan{
		Steps: []rollout.Step{{Percent: 1000, Hold: time.Minute}, {Percent: 10_000, Hold: time.Minute}},
		Guard: rollout.Guard{MaxErrorRate: new(0.1), MaxLatencyRatio: new(2.0), MaxCostRatio: new(2.0), MinRequests: 10},
	}
}

func (r *rolled) start() rollout.Detail {
	r.t.Helper()
	out, err := r.rollouts.Start(r.t.Context(), r.ws, r.route.ID, 2, operator, twoSteps())
	require.NoError(r.t, err)
	return out.Detail
}

// serve has n requests of an arm come in, of which some failed.
func (r *rolled) serve(rolloutID id.Rollout, candidate bool, n, failed int) []usage.Entry {
	r.t.Helper()
	entries := make([]usage.Entry, n)
	gateway := id.New[id.GatewayKind](testIDs)
	for i := range entries {
		r.seq++
		e := usage.Entry{ID: id.New[id.RequestKind](testIDs), Workspace: r.ws, Gateway: gateway, Sequence: r.seq, Outcome: wire.Success, Cost: meter.Cost{Total: 100}}
		e.PrimaryID, e.StartedAt = e.ID, e.ID.Time()
		e.Rollout = &wire.UsageRollout{ID: rolloutID, Candidate: candidate, Outcome: wire.Success, Took: time.Second}
		if i < failed {
			e.Outcome, e.Cost = wire.Failed, meter.Cost{}
			e.Rollout.Outcome, e.Rollout.Code = wire.Failed, string(fault.UpstreamServerError)
		}
		entries[i] = e
	}
	r.write(entries)
	return entries
}

func (r *rolled) write(entries []usage.Entry) usage.Written {
	r.t.Helper()
	w, err := r.records.WriteUsage(r.t.Context(), usage.Batch{Entries: entries})
	require.NoError(r.t, err)
	return w
}

func (r *rolled) round() { r.t.Helper(); require.NoError(r.t, r.judge.Round(r.t.Context())) }

func (r *rolled) current() rollout.Detail {
	r.t.Helper()
	d, err := r.rollouts.Current(r.t.Context(), r.ws, r.route.ID)
	require.NoError(r.t, err)
	return d
}

func (r *rolled) published() policy.Route { r.t.Helper(); return r.snapshot(r.t, r.ws).Routes[0] }

func TestAGoodCandidateIsDeployedByItself(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	require.Equal(t, []any{rollout.Running, 2, 1, 0}, []any{started.State, started.Candidate, started.Stable, started.Step})
	require.Equal(t, "route_rollout.start", r.lastEvent(t, r.ws).Action)
	candidate := r.published().Candidate
	require.Equal(t, []any{2, started.ID, "10"}, []any{candidate.Version, candidate.Rollout, candidate.Percent.String()})
	require.NotEmpty(t, candidate.Graph.Nodes)
	require.Equal(t, 1, r.published().Version, "everyone else stays")

	r.clock.advance(time.Minute)
	r.round()
	require.Equal(t, []any{0, rollout.ForRequests}, []any{r.current().Step, r.current().Waiting}, "too few were judged")
	r.serve(started.ID, true, 10, 0)
	r.round()
	require.Equal(t, rollout.ForStableRequests, r.current().Waiting)
	r.serve(started.ID, false, 90, 0)
	require.Equal(t, []int64{10, 90}, []int64{r.current().Arms.Candidate.Requests, r.current().Arms.Stable.Requests})
	r.round()
	require.Equal(t, []any{1, rollout.ForHold}, []any{r.current().Step, r.current().Waiting})
	require.Equal(t, "100", r.published().Candidate.Percent.String())
	advanced := r.lastEvent(t, r.ws)
	require.Equal(t, []any{"route_rollout.advance", audit.System}, []any{advanced.Action, advanced.Actor.Kind})
	require.Zero(t, r.current().Arms.Candidate.Requests, "each step is judged by itself")

	r.serve(started.ID, true, 10, 1)
	r.clock.advance(time.Minute - 1)
	r.round()
	require.Equal(t, rollout.Running, r.current().State)
	r.clock.advance(time.Minute)
	r.serve(started.ID, true, 1, 0)
	r.round()
	done := r.current()
	require.Equal(t, []any{rollout.Completed, r.clock.now()}, []any{done.State, *done.EndedAt})
	require.Equal(t, int64(11), done.Evidence.Arms.Candidate.Requests)
	require.Equal(t, int64(90), done.Evidence.Arms.Stable.Requests, "of the step before, as nobody is left")
	require.Equal(t, []string{"2 deployed", "1 superseded"}, r.statuses(t, r.route))
	require.Equal(t, 2, r.published().Version)
	require.Nil(t, r.published().Candidate)
	event := r.lastEvent(t, r.ws)
	require.Equal(t, "route_rollout.complete", event.Action)
	require.Contains(t, event.Diff, audit.Change{Path: "deployed_version", Before: "1", After: "2"})
	out, err := r.routes.Rollback(t.Context(), r.ws, r.route.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, 1, out.Version.Number, "it is a deployment like any other")
}

func TestABadCandidateIsRolledBackByItself(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	r.serve(started.ID, false, 50, 5)
	r.serve(started.ID, true, 9, 9)
	r.round()
	require.Equal(t, rollout.Running, r.current().State, "nine are fewer than ten")
	r.serve(started.ID, true, 1, 0)
	r.round()
	done := r.current()
	require.Equal(t, rollout.RolledBack, done.State)
	require.Equal(t, []any{rollout.ErrorRate, 0.9, 0.1}, []any{done.Evidence.Broken, done.Evidence.Measured, done.Evidence.Allowed})
	require.Equal(t, done.Evidence.Arms, done.Arms)
	require.Nil(t, r.published().Candidate)
	require.Equal(t, 1, r.published().Version)
	event := r.lastEvent(t, r.ws)
	require.Equal(t, []any{"route_rollout.roll_back", audit.System, r.route.ID.String()}, []any{event.Action, event.Actor.Kind, event.TargetID})
	for _, want := range []audit.Change{
		{Path: "state", Before: "running", After: "rolled_back"},
		{Path: "percent", Before: "10", After: "0"},
		{Path: "rollout", Before: started.ID.String(), After: started.ID.String()},
		{Path: "evidence.broken", After: "max_error_rate"},
		{Path: "evidence.measured", After: "0.9"},
		{Path: "evidence.allowed", After: "0.1"},
		{Path: "evidence.candidate.requests", After: "10"},
		{Path: "evidence.candidate.failures", After: "9"},
		{Path: "evidence.stable.requests", After: "50"},
		{Path: "evidence.stable.error_rate", After: "0.1"},
		{Path: "evidence.stable.mean_cost_usd", After: "0.0000001"},
	} {
		require.Contains(t, event.Diff, want)
	}
	r.serve(started.ID, true, 5, 0)
	require.Equal(t, done, r.current(), "what comes late changes nothing")
	r.round()
	require.Equal(t, event, r.lastEvent(t, r.ws))

	again := r.start()
	require.NotEqual(t, started.ID, again.ID)
	found, err := r.rollouts.History(t.Context(), r.ws, r.route.ID, page.Query{})
	require.NoError(t, err)
	require.Equal(t, []id.Rollout{again.ID, started.ID}, []id.Rollout{found.Items[0].ID, found.Items[1].ID})
}

// Judges that look at the same time, as during a change of the leader, make
// each change once; a new one goes on from what is stored.
func TestJudgesDoNotMeet(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	for step := range 2 {
		r.serve(started.ID, true, 20, 0)
		r.serve(started.ID, false, 20, 0)
		r.clock.advance(time.Minute)
		before := r.snapshot(t, r.ws).Revision
		var group errgroup.Group
		for range 4 {
			judge := r.newJudge()
			group.Go(func() error { return judge.Round(t.Context()) })
		}
		require.NoError(t, group.Wait())
		require.Equal(t, before+1, r.snapshot(t, r.ws).Revision, "step %d", step)
	}
	require.Equal(t, rollout.Completed, r.current().State)
}

func TestARolloutIsSteered(t *testing.T) {
	r := openRolled(t)
	ctx, route := t.Context(), r.route.ID
	_, err := r.rollouts.Current(ctx, r.ws, route)
	require.Equal(t, fault.NotFound, fault.CodeOf(err))
	started := r.start()
	conflict := func(err error) { t.Helper(); require.Equal(t, fault.Conflict, fault.CodeOf(err), "%v", err) }

	_, err = r.rollouts.Start(ctx, r.ws, route, 2, operator, twoSteps())
	conflict(err)
	require.ErrorContains(t, err, started.ID.String())
	r.save(t, r.route, straight("3"))
	_, err = r.routes.Deploy(ctx, r.ws, route, 3, operator, nil)
	conflict(err)
	require.ErrorContains(t, err, started.ID.String())
	_, err = r.routes.Rollback(ctx, r.ws, route, operator, nil)
	conflict(err)
	require.ErrorContains(t, err, started.ID.String())

	out, err := r.rollouts.Pause(ctx, r.ws, route, operator, &started.Version)
	require.NoError(t, err)
	require.Equal(t, []any{rollout.Paused, rollout.ForResume}, []any{out.Detail.State, out.Detail.Waiting})
	require.Equal(t, "10", r.published().Candidate.Percent.String(), "it keeps its share")
	out, err = r.rollouts.Pause(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	require.True(t, out.Unchanged)
	_, err = r.rollouts.Resume(ctx, r.ws, route, operator, &started.Version)
	require.Equal(t, fault.PreconditionFailed, fault.CodeOf(err))
	_, err = r.rollouts.Advance(ctx, r.ws, route, operator, nil)
	conflict(err)
	r.serve(started.ID, true, 20, 0)
	r.serve(started.ID, false, 20, 0)
	r.clock.advance(time.Hour)
	r.round()
	require.Equal(t, rollout.Paused, r.current().State)
	out, err = r.rollouts.Resume(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	require.Equal(t, []any{rollout.Running, rollout.ForHold}, []any{out.Detail.State, out.Detail.Waiting}, "the step is held anew")
	out, err = r.rollouts.Advance(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	require.Equal(t, []any{rollout.Running, 1}, []any{out.Detail.State, out.Detail.Step})
	out, err = r.rollouts.Abort(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	require.Equal(t, rollout.Aborted, out.Detail.State)
	require.Nil(t, r.published().Candidate)
	require.Equal(t, "route_rollout.abort", r.lastEvent(t, r.ws).Action)
	for _, steer := range []func(context.Context, id.Workspace, id.Route, audit.By, *int64) (rollout.Outcome, error){
		r.rollouts.Pause, r.rollouts.Resume, r.rollouts.Abort, r.rollouts.Advance,
	} {
		_, err := steer(ctx, r.ws, route, operator, nil)
		conflict(err)
	}
	r.deployed(t, r.route, 3)

	r.start()
	_, err = r.rollouts.Advance(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	out, err = r.rollouts.Advance(ctx, r.ws, route, operator, nil)
	require.NoError(t, err)
	require.Equal(t, rollout.Completed, out.Detail.State)
	require.Equal(t, 2, r.published().Version)
}

func TestWhatARolloutNeedsToBegin(t *testing.T) {
	r := openRolled(t)
	ctx := t.Context()
	bare := r.services.route(t, r.ws, operator, "bare")
	paused := dynamicroute.Paused
	resting := r.services.route(t, r.ws, operator, "resting")
	r.save(t, resting, straight("2"))
	r.deployed(t, resting, 1)
	_, err := r.routes.Update(ctx, r.ws, resting.ID, operator, dynamicroute.Patch{Status: &paused})
	require.NoError(t, err)
	tests := map[string]struct {
		route     id.Route
		candidate int
		want      fault.Code
	}{
		"no such version":     {r.route.ID, 9, fault.NotFound},
		"the deployed one":    {r.route.ID, 1, fault.Conflict},
		"nothing is deployed": {bare.ID, 1, fault.Conflict},
		"it is paused":        {resting.ID, 2, fault.Conflict},
		"no such route":       {id.New[id.RouteKind](testIDs), 1, fault.NotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := r.rollouts.Start(ctx, r.ws, tt.route, tt.candidate, operator, twoSteps())
			require.Equal(t, tt.want, fault.CodeOf(err), "%v", err)
		})
	}
	_, err = r.rollouts.Start(ctx, r.ws, r.route.ID, 2, operator, rollout.Plan{})
	require.Equal(t, fault.ValidationError, fault.CodeOf(err))
}

// A route that is paused takes its rollout along, and one that is deleted ends
// it.
func TestARolloutFollowsItsRoute(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	paused, active := dynamicroute.Paused, dynamicroute.Active
	_, err := r.routes.Update(t.Context(), r.ws, r.route.ID, operator, dynamicroute.Patch{Status: &paused})
	require.NoError(t, err)
	require.Equal(t, rollout.Paused, r.current().State)
	require.Equal(t, []audit.Change{
		{Path: "status", Before: "active", After: "paused"},
		{Path: "rollout", Before: started.ID.String(), After: started.ID.String()},
		{Path: "rollout.state", Before: "running", After: "paused"},
	}, r.lastEvent(t, r.ws).Diff)
	_, err = r.routes.Update(t.Context(), r.ws, r.route.ID, operator, dynamicroute.Patch{Status: &active})
	require.NoError(t, err)
	require.Equal(t, rollout.Paused, r.current().State, "only a call resumes it")
	require.NotNil(t, r.published().Candidate)
	_, err = r.routes.Update(t.Context(), r.ws, r.route.ID, operator, dynamicroute.Patch{Status: &paused})
	require.NoError(t, err, "one that is paused stays so")
	_, err = r.rollouts.Resume(t.Context(), r.ws, r.route.ID, operator, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err), "nobody is sent through it: %v", err)
	require.Equal(t, rollout.Paused, r.current().State)

	_, err = r.routes.Delete(t.Context(), r.ws, r.route.ID, operator, "plans", nil)
	require.NoError(t, err)
	require.Equal(t, rollout.Aborted, r.current().State, "its history stays readable")
	require.Contains(t, r.lastEvent(t, r.ws).Diff, audit.Change{Path: "rollout.state", Before: "paused", After: "aborted"})
	_, err = r.rollouts.Resume(t.Context(), r.ws, r.route.ID, operator, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
}

// However often and in whatever parts events come, each request counts once,
// for its own workspace's rollout.
func TestEachRequestOfARolloutCountsOnce(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	entries := r.serve(started.ID, true, 7, 2)
	require.Equal(t, usage.Written{Repeated: 7}, r.write(entries))
	stranger := r.create(t, "other").Workspace.ID
	foreign := r.serve(id.New[id.RolloutKind](testIDs), true, 3, 0) // of a rollout that never was
	for i := range foreign {
		foreign[i].ID, foreign[i].Workspace, foreign[i].Rollout.ID = id.New[id.RequestKind](testIDs), stranger, started.ID
		foreign[i].PrimaryID, foreign[i].StartedAt = foreign[i].ID, foreign[i].ID.Time()
	}
	require.Equal(t, 3, r.write(foreign).Inserted, "it is kept, and not counted")
	a := r.current().Arms.Candidate
	require.Equal(t, []int64{7, 2, 500}, []int64{a.Requests, a.Failures, int64(a.Cost)})

	// An estimate of a gateway that died says nothing; what takes its place does.
	known := r.serve(started.ID, true, 1, 0)[0]
	known.ID = id.New[id.RequestKind](testIDs)
	known.PrimaryID, known.StartedAt = known.ID, known.ID.Time()
	unknown := known
	unknown.Outcome, unknown.Rollout = wire.Unknown, nil
	r.write([]usage.Entry{unknown})
	require.Equal(t, int64(8), r.current().Arms.Candidate.Requests)
	require.Equal(t, 1, r.write([]usage.Entry{known}).Upgraded)
	require.Equal(t, int64(9), r.current().Arms.Candidate.Requests)
	r.write([]usage.Entry{known})
	require.Equal(t, int64(9), r.current().Arms.Candidate.Requests)
}

// Events that come in at once are all counted, and block each other for ever
// nowhere.
func TestCountsComeInAtOnce(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	batches := make([][]usage.Entry, 8)
	for i := range batches {
		batches[i] = r.serve(started.ID, i%2 == 0, 20, i)
		for j := range batches[i] {
			e := &batches[i][j]
			e.ID = id.New[id.RequestKind](testIDs)
			e.PrimaryID, e.StartedAt, e.Rollout.Took = e.ID, e.ID.Time(), time.Duration(j+1)*100*time.Millisecond
		}
	}
	var group errgroup.Group
	for _, entries := range batches {
		group.Go(func() error {
			_, err := r.records.WriteUsage(t.Context(), usage.Batch{Entries: entries})
			return err
		})
	}
	require.NoError(t, group.Wait())
	a := r.current().Arms
	require.Equal(t, []int64{160, 24, 160, 32}, []int64{a.Candidate.Requests, a.Candidate.Failures, a.Stable.Requests, a.Stable.Failures})
}

// The judge's questions are answered from indexes over what is open, with
// thousands of rollouts that have ended, and never from the request log.
func TestJudgingReadsOnlyWhatIsOpen(t *testing.T) {
	r := openRolled(t)
	started := r.start()
	r.serve(started.ID, true, 5, 0)
	owner := r.db.DirectSQL()
	defer func() { require.NoError(t, owner.Close()) }()
	for _, text := range []string{
		`INSERT INTO dynamic_route_rollouts SELECT gen_random_uuid(), workspace_id, route_id, candidate, stable, steps, guard, 'aborted', step, step_began_at,
			evidence, created_by, created_at, updated_at, updated_at, version FROM dynamic_route_rollouts, generate_series(1, 3000)`,
		`INSERT INTO dynamic_route_rollout_counts SELECT r.workspace_id, r.id, 0, true, b, 1, 1 FROM dynamic_route_rollouts r, generate_series(0, 9) b
			WHERE r.ended_at IS NOT NULL`,
		"ANALYZE dynamic_route_rollouts", "ANALYZE dynamic_route_rollout_counts",
	} {
		_, err := owner.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	plan := func(q string) (text string) {
		rows, err := owner.QueryContext(t.Context(), "EXPLAIN (COSTS OFF) "+q)
		require.NoError(t, err)
		defer func() { require.NoError(t, rows.Close()) }()
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			text += line + "\n"
		}
		require.NoError(t, rows.Err())
		return text
	}
	var questions []string
	require.NoError(t, r.db.System().Read(t.Context(), func(ctx context.Context) error {
		questions = []string{explained(openRollouts(ctx)), explained(countsOfOpen(ctx))}
		return nil
	}))
	require.Contains(t, plan(questions[0]), "dynamic_route_rollouts_open_key")
	counts := plan(questions[1])
	require.Contains(t, counts, "dynamic_route_rollouts_open_key")
	require.Contains(t, counts, "dynamic_route_rollout_counts_pkey")
	for _, q := range questions {
		require.NotContains(t, plan(q), "Seq Scan on dynamic_route", fmt.Sprint(q))
	}
	cases, err := NewDocket(r.db).Open(t.Context())
	require.NoError(t, err)
	require.Len(t, cases, 1)
	require.Len(t, cases[0].Cells, 1)
}

// An id is of the clock of the control plane that made it. A rollout that began
// on one whose clock is behind is guarded and steered like any other.
func TestARolloutWithAnOlderID(t *testing.T) {
	r := openRolled(t)
	former := r.start()
	_, err := r.rollouts.Abort(t.Context(), r.ws, r.route.ID, operator, nil)
	require.NoError(t, err)
	behind := id.NewSource(func() time.Time { return former.ID.Time().Add(-time.Minute) }, rand.Reader)
	on := rollout.NewService(rollout.Deps{
		Runner: r.db.Runner(), Store: NewRolloutStore(), Routes: r.routes, Mutator: r.mutator, IDs: behind, Now: r.clock.now,
	})
	out, err := on.Start(t.Context(), r.ws, r.route.ID, 2, operator, twoSteps())
	require.NoError(t, err)
	require.Equal(t, out.Detail.ID, r.current().ID)
	_, err = on.Start(t.Context(), r.ws, r.route.ID, 2, operator, twoSteps())
	require.ErrorContains(t, err, out.Detail.ID.String())
	r.serve(out.Detail.ID, true, 10, 10)
	r.round()
	require.Nil(t, r.published().Candidate, "the guard broke")
}
