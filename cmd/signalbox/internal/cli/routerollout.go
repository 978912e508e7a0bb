package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/flow"
)

func (a *app) routesRollout() *cobra.Command {
	return group("rollout", "Roll a version of a dynamic route out in steps, and have it taken back by itself",
		a.rolloutStart(), a.rolloutStatus(), a.rolloutList(), a.rolloutPause(), a.rolloutResume(), a.rolloutAdvance(), a.rolloutAbort())
}

// rolloutFlags are what a rollout is begun with, by flags or a file.
type rolloutFlags struct {
	steps, file           string
	errors, latency, cost float64
	least                 int64
}

func (r *rolloutFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&r.steps, "steps", "", "shares with how long each is held, such as 10%:10m,50%:1h,100%:10m")
	c.Flags().Float64Var(&r.errors, "max-error-rate", 0, "the share of failures, 0 to 1, above which the version is taken back")
	c.Flags().Float64Var(&r.latency, "max-p95-latency-ratio", 0, "how many times as long as the deployed version it may take")
	c.Flags().Float64Var(&r.cost, "max-cost-ratio", 0, "how many times as much as the deployed version it may cost")
	c.Flags().Int64Var(&r.least, "min-requests", 100, "how many requests of a version are the least that anything is made of")
	c.Flags().StringVarP(&r.file, "file", "f", "", "steps and guard in YAML or JSON, instead of these flags; - reads from standard input")
}

// body is what the flags or the file say.
func (r *rolloutFlags) body(a *app, c *cobra.Command) (client.NewDynamicRouteRollout, error) {
	var body client.NewDynamicRouteRollout
	if (r.file == "") == (r.steps == "") {
		return body, misuse("give --steps and the limits, or a file")
	}
	given := c.Flags().Changed
	if r.file != "" {
		if given("max-error-rate") || given("max-p95-latency-ratio") || given("max-cost-ratio") || given("min-requests") {
			return body, misuse("give the limits with flags or in the file, not both")
		}
		return body, readDocument(a, r.file, "rollout", &body)
	}
	for step := range strings.SplitSeq(r.steps, ",") {
		percent, hold, ok := strings.Cut(strings.TrimSpace(step), ":")
		share, err := flow.ParsePercent(strings.TrimSuffix(percent, "%"))
		if !ok || err != nil {
			return body, misuse("--steps must be shares with how long each is held, such as 10%%:10m,50%%:1h,100%%:10m")
		}
		body.Steps = append(body.Steps, client.DynamicRouteRolloutStep{Percent: json.Number(share.String()), Hold: hold})
	}
	body.Guard.MinRequests = r.least
	limit := func(name string, value *float64) *float64 {
		if given(name) {
			return value
		}
		return nil
	}
	body.Guard.MaxErrorRate = limit("max-error-rate", &r.errors)
	body.Guard.MaxP95LatencyRatio = limit("max-p95-latency-ratio", &r.latency)
	body.Guard.MaxCostRatio = limit("max-cost-ratio", &r.cost)
	if g := body.Guard; g.MaxErrorRate == nil && g.MaxP95LatencyRatio == nil && g.MaxCostRatio == nil {
		return body, misuse("give at least one limit: --max-error-rate, --max-p95-latency-ratio or --max-cost-ratio")
	}
	return body, nil
}

func (a *app) rolloutStart() *cobra.Command {
	var flags rolloutFlags
	c := &cobra.Command{
		Use: "start ROUTE [VERSION]", Short: "Roll a version, the latest by default, out beside the one that is deployed", Args: cobra.RangeArgs(1, 2),
		Example: "  signalbox routes rollout start plans 4 --steps 10%:10m,50%:1h,100%:10m --max-error-rate 0.02 --max-p95-latency-ratio 1.5\n" +
			"  signalbox routes rollout start plans -f rollout.yaml --follow",
	}
	flags.add(c)
	follow := followFlag(c)
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		body, err := flags.body(a, c)
		if err != nil {
			return err
		}
		api, route, number, err := a.foundVersion(c.Context(), args)
		if err != nil {
			return err
		}
		r, err := api.StartDynamicRouteRolloutWithResponse(c.Context(), route, number,
			&client.StartDynamicRouteRolloutParams{Wait: f.waitFor(), IdempotencyKey: f.key()}, body)
		if err := done(r, err); err != nil {
			return err
		}
		if *follow {
			return a.followRollout(c.Context(), api, route, args[0])
		}
		return a.show(r, func(t *table) {
			started := either(r.JSON201, r.JSON202)
			rolloutTable(t, started.Data)
			warningRows(t, started.Warnings)
		})
	}
	return c
}

func followFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("follow", false, "show each change until the rollout ends; it is a failure unless the version was deployed")
}

func (a *app) rolloutStatus() *cobra.Command {
	c := &cobra.Command{
		Use: "status ROUTE", Short: "Show the newest rollout of a dynamic route, with the numbers that it is judged by", Args: cobra.ExactArgs(1),
	}
	follow := followFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		if *follow {
			return a.followRollout(c.Context(), api, route, args[0])
		}
		r, err := api.GetDynamicRouteRolloutWithResponse(c.Context(), route)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { rolloutTable(t, r.JSON200.Data) })
	}
	return c
}

// followRollout shows a rollout whenever it has gone on or waits for something
// else, until it ends. What is counted is shown with that. The route is told as
// typed.
func (a *app) followRollout(ctx context.Context, api *client.ClientWithResponses, route, typed string) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	shown := ""
	for {
		r, err := api.GetDynamicRouteRolloutWithResponse(ctx, route)
		if err := done(r, err); err != nil {
			return err
		}
		d := r.JSON200.Data
		if now := fmt.Sprint(d.State, d.Step, waiting(d)); now != shown {
			shown = now
			if err := a.show(r, func(t *table) { t.row(followCells(d)...) }); err != nil {
				return err
			}
		}
		switch d.State {
		case client.DynamicRouteRolloutStateCompleted:
			return nil
		case client.DynamicRouteRolloutStateRolledBack, client.DynamicRouteRolloutStateAborted:
			return rolloutFailed(d, typed)
		case client.DynamicRouteRolloutStateRunning, client.DynamicRouteRolloutStatePaused:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// rolloutFailed says why a version was not deployed.
func rolloutFailed(d client.DynamicRouteRollout, typed string) error {
	why := ""
	if broken := brokenLimit(d.Evidence); broken != "" {
		why = ", " + broken
	}
	return fmt.Errorf("the rollout is %s%s; see it with: signalbox routes rollout status %s",
		strings.ReplaceAll(string(d.State), "_", " "), why, clean(typed))
}

// waiting is what a rollout waits for, "" for nothing.
func waiting(d client.DynamicRouteRollout) string {
	if d.WaitingFor == nil {
		return ""
	}
	return strings.ReplaceAll(string(*d.WaitingFor), "_", " ")
}

// followCells are a rollout on one line.
func followCells(d client.DynamicRouteRollout) []any {
	arm := func(a client.DynamicRouteArm) string { return fmt.Sprintf("%d of %d failed", a.Failures, a.Requests) }
	cells := []any{time.Now(), strings.ReplaceAll(string(d.State), "_", " "), d.Percent.String() + "%", "candidate " + arm(d.Arms.Candidate), "stable " + arm(d.Arms.Stable)}
	if what := waiting(d); what != "" {
		cells = append(cells, "waits for "+what)
	}
	return cells
}

func (a *app) rolloutList() *cobra.Command {
	c := &cobra.Command{Use: "list ROUTE", Short: "List the rollouts of a dynamic route, newest first", Args: cobra.ExactArgs(1)}
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		body, found, err := pages[client.DynamicRouteRolloutSummary](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListDynamicRouteRolloutsWithResponse(c.Context(), route, &client.ListDynamicRouteRolloutsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "VERSION", "STATE", "STEP", "SHARE", "BROKEN", "STARTED")
			for _, r := range found {
				t.row(r.ID, r.CandidateVersion, r.State, fmt.Sprintf("%d of %d", r.Step, len(r.Steps)), r.Percent.String()+"%", brokenLimit(r.Evidence), r.CreatedAt)
			}
		})
	}
	return c
}
