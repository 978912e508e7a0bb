package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) rolloutPause() *cobra.Command {
	return changeOne(a, "pause ROUTE", "Keep a rollout at its step; the guard holds on", routeID, steeredRollout,
		func(ctx context.Context, api *client.ClientWithResponses, route string, f *change) (answer, func() client.DynamicRouteRolloutSteered, error) {
			r, err := api.PauseDynamicRouteRolloutWithResponse(ctx, route, &client.PauseDynamicRouteRolloutParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.DynamicRouteRolloutSteered { return either(r.JSON200, r.JSON202) }, err
		})
}

func (a *app) rolloutResume() *cobra.Command {
	return changeOne(a, "resume ROUTE", "Have a paused rollout go on; its step is held anew", routeID, steeredRollout,
		func(ctx context.Context, api *client.ClientWithResponses, route string, f *change) (answer, func() client.DynamicRouteRolloutSteered, error) {
			r, err := api.ResumeDynamicRouteRolloutWithResponse(ctx, route, &client.ResumeDynamicRouteRolloutParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.DynamicRouteRolloutSteered { return either(r.JSON200, r.JSON202) }, err
		})
}

func (a *app) rolloutAdvance() *cobra.Command {
	return changeOne(a, "advance ROUTE", "Go on to the next step at once, or deploy the version at the last one", routeID, steeredRollout,
		func(ctx context.Context, api *client.ClientWithResponses, route string, f *change) (answer, func() client.DynamicRouteRolloutSteered, error) {
			r, err := api.AdvanceDynamicRouteRolloutWithResponse(ctx, route, &client.AdvanceDynamicRouteRolloutParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.DynamicRouteRolloutSteered { return either(r.JSON200, r.JSON202) }, err
		})
}

func (a *app) rolloutAbort() *cobra.Command {
	return changeOne(a, "abort ROUTE", "End a rollout, and take its version back", routeID, steeredRollout,
		func(ctx context.Context, api *client.ClientWithResponses, route string, f *change) (answer, func() client.DynamicRouteRolloutSteered, error) {
			r, err := api.AbortDynamicRouteRolloutWithResponse(ctx, route, &client.AbortDynamicRouteRolloutParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.DynamicRouteRolloutSteered { return either(r.JSON200, r.JSON202) }, err
		})
}

func steeredRollout(t *table, s client.DynamicRouteRolloutSteered) { rolloutTable(t, s.Data) }

func rolloutTable(t *table, r client.DynamicRouteRollout) {
	t.row("ID", r.ID)
	t.row("VERSION", fmt.Sprintf("%d beside %d", r.CandidateVersion, r.StableVersion))
	t.row("STATE", r.State)
	var steps []string
	for i, s := range r.Steps {
		text := s.Percent.String() + "%:" + s.Hold
		if i+1 == r.Step {
			text = "[" + text + "]"
		}
		steps = append(steps, text)
	}
	t.row("STEPS", strings.Join(steps, ", "))
	t.row("STEP STARTED", r.StepStartedAt)
	if what := waiting(r); what != "" {
		t.row("WAITS FOR", what)
	}
	limit := func(name string, allowed *float64) {
		if allowed != nil {
			t.row(name, *allowed)
		}
	}
	limit("MAX ERROR RATE", r.Guard.MaxErrorRate)
	limit("MAX P95 LATENCY RATIO", r.Guard.MaxP95LatencyRatio)
	limit("MAX COST RATIO", r.Guard.MaxCostRatio)
	t.row("MIN REQUESTS", r.Guard.MinRequests)
	armRow(t, "CANDIDATE", r.Arms.Candidate)
	armRow(t, "STABLE", r.Arms.Stable)
	if broken := brokenLimit(r.Evidence); broken != "" {
		t.row("BROKEN", broken)
	}
	if ended, err := r.EndedAt.Get(); err == nil {
		t.row("ENDED", ended)
	}
}

// armRow shows what a version did. Without a success it took no time and had no
// cost.
func armRow(t *table, name string, a client.DynamicRouteArm) {
	p95, cost := "–", "–"
	if a.Requests > a.Failures {
		p95, cost = fmt.Sprintf("%.0f ms", a.P95Ms), a.MeanCostUsd+" USD"
	}
	t.row(name, fmt.Sprintf("%d requests, %d failed (%.2f %%), p95 %s, %s each", a.Requests, a.Failures, 100*a.ErrorRate, p95, cost))
}

// brokenLimit says which limit a version exceeded, "" for none.
func brokenLimit(e *client.DynamicRouteEvidence) string {
	if e == nil || e.Broken == nil || e.Allowed == nil {
		return ""
	}
	if e.Measured == nil {
		return fmt.Sprintf("%s: over %g", *e.Broken, *e.Allowed)
	}
	return fmt.Sprintf("%s: %.4g is over %g", *e.Broken, *e.Measured, *e.Allowed)
}
