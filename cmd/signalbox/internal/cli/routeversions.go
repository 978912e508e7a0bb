package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) routesVersions() *cobra.Command {
	c := &cobra.Command{
		Use: "versions ROUTE [VERSION]", Short: "List the versions of a dynamic route, or show one; -o yaml shows its graph", Args: cobra.RangeArgs(1, 2),
	}
	limit, file := limitFlag(c), saveFlag(c, "the graph of VERSION alone")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *file != "" && len(args) < 2 {
			return misuse("name the version to write, or latest")
		}
		api, route, err := a.found(c.Context(), routeID, args[0])
		if err != nil {
			return err
		}
		if len(args) == 2 {
			return a.routeVersion(c.Context(), api, route, args[1], *file)
		}
		open, err := a.openRollout(c.Context(), api, route)
		if err != nil {
			return err
		}
		body, versions, err := pages[client.DynamicRouteVersionSummary](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListDynamicRouteVersionsWithResponse(c.Context(), route, &client.ListDynamicRouteVersionsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("VERSION", "STATUS", "NOTE", "CREATED BY", "CREATED")
			for _, v := range versions {
				t.row(v.Version, versionStatus(v, open), v.Note, v.CreatedBy, v.CreatedAt)
			}
		})
	}
	return c
}

// routeVersion shows one version, or writes its graph where there is a file.
func (a *app) routeVersion(ctx context.Context, api *client.ClientWithResponses, route, which, file string) error {
	number, err := wantedVersion(ctx, api, route, []string{which})
	if err != nil {
		return err
	}
	r, err := api.GetDynamicRouteVersionWithResponse(ctx, route, number)
	if err := done(r, err); err != nil {
		return err
	}
	if file != "" {
		return a.save(file, r.JSON200.Data.Config)
	}
	return a.show(r, func(t *table) {
		v := r.JSON200.Data
		t.row("VERSION", v.Version)
		t.row("STATUS", v.Status)
		t.row("NOTE", v.Note)
		t.row("PARENT", versionCell(v.Parent))
		t.row("DIGEST", v.Digest)
		t.row("CREATED BY", v.CreatedBy)
		t.row("CREATED", v.CreatedAt)
	})
}

func (a *app) routesDiff() *cobra.Command {
	return &cobra.Command{
		Use: "diff ROUTE VERSION OTHER", Short: "Show what one version changes of another; either may be latest", Args: cobra.ExactArgs(3),
		Example: "  signalbox routes diff plans 3 4",
		RunE: func(c *cobra.Command, args []string) error {
			api, route, from, err := a.foundVersion(c.Context(), args[:2])
			if err != nil {
				return err
			}
			to, err := wantedVersion(c.Context(), api, route, args[2:])
			if err != nil {
				return err
			}
			r, err := api.DiffDynamicRouteVersionsWithResponse(c.Context(), route, from, to)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { diffTable(t, r.JSON200.Data) })
		},
	}
}

func diffTable(t *table, d client.DynamicRouteDiff) {
	t.row("NODE", "FIELD", "BEFORE", "AFTER")
	fields := func(node string, list []client.DynamicRouteFieldChange) {
		for _, f := range list {
			t.row(node, f.Path, string(f.Before), string(f.After))
		}
	}
	fields("", d.Graph)
	for _, node := range d.Removed {
		t.row(node, "removed")
	}
	for _, node := range d.Added {
		t.row(node, "added")
	}
	for _, change := range d.Changed {
		fields(change.Node, change.Fields)
	}
}

func (a *app) routesTest() *cobra.Command {
	c := &cobra.Command{
		Use: "test ROUTE VERSION", Short: "Show what a version does with a sample request", Args: cobra.ExactArgs(2),
		Long: `Show what a version, which may be latest, does with a sample request. The file has any of body, headers, metadata, workspace_tags, key_scopes,
endpoint, model, session_id, user_id, subject and usage (daily, weekly, monthly: requests, cost_usd).`,
		Example: "  signalbox routes test plans 4 -f sample.yaml",
	}
	file := fileFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		facts, err := a.document(*file)
		if err != nil {
			return err
		}
		api, route, number, err := a.foundVersion(c.Context(), args)
		if err != nil {
			return err
		}
		body, err := json.Marshal(map[string]json.RawMessage{"facts": facts})
		if err != nil {
			return err
		}
		r, err := api.TestDynamicRouteVersionWithBodyWithResponse(c.Context(), route, number, "application/json", bytes.NewReader(body))
		if err := done(r, err); err != nil {
			return within("facts.", err)
		}
		return a.show(r, func(t *table) { trialTable(t, r.JSON200.Data) })
	}
	return c
}

func trialTable(t *table, trial client.DynamicRouteTrial) {
	t.row("PATH", strings.Join(trial.Visited, " → "))
	if r := trial.Action.Reject; r != nil {
		t.row("REJECTED", strconv.Itoa(r.Status)+" "+r.Code+": "+r.Message)
		return
	}
	if trial.Action.Model == nil {
		t.row("MODEL", "as it is asked for")
	} else {
		t.row("MODEL", *trial.Action.Model)
	}
	raw, err := json.Marshal(trial.Action)
	var rest map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &rest) != nil {
		return
	}
	for _, name := range []string{"fallback_models", "routing_mode", "provider", "affinity"} {
		if value, there := rest[name]; there {
			t.row(name, string(value))
		}
	}
}

func (a *app) routesDeploy() *cobra.Command {
	c := &cobra.Command{
		Use: "deploy ROUTE [VERSION]", Short: "Make a version, the latest by default, the one that gateways evaluate", Args: cobra.RangeArgs(1, 2),
		Example: "  signalbox routes deploy plans 4 --wait 5s",
	}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, route, number, err := a.foundVersion(c.Context(), args)
		if err != nil {
			return err
		}
		r, err := api.DeployDynamicRouteVersionWithResponse(c.Context(), route, number,
			&client.DeployDynamicRouteVersionParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { deployedRoute(t, either(r.JSON200, r.JSON202)) })
	}
	return c
}

// foundVersion is a dynamic route, and the version of it that the arguments name
// after it, or the latest.
func (a *app) foundVersion(ctx context.Context, args []string) (*client.ClientWithResponses, string, int, error) {
	api, route, err := a.found(ctx, routeID, args[0])
	if err != nil {
		return nil, "", 0, err
	}
	number, err := wantedVersion(ctx, api, route, args[1:])
	return api, route, number, err
}

// wantedVersion is the one that an argument gives, or the latest.
func wantedVersion(ctx context.Context, api *client.ClientWithResponses, route string, args []string) (int, error) {
	if len(args) > 0 && args[0] != "latest" {
		return versionNumber(args[0])
	}
	r, err := api.GetDynamicRouteWithResponse(ctx, route)
	if err := done(r, err); err != nil {
		return 0, err
	}
	latest, err := r.JSON200.Data.LatestVersion.Get()
	if err != nil {
		return 0, misuse("the dynamic route has no version: save a graph with update -f")
	}
	return latest, nil
}

func (a *app) routesRollback() *cobra.Command {
	return changeOne(a, "rollback ROUTE", "Deploy the version that the present deployment replaced", routeID, deployedRoute,
		func(ctx context.Context, api *client.ClientWithResponses, route string, f *change) (answer, func() client.DynamicRouteDeployment, error) {
			r, err := api.RollbackDynamicRouteWithResponse(ctx, route, &client.RollbackDynamicRouteParams{Wait: f.waitFor(), IdempotencyKey: f.key()})
			return r, func() client.DynamicRouteDeployment { return either(r.JSON200, r.JSON202) }, err
		})
}

func routeTable(t *table, r client.DynamicRoute) {
	t.row("ID", r.ID)
	t.row("NAME", r.Name)
	t.row("SLUG", r.Slug)
	if r.Description != "" {
		t.row("DESCRIPTION", r.Description)
	}
	t.row("STATUS", r.Status)
	t.row("LATEST VERSION", versionCell(r.LatestVersion))
	t.row("DEPLOYED VERSION", versionCell(r.DeployedVersion))
	if _, err := r.Rollout.Get(); err == nil {
		t.row("ROLLOUT", underway(r.Rollout))
	}
	for _, key := range r.KeyIds {
		t.row("KEY", key)
	}
	t.row("CREATED", r.CreatedAt)
	t.row("UPDATED", r.UpdatedAt)
}

func changedRoute(t *table, c client.DynamicRouteChange) {
	routeTable(t, c.Data)
	warningRows(t, c.Warnings)
}

func deployedRoute(t *table, d client.DynamicRouteDeployment) {
	routeTable(t, d.Data)
	warningRows(t, d.Warnings)
}

func warningRows(t *table, warnings client.DynamicRouteWarnings) {
	for _, w := range warnings {
		t.row("WARNING", w.Path+": "+w.Message)
	}
}
