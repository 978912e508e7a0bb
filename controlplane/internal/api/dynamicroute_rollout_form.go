package api

import (
	"encoding/json"
	"math"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/gen"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rollout/tally"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

// planFrom reads a plan. A percent or a hold that is none becomes one that no
// plan may have, so that it is refused with everything else that is wrong.
func planFrom(b gen.NewDynamicRouteRollout) rollout.Plan {
	p := rollout.Plan{Guard: rollout.Guard{
		MaxErrorRate: b.Guard.MaxErrorRate, MaxLatencyRatio: b.Guard.MaxP95LatencyRatio, MaxCostRatio: b.Guard.MaxCostRatio,
		MinRequests: b.Guard.MinRequests,
	}}
	for _, s := range b.Steps {
		percent, err := flow.ParsePercent(s.Percent.String())
		if err != nil {
			percent = 0
		}
		p.Steps = append(p.Steps, rollout.Step{Percent: percent, Hold: rollout.ParseHold(s.Hold)})
	}
	return p
}

func rolloutOf(d rollout.Detail) gen.DynamicRouteRollout {
	s := rolloutSummaryOf(d.Rollout)
	return gen.DynamicRouteRollout{
		ID: s.ID, CandidateVersion: s.CandidateVersion, StableVersion: s.StableVersion, Steps: s.Steps, Guard: s.Guard, State: s.State,
		Step: s.Step, Percent: s.Percent, StepStartedAt: s.StepStartedAt, Evidence: s.Evidence, CreatedBy: s.CreatedBy,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, EndedAt: s.EndedAt,
		Arms: armsOf(d.Arms), WaitingFor: some(gen.DynamicRouteRolloutWaitingFor(d.Waiting)),
	}
}

func rolloutSummaryOf(r rollout.Rollout) gen.DynamicRouteRolloutSummary {
	out := gen.DynamicRouteRolloutSummary{
		ID: r.ID.String(), CandidateVersion: r.Candidate, StableVersion: r.Stable,
		Steps: each(r.Steps, func(s rollout.Step) gen.DynamicRouteRolloutStep {
			return gen.DynamicRouteRolloutStep{Percent: json.Number(s.Percent.String()), Hold: rollout.FormatHold(s.Hold)}
		}),
		Guard: gen.DynamicRouteGuard{
			MaxErrorRate: r.Guard.MaxErrorRate, MaxP95LatencyRatio: r.Guard.MaxLatencyRatio, MaxCostRatio: r.Guard.MaxCostRatio,
			MinRequests: r.Guard.MinRequests,
		},
		State: gen.DynamicRouteRolloutState(r.State), Step: r.Step + 1, Percent: json.Number(r.Share().String()),
		StepStartedAt: r.StepBegan.UTC(), CreatedBy: some(r.CreatedBy.String()), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		EndedAt: orNull(value(r.EndedAt).UTC()),
	}
	if e := r.Evidence; e != nil {
		out.Evidence = &gen.DynamicRouteEvidence{Arms: armsOf(e.Arms)}
		if e.Broken != "" {
			out.Evidence.Broken, out.Evidence.Allowed = pointer(gen.DynamicRouteEvidenceBroken(e.Broken)), &e.Allowed
			if e.Measured < math.MaxFloat64 {
				out.Evidence.Measured = &e.Measured
			}
		}
	}
	return out
}

func armsOf(a rollout.Arms) gen.DynamicRouteArms {
	arm := func(a tally.Arm) gen.DynamicRouteArm {
		return gen.DynamicRouteArm{
			Requests: a.Requests, Failures: a.Failures, ErrorRate: a.ErrorRate(), P95Ms: float64(a.P95.Microseconds()) / 1000,
			MeanCostUsd: a.MeanCost().String(),
		}
	}
	return gen.DynamicRouteArms{Candidate: arm(a.Candidate), Stable: arm(a.Stable)}
}
